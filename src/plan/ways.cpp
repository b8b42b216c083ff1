// The ways that each group gets: amounts as numbers of ways, placed domain by domain, and refusals
// reported once for all domains that are refused for the same reason.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "planner.hpp"
#include "rdtd/model/footprint.hpp"

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

std::string domain_list(const std::set<DomainId>& domains) {
  std::string out;
  for (auto it = domains.begin(); it != domains.end();) {
    const auto first = static_cast<uint32_t>(*it);
    uint32_t last = first;
    while (++it != domains.end() && static_cast<uint32_t>(*it) - last == 1)
      last = static_cast<uint32_t>(*it);
    if (!out.empty()) out += ',';
    out += fmt::format("{}", first);
    if (last != first) out += fmt::format("-{}", last);
  }
  return out;
}

namespace {

const double* percent_of(const DomainAmount& line) {
  const auto* percent = std::get_if<Percent>(&line.amount.value.value);
  return percent == nullptr ? nullptr : &percent->value;
}

// Percentages that add up to exactly 100 get exactly all ways: each is rounded down, but to no
// fewer ways than a mask must have; then ways are added where the most is missing, or taken where
// there is the most in excess. Ties go to the first.
void share_exactly(std::vector<Exclusive>& parties, const std::vector<double>& percents,
                   unsigned total, unsigned min_ways) {
  const double sum = std::accumulate(percents.begin(), percents.end(), 0.0);
  if (percents.size() != parties.size() || parties.empty() || std::abs(sum - 100) > 1e-9 ||
      parties.size() * min_ways > total)
    return;
  std::vector<unsigned> ways(parties.size());
  std::vector<double> missing(parties.size());
  unsigned given = 0;
  for (size_t i = 0; i < parties.size(); i++) {
    const double exact = total * percents[i] / 100;
    ways[i] = std::max(min_ways, static_cast<unsigned>(std::floor(exact + 1e-9)));
    missing[i] = exact - ways[i];
    given += ways[i];
  }
  const auto change = [&](size_t i, int by) {
    ways[i] += static_cast<unsigned>(by);
    missing[i] -= by;
    given += static_cast<unsigned>(by);
  };
  while (given < total)
    change(static_cast<size_t>(std::ranges::max_element(missing) - missing.begin()), 1);
  while (given > total) {
    size_t most = 0;
    for (size_t i = 1; i < ways.size(); i++)
      if (ways[i] > min_ways && (ways[most] == min_ways || missing[i] <= missing[most])) most = i;
    change(most, -1);
  }
  for (size_t i = 0; i < parties.size(); i++) parties[i].party.want = ways[i];
}

unsigned ways_of(const Party& party) {
  if (const Cbm* mask = std::get_if<Cbm>(&party.want)) return mask->count();
  return std::get<unsigned>(party.want);
}

}  // namespace

Cbm Planner::previous_mask(const std::string& directory, Resource resource, DomainId domain) const {
  const auto group = snapshot_.groups.find(directory);
  if (group == snapshot_.groups.end()) return {};
  const auto values = group->second.schemata.find(resource);
  if (values == group->second.schemata.end()) return {};
  const auto value = values->second.find(domain);
  return value == values->second.end() ? Cbm{} : Cbm{value->second};
}

// An amount as a number of ways out of `total`, or as a mask. Nothing if it was refused.
std::optional<Want> Planner::want(const CacheDomain& domain, const DomainAmount& line,
                                  unsigned total) {
  const Amount& amount = line.amount.value;
  const unsigned min_ways = domain.info.min_ways();
  if (const double* percent = percent_of(line)) {
    const auto nearest = static_cast<unsigned>(std::lround(total * *percent / 100));
    return std::max(min_ways, std::min(nearest, total));
  }
  if (const auto* mask = std::get_if<Cbm>(&amount.value)) return *mask;
  if (const auto* count = std::get_if<WayCount>(&amount.value)) {
    if (count->count >= min_ways) return count->count;
    error(line.amount.where,
          fmt::format("'{}' is too little: a mask of {} has at least {} ways (min_cbm_bits)",
                      amount.text, to_string(domain.resource), min_ways));
    return std::nullopt;
  }
  if (const auto* bytes = std::get_if<Bytes>(&amount.value)) {
    if (const uint64_t way_bytes = domain.info.way_bytes.at(domain.id); way_bytes != 0) {
      const uint64_t needed = bytes->count / way_bytes + (bytes->count % way_bytes != 0 ? 1 : 0);
      return std::max(min_ways, static_cast<unsigned>(std::min<uint64_t>(
                                    needed, std::numeric_limits<unsigned>::max())));
    }
    error(line.amount.where,
          fmt::format(
              "'{}': the kernel does not report the size of {} domain {}; ask for ways or percent",
              amount.text, to_string(domain.resource), to_string(domain.id)));
    return std::nullopt;
  }
  return Whole{};
}

std::optional<Party> Planner::party(const CacheDomain& domain, const std::string& name,
                                    const DomainAmount& line, unsigned total) {
  auto wanted = want(domain, line, total);
  if (!wanted) return std::nullopt;
  return Party{name, line.amount.where, line.amount.value.text, *wanted, {}};
}

// A group without an amount takes all of its region.
std::optional<Party> Planner::party(const CacheDomain& domain, const Group& group, unsigned total) {
  const DomainAmount* line = line_for(group.amounts, domain.resource, domain.id);
  auto out = line != nullptr ? party(domain, group.name.value, *line, total)
                             : Party{group.name.value, group.name.where, "", Whole{}, {}};
  if (out)
    out->previous = previous_mask(group_directory(group.name.value), domain.resource, domain.id);
  return out;
}

