// Limits of a whole node (GMB and GSMBA of AMD's processors): they bound the limits of bandwidth of
// the domains in it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bandwidth.hpp"
#include "control_value.hpp"
#include "planner.hpp"
#include "value_of.hpp"

namespace rdtd {

// AMD's limit of a node is one for all its domains together, and bounds the limit of each: the
// kernel reads that as no more than the node's.
void Planner::bound_by_nodes() {
  if (has_errors(diagnostics_)) return;
  for (const Group& group : policy_.groups)
    for (const auto& [name, table] : group.controls)
      for (const auto& [bounded, info] : capabilities_.bandwidths)
        if (const auto* node = find_control(name); node != nullptr && limits_node(*node, bounded))
          bound(group, *node, bounded);
}

bool Planner::limits_node(const std::pair<const Resource, Control>& row,
                          const Resource& bounded) const {
  const auto& [name, control] = row;
  const bool of_node = control.scope == "NODE" || name.name() == "GMB" || name.name() == "GSMBA";
  return of_node && control.resource == bounded.name() && rate_of_unit(control) != 0 &&
         capabilities_.bandwidths.at(bounded).unit == BandwidthUnit::eighth_gbps &&
         std::ranges::find(floors_of_bandwidth, name.name()) == floors_of_bandwidth.end();
}

void Planner::bound(const Group& group, const std::pair<const Resource, Control>& row,
                    const Resource& bounded) {
  const auto& [by, node] = row;
  GroupTarget& of = target(&group);
  uint64_t least = UINT64_MAX, most = 0;
  for (const DomainId domain : node.domains) {
    auto value = value_in(of.state.schemata, by, domain);
    if (!value) value = value_now(snapshot_, of.directory, by, domain);
    if (!value) value = node.maximum;
    uint64_t limit = UINT64_MAX;
    if (value)
      limit = uint64_t{*value} * node.scale * rate_of_unit(node) / node.resolution /
              unit_bytes(BandwidthUnit::eighth_gbps);
    least = std::min(least, limit);
    most = std::max(most, limit);
  }
  // resctrl does not say which domains are of which node: between the limits of two nodes, what the
  // policy asks for becomes the lower one, and what it leaves open is left to the kernel.
  const BandwidthInfo& info = capabilities_.bandwidths.at(bounded);
  const auto is_open = [&](DomainId domain, uint32_t value) {
    return least != most && value >= info.unlimited.at(domain);
  };
  DomainValues& values = of.state.schemata[bounded];
  std::erase_if(values, [&](const auto& entry) {
    const auto now = value_now(snapshot_, of.directory, bounded, entry.first);
    return is_open(entry.first, entry.second) && (!now || *now >= least);
  });
  bool lowered = false;
  std::set<const DomainAmount*> seen;
  for (auto& [domain, value] : values) {
    if (value <= least) continue;
    lowered |= value < info.unlimited.at(domain);
    value = static_cast<uint32_t>(least);
    if (const DomainAmount* line = line_for(group.amounts, bounded, domain);
        line != nullptr && seen.insert(line).second)
      refuse_range_above(*line, info, static_cast<uint32_t>(std::min<uint64_t>(most, UINT32_MAX)));
  }
  if (lowered)
    warning(group.amounts.at(bounded).front().amount.where,
            fmt::format("{} of '{}' is {} GB/s at most, the {}", bounded.name(), group.name.value,
                        static_cast<double>(least) / 8,
                        least == most ? "limit of its node"
                                      : "least limit of its nodes: resctrl does not say which "
                                        "domains are of which node"));
}

// The guard would lower it to something that the node does not give.
void Planner::refuse_range_above(const DomainAmount& line, const BandwidthInfo& info,
                                 uint32_t limit) {
  const Located<Amount>& amount = form_for(line, info);
  if (!amount.value.least) return;
  const auto lower =
      bandwidth_value({*amount.value.least, amount.value.text, {}}, info, UINT32_MAX);
  if (lower && *lower > limit)
    error(amount.where, fmt::format("'{}' begins above the limit of its node, {} GB/s",
                                    amount.value.text, static_cast<double>(limit) / 8));
}

}  // namespace rdtd
