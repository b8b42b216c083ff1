// Which ways each group gets: amounts as numbers of ways, placed domain by domain, and refusals
// told once for all domains that are refused alike.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "planner.hpp"

namespace rdtd {

const DomainAmount* line_for(const AmountTables& tables, Resource resource, DomainId domain) {
  const auto table = tables.find(resource);
  if (table == tables.end()) return nullptr;
  for (const DomainAmount& line : table->second)
    if (line.domains && line.domains->contains(domain)) return &line;
  for (const DomainAmount& line : table->second)
    if (!line.domains) return &line;
  return nullptr;
}

namespace {

// Percentages that add up to exactly 100 get exactly all ways: the largest fractions are rounded
// up, the others down.
void share_exactly(std::vector<Party>& parties, const std::vector<double>& percents, unsigned total,
                   unsigned least) {
  double sum = 0;
  for (const double percent : percents) sum += percent;
  if (percents.size() != parties.size() || parties.empty() || std::abs(sum - 100) > 1e-9) return;
  std::vector<std::tuple<double, size_t>> fractions;
  unsigned given = 0;
  for (size_t i = 0; i < parties.size(); i++) {
    const double exact = total * percents[i] / 100;
    const unsigned down = std::max(least, static_cast<unsigned>(std::floor(exact + 1e-9)));
    parties[i].want = down;
    given += down;
    fractions.emplace_back(down - exact, i);
  }
  std::ranges::sort(fractions);
  for (const auto& [fraction, i] : fractions)
    if (given < total) {
      parties[i].want = std::get<unsigned>(parties[i].want) + 1;
      given++;
    }
}

}  // namespace

Cbm Planner::previous_mask(const std::string& directory, Resource resource, DomainId domain) const {
  const auto group = snapshot_.groups.find(directory);
  if (group == snapshot_.groups.end()) return {};
  const auto values = group->second.schemata.find(resource);
  if (values == group->second.schemata.end() || !values->second.contains(domain)) return {};
  return Cbm{values->second.at(domain)};
}

// A partition is not the kernel's: where it lay is where its groups lie.
Cbm Planner::previous_mask(const Partition& partition, Resource resource, DomainId domain) const {
  Cbm all;
  for (const Group& group : policy_.groups)
    if (group.partition && group.partition->value == partition.name.value &&
        line_for(group.amounts, resource, domain) != nullptr)
      all = all | previous_mask(group_directory(group.name.value), resource, domain);
  return all;
}

// An amount as a number of ways out of `total`, or as a mask. Nothing where it was refused.
std::optional<Party> Planner::party(const std::string& name, const DomainAmount& line,
                                    Resource resource, const CacheInfo& info, DomainId domain,
                                    unsigned total, Cbm previous) {
  const Amount& amount = line.amount.value;
  Party out{name, line.amount.where, amount.text, Whole{}, previous};
  const uint64_t way_bytes = info.way_bytes.at(domain);
  if (const auto* percent = std::get_if<Percent>(&amount.value)) {
    out.want = std::clamp(static_cast<unsigned>(std::lround(total * percent->value / 100)),
                          info.min_cbm_bits, total);
  } else if (const auto* count = std::get_if<WayCount>(&amount.value)) {
    if (count->count < info.min_cbm_bits) {
      error(out.where, fmt::format("'{}' is {} way{}; a mask of {} has at least {} (min_cbm_bits)",
                                   amount.text, count->count, count->count == 1 ? "" : "s",
                                   to_string(resource), info.min_cbm_bits));
      return std::nullopt;
    }
    out.want = count->count;
  } else if (const auto* mask = std::get_if<Cbm>(&amount.value)) {
    out.want = *mask;
  } else if (const auto* bytes = std::get_if<Bytes>(&amount.value)) {
    if (way_bytes == 0) {
      error(out.where,
            fmt::format(
                "'{}': the kernel does not tell the size of {} domain {}; ask for ways or percent",
                amount.text, to_string(resource), to_string(domain)));
      return std::nullopt;
    }
    const uint64_t needed = (bytes->count + way_bytes - 1) / way_bytes;
    out.want =
        std::max(info.min_cbm_bits, static_cast<unsigned>(std::min<uint64_t>(needed, UINT16_MAX)));
  }
  return out;
}

void Planner::place_domain(Resource resource, const CacheInfo& info, DomainId domain,
                           std::vector<std::pair<Refusal, DomainId>>& refusals) {
  DomainRequest request{.all = info.cbm_mask,
                        .shareable = info.shareable_bits,
                        .min_cbm_bits = info.min_cbm_bits,
                        .sparse_masks = info.sparse_masks,
                        .obstacles = {},
                        .exclusive = {},
                        .shared = {},
                        .remainder_needed = false};
  for (const auto& [name, state] : snapshot_.groups)
    if (is_foreign(name) && state.mode != Mode::shareable)
      request.obstacles.push_back(
          {fmt::format("group '{}'", name), previous_mask(name, resource, domain)});

  const unsigned total = info.cbm_mask.count();
  std::vector<double> percents;
  std::vector<std::pair<const Partition*, size_t>> partitions;
  std::vector<const Group*> exclusive, shared;
  const auto add = [&](const std::string& name, const DomainAmount& line, Cbm previous) {
    auto one = party(name, line, resource, info, domain, total, previous);
    if (!one) return false;
    if (std::holds_alternative<Whole>(one->want)) one->want = total;
    if (const auto* percent = std::get_if<Percent>(&line.amount.value.value))
      percents.push_back(percent->value);
    request.exclusive.push_back(std::move(*one));
    return true;
  };
  for (const Partition& partition : policy_.partitions) {
    const DomainAmount* line = line_for(partition.amounts, resource, domain);
    if (line == nullptr) continue;
    partitions.emplace_back(&partition, request.exclusive.size());
    if (!add(partition.name.value, *line, previous_mask(partition, resource, domain))) return;
  }
  const auto in_partition = [&](const Group& group) -> std::optional<size_t> {
    for (const auto& [partition, index] : partitions)
      if (group.partition && group.partition->value == partition->name.value) return index;
    return std::nullopt;
  };
  std::vector<const Group*> members;
  const Group* the_default =
      nullptr;  // placed last, so that the others lie beside it while there is room
  for (const Group& group : policy_.groups) {
    const DomainAmount* line = line_for(group.amounts, resource, domain);
    if (in_partition(group)) {
      members.push_back(&group);
    } else if (group.exclusive && line != nullptr) {
      exclusive.push_back(&group);
      if (!add(group.name.value, *line,
               previous_mask(group_directory(group.name.value), resource, domain)))
        return;
    } else {
      request.remainder_needed = true;
      if (group.name.value == "default")
        the_default = &group;
      else
        shared.push_back(&group);
    }
  }
  if (default_group_ == nullptr) request.remainder_needed = true;
  if (the_default != nullptr) shared.push_back(the_default);
  share_exactly(request.exclusive, percents, total, info.min_cbm_bits);
  for (const Group* group : shared) {
    const DomainAmount* line = line_for(group->amounts, resource, domain);
    auto one = line == nullptr
                   ? Party{group->name.value, group->name.where, "", Whole{}, {}}
                   : party(group->name.value, *line, resource, info, domain, total,
                           previous_mask(group_directory(group->name.value), resource, domain));
    if (!one) return;
    request.shared.push_back(std::move(*one));
  }

  const auto placement = place(request);
  if (!placement) {
    for (const Refusal& refusal : placement.error()) refusals.emplace_back(refusal, domain);
    return;
  }
  const auto grant = [&](const Group* group, Cbm mask) {
    target(group).state.schemata[resource][domain] = mask.bits;
    if (const DomainAmount* line =
            group == nullptr ? nullptr : line_for(group->amounts, resource, domain))
      target(group).asked[resource][domain] = line->amount.value.text;
  };
  if (default_group_ == nullptr) grant(nullptr, placement->remainder);
  for (size_t i = 0; i < exclusive.size(); i++)
    grant(exclusive[i], placement->exclusive[partitions.size() + i]);
  for (size_t i = 0; i < shared.size(); i++) grant(shared[i], placement->shared[i]);
  for (const auto& [partition, index] : partitions) {
    const Cbm region = placement->exclusive[index];
    std::vector<const Group*> here;
    std::vector<Party> parties;
    for (const Group* group : members) {
      if (group->partition->value != partition->name.value) continue;
      const DomainAmount* line = line_for(group->amounts, resource, domain);
      auto one = line == nullptr
                     ? Party{group->name.value, group->name.where, "", Whole{}, {}}
                     : party(group->name.value, *line, resource, info, domain, region.count(),
                             previous_mask(group_directory(group->name.value), resource, domain));
      if (!one) return;
      const Cbm* mask = std::get_if<Cbm>(&one->want);
      if (auto problem = mask == nullptr ? std::nullopt
                                         : mask_problem(*one, *mask, info.cbm_mask,
                                                        info.min_cbm_bits, info.sparse_masks)) {
        refusals.emplace_back(std::move(*problem), domain);
        return;
      }
      if (mask != nullptr && !region.contains(*mask)) {
        refusals.push_back(
            {{one->where,
              fmt::format("{}: '{}' is not within partition '{}', which holds ways {} of ",
                          one->name, one->asked, partition->name.value, way_list(region)),
              ""},
             domain});
        return;
      }
      here.push_back(group);
      parties.push_back(std::move(*one));
    }
    const auto masks = place_shared(region, info.sparse_masks, parties,
                                    fmt::format("in partition '{}'", partition->name.value));
    if (!masks) {
      for (const Refusal& refusal : masks.error()) refusals.emplace_back(refusal, domain);
      return;
    }
    for (size_t i = 0; i < here.size(); i++) grant(here[i], (*masks)[i]);
  }
}

// One diagnostic for all domains of which the same is to be said.
void Planner::report(Resource resource, std::vector<std::pair<Refusal, DomainId>> refusals,
                     Severity severity) {
  std::map<std::tuple<Location, std::string, std::string>, CpuSet> domains;
  for (const auto& [refusal, domain] : refusals)
    domains[{refusal.where, refusal.before, refusal.after}].insert(static_cast<unsigned>(domain));
  for (const auto& [refusal, ids] : domains) {
    const auto& [where, before, after] = refusal;
    diagnostics_.push_back({severity,
                            where,
                            fmt::format("{}{} domain{} {}{}", before, to_string(resource),
                                        ids.size() == 1 ? "" : "s", format_cpu_list(ids), after),
                            {}});
  }
}

void Planner::place_resource(Resource resource, const CacheInfo& info) {
  std::vector<std::pair<Refusal, DomainId>> refusals;
  for (const auto& [domain, bytes] : info.way_bytes) place_domain(resource, info, domain, refusals);
  report(resource, std::move(refusals), Severity::error);
}

}  // namespace rdtd