Planner::Parties Planner::parties_of(const CacheDomain& domain) const {
  Parties out;
  std::set<std::string_view> here;
  for (const Partition& partition : policy_.partitions) {
    if (line_for(partition.amounts, domain.resource, domain.id) == nullptr) continue;
    out.partitions.push_back(&partition);
    here.insert(partition.name.value);
    const auto members = members_.find(partition.name.value);
    out.members.push_back(members == members_.end() ? std::vector<const Group*>{}
                                                    : members->second);
  }
  const Group* last = nullptr;
  for (const Group& group : policy_.groups) {
    if (group.partition && here.contains(group.partition->value)) continue;
    if (group.exclusive && line_for(group.amounts, domain.resource, domain.id) != nullptr)
      out.exclusive.push_back(&group);
    else if (&group == default_group_)
      last = &group;  // so that the others lie beside it while there is room
    else
      out.shared.push_back(&group);
  }
  if (last != nullptr) out.shared.push_back(last);
  return out;
}

// Nothing if an amount was refused.
std::optional<DomainRequest> Planner::request_for(const CacheDomain& domain,
                                                  const Parties& parties) {
  DomainRequest request{.all = domain.info.cbm_mask,
                        .shareable = domain.info.shareable_bits,
                        .min_ways = domain.info.min_ways(),
                        .sparse_masks = domain.info.sparse_masks,
                        .obstacles = {},
                        .exclusive = {},
                        .shared = {},
                        .remainder_for = default_group_ == nullptr ? "default" : ""};
  for (const auto& [name, state] : snapshot_.groups) {
    if (!is_foreign(name) || state.mode == Mode::shareable) continue;
    const Cbm mask = footprint(state.schemata, domain.resource, domain.id);
    if (!mask.empty()) request.obstacles.push_back({fmt::format("group '{}'", name), mask});
  }

  const unsigned total = domain.info.cbm_mask.count();
  std::vector<double> percents;
  const auto add = [&](const DomainAmount& line, std::optional<Party> one) {
    if (!one) return false;
    if (std::holds_alternative<Whole>(one->want)) one->want = total;
    if (const double* percent = percent_of(line)) percents.push_back(*percent);
    request.exclusive.push_back({*std::move(one), {}});
    return true;
  };
  for (const Partition* partition : parties.partitions) {
    const DomainAmount& line = *line_for(partition->amounts, domain.resource, domain.id);
    if (!add(line, party(domain, partition->name.value, line, total))) return std::nullopt;
  }
  for (const Group* group : parties.exclusive)
    if (!add(*line_for(group->amounts, domain.resource, domain.id), party(domain, *group, total)))
      return std::nullopt;
  share_exactly(request.exclusive, percents, total, domain.info.min_ways());

  for (size_t i = 0; i < parties.members.size(); i++)
    for (const Group* group : parties.members[i]) {
      auto one = party(domain, *group, ways_of(request.exclusive[i].party));
      if (!one) return std::nullopt;
      request.exclusive[i].members.push_back(*std::move(one));
    }
  for (const Group* group : parties.shared) {
    auto one = party(domain, *group, total);
    if (!one) return std::nullopt;
    if (default_group_ != nullptr) request.remainder_for = one->name;
    request.shared.push_back(*std::move(one));
  }
  return request;
}

// Null: the default group, of which the policy says nothing.
void Planner::grant(const CacheDomain& domain, const Group* group, Cbm mask) {
  target(group).state.schemata[domain.resource][domain.id] = mask.bits;
  if (group == nullptr) return;
  if (const DomainAmount* line = line_for(group->amounts, domain.resource, domain.id))
    target(group).asked[domain.resource][domain.id] = line->amount.value.text;
}

void Planner::place_domain(const CacheDomain& domain, DomainRefusals& refusals) {
  const Parties parties = parties_of(domain);
  const auto request = request_for(domain, parties);
  if (!request) return;
  const auto placement = place(*request);
  if (!placement) {
    for (const PlacementRefusal& refusal : placement.error())
      refusals.emplace_back(refusal, domain.id);
    return;
  }
  if (default_group_ == nullptr) grant(domain, nullptr, placement->remainder);
  for (size_t i = 0; i < parties.members.size(); i++)
    for (size_t j = 0; j < parties.members[i].size(); j++)
      grant(domain, parties.members[i][j], placement->members[i][j]);
  for (size_t i = 0; i < parties.exclusive.size(); i++)
    grant(domain, parties.exclusive[i], placement->exclusive[parties.partitions.size() + i]);
  for (size_t i = 0; i < parties.shared.size(); i++)
    grant(domain, parties.shared[i], placement->shared[i]);
}

void Planner::report(Resource resource, const DomainRefusals& refusals, Severity severity) {
  std::map<PlacementRefusal, std::set<DomainId>> domains;
  for (const auto& [refusal, domain] : refusals) domains[refusal].insert(domain);
  for (const auto& [refusal, ids] : domains) {
    const bool one = ids.size() == 1;
    diagnostics_.push_back(
        {severity,
         refusal.where,
         fmt::format("{}{}{} domain{} {}{}{}", refusal.before,
                     refusal.has && !one ? "each of " : "", to_string(resource), one ? "" : "s",
                     domain_list(ids), refusal.has ? " has" : "", refusal.after),
         {}});
  }
}

void Planner::place_resource(Resource resource, const CacheInfo& info) {
  DomainRefusals refusals;
  for (const auto& [domain, bytes] : info.way_bytes)
    place_domain({resource, info, domain}, refusals);
  report(resource, refusals, Severity::error);
}

}  // namespace rdtd
