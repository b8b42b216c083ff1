// Warnings about groups that other tools made, where they and the policy meet.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "placement_refusals.hpp"
#include "planner.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/footprint.hpp"

namespace rdtd {

// Groups of other tools keep their masks, also if these reach into ways that the policy gives to
// one group or partition alone.
void Planner::warn_of_foreign_groups(const Cache& cache) {
  DomainRefusals found;
  const auto look = [&](const Location& where, Cbm mask, DomainId domain,
                        const std::string& owner) {
    for (const auto& [name, state] : snapshot_.groups) {
      const Cbm theirs =
          is_foreign(name) ? footprint(state.schemata, cache.resource, domain) & mask : Cbm{};
      if (!theirs.empty())
        found[{where,
               fmt::format("group '{}', which rdtd did not make, can fill {} of ", name,
                           these_ways(theirs)),
               ", exclusive to " + owner}]
            .insert(domain);
    }
  };
  for (const auto& [domain, bytes] : cache.info.way_bytes) {
    const auto mask_of = [&](const Group& group) {
      return footprint(target(&group).state.schemata, cache.resource, domain);
    };
    const auto divided = [&](const AmountTables& amounts) {
      return std::ranges::any_of(
          cache.parts, [&](Resource part) { return cache_line(amounts, part, domain) != nullptr; });
    };
    for (const Group& group : policy_.groups)
      if (group.exclusive && divided(group.amounts))
        look(group.name.where, mask_of(group), domain, fmt::format("'{}'", group.name.value));
    for (size_t i = 0; i < policy_.partitions.size(); ++i) {
      const Partition& partition = policy_.partitions[i];
      if (!divided(partition.amounts)) continue;
      Cbm mask = footprint(partition_targets_[i].state.schemata, cache.resource, domain);
      if (const auto members = members_.find(partition.name.value); members != members_.end())
        for (const Group* group : members->second) mask = mask | mask_of(*group);
      look(partition.name.where, mask, domain, fmt::format("partition '{}'", partition.name.value));
    }
  }
  report(cache.resource, found, Severity::warning);
}

namespace {

// Of something that a policy sets.
Location first_place(const Policy& policy) {
  if (!policy.groups.empty()) return policy.groups.front().name.where;
  if (!policy.partitions.empty()) return policy.partitions.front().name.where;
  return policy.locks.empty() ? policy.io->name.where : policy.locks.front().name.where;
}

// As a policy says them: `l3 = "0xf"`, or, if they differ or are not those of all domains,
// `l3 = { "0" = "0xf", "1" = "0x3" }`.
std::string amounts_of(const Schemata& schemata, const Cache& cache,
                       const std::set<DomainId>& domains) {
  const bool everywhere = domains.size() == cache.info.way_bytes.size();
  std::vector<std::string> out;
  for (const Resource part : cache.parts) {
    std::map<uint32_t, std::set<DomainId>> by_mask;
    if (const auto masks = schemata.find(part); masks != schemata.end())
      for (const auto& [domain, mask] : masks->second)
        if (domains.contains(domain)) by_mask[mask].insert(domain);
    std::map<DomainId, std::string> lines;  // by the first domain
    for (const auto& [mask, ids] : by_mask)
      lines.emplace(*ids.begin(),
                    fmt::format("\"{}\" = \"0x{}\"", domain_list(ids), to_string(Cbm{mask})));
    if (by_mask.size() == 1 && everywhere)
      out.push_back(
          fmt::format("{} = \"0x{}\"", resource_key(part), to_string(Cbm{by_mask.begin()->first})));
    else if (!lines.empty())
      out.push_back(fmt::format("{} = {{ {} }}", resource_key(part),
                                fmt::join(std::views::values(lines), ", ")));
  }
  return join(out, " and ");
}

}  // namespace

// Tools such as libvirt give their groups only ways that the default group does not have. Without
// an amount, the first load gives it all that is left, and so ends what these tools arranged.
void Planner::warn_of_wider_default(const Cache& cache) {
  const std::string root(root_group);
  const auto now = snapshot_.groups.find(root);
  if (now == snapshot_.groups.end() || snapshot_.owned.contains(root)) return;
  if (default_group_ != nullptr && default_group_->partition) return;
  const auto leaves_open = [&](DomainId domain) {
    return default_group_ == nullptr || std::ranges::any_of(cache.parts, [&](Resource part) {
             return cache_line(default_group_->amounts, part, domain) == nullptr;
           });
  };
  const Schemata& granted = target(default_group_).state.schemata;
  DomainRefusals found;
  std::set<DomainId> open;
  for (const auto& [domain, bytes] : cache.info.way_bytes) {
    const auto ways = [&, id = domain](const Schemata& of) {
      return footprint(of, cache.resource, id);
    };
    const Cbm had = ways(now->second.schemata);
    if (had.empty() || !leaves_open(domain)) continue;
    open.insert(domain);
    const Cbm more = ways(granted).without(had);
    for (const auto& [name, state] : foreign_groups())
      if (const Cbm theirs = ways(state->schemata), both = theirs & more;
          !both.empty() && !theirs.contains(cache.info.cbm_mask))
        found[{first_place(policy_), fmt::format("the default group gets {} of ", these_ways(both)),
               fmt::format(", so far kept from it for group '{}', which rdtd did not make", name)}]
            .insert(domain);
  }
  report(cache.resource, found, Severity::warning,
         amounts_of(now->second.schemata, cache, open) + " in [group.default] leaves it as it is");
}

// One warning for each, at the first thing of the policy that claims ways for itself.
void Planner::warn_of_unreadable_groups() {
  const auto exclusive = std::ranges::find_if(policy_.groups, &Group::exclusive);
  const bool claims = exclusive != policy_.groups.end();
  if (caches_.empty() || (!claims && policy_.partitions.empty())) return;
  const auto& claimed = claims ? exclusive->name : policy_.partitions.front().name;
  const bool guards = claims || std::ranges::any_of(targets_, [this](const GroupTarget& group) {
                        return is_alone_in_partition(group);
                      });
  for (const std::string& name : snapshot_.unreadable)
    if (is_foreign(name))
      warning(
          claimed.where,
          fmt::format("group '{}', which rdtd did not make, cannot be read: it may fill ways {} "
                      "'{}'{}",
                      printable(name), claims ? "exclusive to" : "of partition", claimed.value,
                      guards ? ", and the kernel's exclusive mode is not set" : ""));
}

}  // namespace rdtd
