// The ways that each group gets: amounts as numbers of ways, placed domain by domain, and refusals
// reported once for all domains that are refused for the same reason.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "placement_refusals.hpp"
#include "planner.hpp"
#include "shares.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/footprint.hpp"
#include "value_of.hpp"

namespace rdtd {

const DomainAmount* line_for(const AmountTables& tables, Resource resource, DomainId domain) {
  const auto table = tables.find(resource);
  return table == tables.end() ? nullptr : line_for(table->second, domain);
}

const DomainAmount* cache_line(const AmountTables& tables, Resource part, DomainId domain) {
  const DomainAmount* own = line_for(tables, part, domain);
  return own != nullptr ? own : line_for(tables, resources_of_cache(part).front(), domain);
}

namespace {

const double* percent_of(const DomainAmount& line) {
  const auto* percent = std::get_if<Percent>(&line.amount.value.value);
  return percent == nullptr ? nullptr : &percent->value;
}

}  // namespace

// Null if the group is not there.
const Schemata* Planner::schemata_now(const Group& group) const {
  if (&group == io_) return &snapshot_.io;
  const auto found = snapshot_.groups.find(group_directory(group.name.value));
  return found == snapshot_.groups.end() ? nullptr : &found->second.schemata;
}

namespace {

// The mask of these parts of a cache; none if they differ.
Cbm common_mask(const Schemata& schemata, std::span<const Resource> parts, DomainId domain) {
  std::optional<Cbm> mask;
  for (const Resource part : parts) {
    const auto value = value_in(schemata, part, domain);
    if (!value || (mask && mask->bits != *value)) return {};
    mask = Cbm{*value};
  }
  return mask.value_or(Cbm{});
}

}  // namespace

// The mask that the group had before leases displaced it, else the one that it has now.
Cbm Planner::previous_mask(const CacheDomain& domain, const Slot& slot) const {
  if (slot.group == nullptr) return {};
  const std::string directory =
      slot.group == io_ ? std::string(io_group) : group_directory(slot.group->name.value);
  if (const auto place = snapshot_.places.find(directory); place != snapshot_.places.end())
    if (const Cbm mask = common_mask(place->second, slot.parts, domain.id); !mask.empty())
      return mask;
  const Schemata* const now = schemata_now(*slot.group);
  return now == nullptr ? Cbm{} : common_mask(*now, slot.parts, domain.id);
}

// An amount as a number of ways out of `total`, or as a mask. Nothing if it was refused.
std::optional<Want> Planner::want(const CacheDomain& domain, const DomainAmount& line,
                                  unsigned total) {
  const Amount& amount = line.amount.value;
  const unsigned min_ways = domain.cache.info.min_ways();
  if (const double* percent = percent_of(line)) {
    const auto nearest = static_cast<unsigned>(std::lround(total * *percent / 100));
    return std::max(min_ways, std::min(nearest, total));
  }
  if (const auto* mask = std::get_if<Cbm>(&amount.value)) return *mask;
  if (const auto* count = std::get_if<WayCount>(&amount.value)) {
    if (count->count >= min_ways) return count->count;
    error(line.amount.where,
          fmt::format("'{}' is too little: a mask of {} has at least {} ways (min_cbm_bits)",
                      amount.text, to_string(domain.cache.resource), min_ways),
          fmt::format("write \"{} ways\"", min_ways));
    return std::nullopt;
  }
  if (const auto* bytes = std::get_if<Bytes>(&amount.value)) {
    if (const uint64_t way_bytes = domain.cache.info.way_bytes.at(domain.id); way_bytes != 0) {
      const uint64_t needed = bytes->count / way_bytes + (bytes->count % way_bytes != 0 ? 1 : 0);
      return std::max(min_ways, static_cast<unsigned>(std::min<uint64_t>(
                                    needed, std::numeric_limits<unsigned>::max())));
    }
    error(line.amount.where,
          fmt::format(
              "'{}': the kernel does not report the size of {} domain {}; ask for ways or percent",
              amount.text, to_string(domain.cache.resource), to_string(domain.id)));
    return std::nullopt;
  }
  return Whole{};
}

void Planner::check_amounts(const AmountTables& tables) {
  if (tables.empty()) return;
  for (const Cache& cache : caches_)
    for (const auto& [domain, bytes] : cache.info.way_bytes)
      for (const Resource part : cache.parts)
        if (const DomainAmount* line = cache_line(tables, part, domain))
          (void)want({cache, domain}, *line, cache.info.cbm_mask.count());
}

// A group without an amount takes all of its region.
std::optional<Party> Planner::party(const CacheDomain& domain, const Slot& slot,
                                    const Located<std::string>& name, unsigned total) {
  const Cbm previous = previous_mask(domain, slot);
  const DomainAmount* const line = slot.line;
  if (line == nullptr) return Party{name.value, name.where, "", Whole{}, previous};
  auto wanted = want(domain, *line, total);
  if (!wanted) return std::nullopt;
  return Party{name.value, line->amount.where, line->amount.value.text, *wanted, previous};
}

namespace {

using Lines = std::vector<const DomainAmount*>;  // of each part of a cache; null: no amount

Lines lines_of(const AmountTables& tables, const CacheDomain& domain) {
  Lines out;
  for (const Resource part : domain.cache.parts) out.push_back(cache_line(tables, part, domain.id));
  return out;
}

bool divides(const AmountTables& tables, const CacheDomain& domain) {
  return std::ranges::any_of(lines_of(tables, domain), [](const auto* line) { return line; });
}

// The parts of a cache by their lines: one slot for all that have the same line.
std::vector<Slot> slots(const Group* group, const Lines& lines, const CacheDomain& domain) {
  const std::span<const Resource> parts(domain.cache.parts);
  if (std::ranges::adjacent_find(lines, std::not_equal_to<>()) == lines.end())
    return {{group, parts, lines.front()}};
  std::vector<Slot> out;
  for (size_t i = 0; i < parts.size(); i++) out.push_back({group, parts.subspan(i, 1), lines[i]});
  return out;
}

}  // namespace

Planner::Parties Planner::parties_of(const CacheDomain& domain) const {
  Parties out;
  std::set<std::string_view> here;
  for (const Partition& partition : policy_.partitions) {
    if (!divides(partition.amounts, domain)) continue;
    out.partitions.push_back(&partition);
    here.insert(partition.name.value);
    const auto members = members_.find(partition.name.value);
    out.members.push_back(members == members_.end() ? std::vector<const Group*>{}
                                                    : members->second);
  }
  for (const Group& group : policy_.groups) {
    if (group.partition && here.contains(group.partition->value)) continue;
    if (group.exclusive && divides(group.amounts, domain))
      out.exclusive.push_back(&group);
    else if (&group == default_group_)
      out.last = &group;  // so that the others lie beside it while there is room
    else
      out.shared.push_back(&group);
  }
  return out;
}

// Adds the partitions and the exclusive groups. False if an amount was refused.
bool Planner::add_exclusive(const CacheDomain& domain, const Parties& parties,
                            PlannedRequest& out) {
  const unsigned total = domain.cache.info.cbm_mask.count();
  std::vector<std::optional<double>> percents;
  const auto add = [&](const Group* group, const Located<std::string>& name,
                       const AmountTables& amounts, bool strict, const Partition* partition) {
    Lines lines = lines_of(amounts, domain);
    // An amount for only one half holds for both.
    for (const DomainAmount*& line : lines)
      if (line == nullptr) line = lines.front() != nullptr ? lines.front() : lines.back();
    bool other_half = false;
    for (Slot slot : slots(group, lines, domain)) {
      slot.partition = partition;
      auto one = party(domain, slot, name, total);
      if (!one) return false;
      if (std::holds_alternative<Whole>(one->want)) one->want = total;
      const double* percent = percent_of(*slot.line);
      percents.push_back(percent == nullptr ? std::nullopt : std::optional(*percent));
      out.request.exclusive.push_back(
          {*std::move(one), {}, std::exchange(other_half, true), strict});
      out.exclusive.push_back(slot);
    }
    return true;
  };
  for (const Partition* partition : parties.partitions)
    if (!add(nullptr, partition->name, partition->amounts, partition->strict, partition))
      return false;
  for (const Group* group : parties.exclusive)
    if (!add(group, group->name, group->amounts, group->strict, nullptr)) return false;
  share_exactly(out.request.exclusive, percents, total, domain.cache.info.min_ways());
  return true;
}

// Adds a member of the partition that has `count` parties from `first` on.
bool Planner::add_members(const CacheDomain& domain, const Group& group, size_t first, size_t count,
                          PlannedRequest& out) {
  const Lines lines = lines_of(group.amounts, domain);
  for (size_t i = first; i < first + count; i++) {
    Exclusive& region = out.request.exclusive[i];
    const auto add = [&](const Slot& slot) {
      auto one = party(domain, slot, group.name, ways_asked(region.party));
      if (!one) return false;
      region.members.push_back(*std::move(one));
      out.members[i].push_back(slot);
      return true;
    };
    if (count > 1) {
      if (!add({&group, out.exclusive[i].parts, lines[i - first]})) return false;
    } else {
      for (const Slot& slot : slots(&group, lines, domain))
        if (!add(slot)) return false;
    }
  }
  return true;
}

bool Planner::add_shared(const CacheDomain& domain, const Group& group, PlannedRequest& out) {
  const unsigned total = domain.cache.info.cbm_mask.count();
  for (const Slot& slot : slots(&group, lines_of(group.amounts, domain), domain)) {
    auto one = party(domain, slot, group.name, total);
    if (!one) return false;
    if (default_group_ != nullptr) out.request.remainder_for = one->name;
    out.request.shared.push_back(*std::move(one));
    out.shared.push_back(slot);
  }
  return true;
}

// Nothing if an amount was refused.
std::optional<PlannedRequest> Planner::request_for(const CacheDomain& domain) {
  PlannedRequest out;
  DomainRequest& request = out.request;
  request.all = domain.cache.info.cbm_mask;
  request.shareable = ways_of_devices(domain);
  if (request.shareable.bits != domain.cache.info.shareable_bits.bits)
    request.devices =
        "I/O devices (io_alloc, which rdtd did not enable: [io] would set their ways)";
  request.min_ways = domain.cache.info.min_ways();
  request.sparse_masks = domain.cache.info.sparse_masks;
  request.remainder_for = default_group_ == nullptr ? "default" : "";
  const PseudoLock* const lock = lock_in(domain);
  const auto ways_of = [&](const GroupState& state) {
    return footprint(state.schemata, domain.cache.resource, domain.id);
  };
  for (const auto& [name, state] : foreign_groups()) {
    const Cbm mask = ways_of(*state);
    if (mask.empty()) continue;
    if (state->mode != Mode::shareable)
      request.obstacles.push_back({fmt::format("group '{}'", name), mask});
    else if (!mask.contains(request.all))
      request.others.push_back(mask);
  }
  for (const auto& [name, why] : snapshot_.busy_locks)
    if (const auto busy = snapshot_.groups.find(name);
        busy != snapshot_.groups.end() && (lock == nullptr || lock->name.value != name))
      if (const Cbm mask = ways_of(busy->second); !mask.empty())
        request.obstacles.push_back(
            {fmt::format("pseudo_lock '{}'", name), mask, "is still in use"});

  const Parties parties = parties_of(domain);
  if (!add_exclusive(domain, parties, out)) return std::nullopt;
  out.members.resize(request.exclusive.size());
  size_t first = 0;
  for (const std::vector<const Group*>& members : parties.members) {
    const size_t count =
        first + 1 < request.exclusive.size() && request.exclusive[first + 1].other_half ? 2 : 1;
    for (const Group* group : members)
      if (!add_members(domain, *group, first, count, out)) return std::nullopt;
    first += count;
  }
  for (const Group* group : parties.shared)
    if (!add_shared(domain, *group, out)) return std::nullopt;
  if (!add_io(domain, out)) return std::nullopt;
  if (parties.last != nullptr && !add_shared(domain, *parties.last, out)) return std::nullopt;
  return out;
}

void Planner::grant(const CacheDomain& domain, const Slot& slot, Cbm mask) {
  for (const Resource part : slot.parts) {
    target(slot).state.schemata[part][domain.id] = mask.bits;
    if (slot.line != nullptr) target(slot).asked[part][domain.id] = slot.line->amount.value.text;
  }
}

std::string exclusive_name(const PlannedRequest& planned, size_t index) {
  return fmt::format("{}'{}'", planned.exclusive[index].group == nullptr ? "partition " : "",
                     planned.request.exclusive[index].party.name);
}

// The ways of exclusive groups and partitions that devices fill too: a warning for all of them.
void Planner::note_devices(const CacheDomain& domain, const PlannedRequest& planned,
                           const DomainPlacement& placement, DomainRefusals& warnings) {
  const DomainRequest& request = planned.request;
  const auto note = [&](const Slot& slot, Cbm mask) {
    if (!mask.overlaps(request.shareable)) return;
    for (const Resource part : slot.parts) target(slot).with_devices[part].insert(domain.id);
  };
  std::vector<std::string> names;
  Location where;
  Cbm ways;
  for (size_t i = 0; i < request.exclusive.size(); i++) {
    note(planned.exclusive[i], placement.exclusive[i]);
    for (size_t j = 0; j < planned.members[i].size(); j++)
      note(planned.members[i][j], placement.members[i][j]);
    const Cbm both = placement.exclusive[i] & request.shareable;
    if (both.empty()) continue;
    const Party& party = request.exclusive[i].party;
    if (names.empty()) where = party.where;
    std::string name = exclusive_name(planned, i);
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
    ways = ways | both;
  }
  if (!names.empty())
    warnings[{where, fmt::format("{} can fill {} of ", request.devices, these_ways(ways)),
              ", exclusive to " + join(names, ", ")}]
        .insert(domain.id);
}

void Planner::place_domain(const CacheDomain& domain, DomainRefusals& refusals,
                           PlacementWarnings& warnings) {
  const auto planned = request_for(domain);
  if (!planned) return;
  const PseudoLock* const lock = lock_in(domain);
  const auto placement =
      lock == nullptr ? place(planned->request) : place_with_lock(domain, *lock, planned->request);
  if (!placement) {
    for (const PlacementRefusal& refusal : placement.error()) refusals[refusal].insert(domain.id);
    return;
  }
  note_devices(domain, *planned, *placement, warnings.devices);
  note_joined(domain, *planned, *placement, warnings.joined);
  if (lock == nullptr) note_idle(domain, *planned, *placement, warnings);
  if (default_group_ == nullptr)
    grant(domain, {nullptr, domain.cache.parts, nullptr}, placement->remainder);
  for (size_t i = 0; i < planned->exclusive.size(); i++) {
    grant(domain, planned->exclusive[i], placement->exclusive[i]);
    for (size_t j = 0; j < planned->members[i].size(); j++)
      grant(domain, planned->members[i][j], placement->members[i][j]);
  }
  for (size_t i = 0; i < planned->shared.size(); i++)
    grant(domain, planned->shared[i], placement->shared[i]);
}

void Planner::report(Resource resource, const DomainRefusals& refusals, Severity severity,
                     const std::string& hint) {
  for (const auto& [refusal, ids] : refusals) {
    const bool one = ids.size() == 1;
    diagnostics_.push_back(
        {severity, refusal.where,
         fmt::format("{}{}{} domain{} {}{}{}", refusal.before,
                     refusal.has && !one ? "each of " : "", to_string(resource), one ? "" : "s",
                     domain_list(ids), refusal.has ? " has" : "", refusal.after),
         refusal.hint.empty() ? hint : refusal.hint});
  }
}

// A fault of the kernel's driver, and of no amount: the kernel makes no group on such a machine.
void Planner::refuse_without_ways(const Cache& cache) {
  const Location* where = nullptr;
  const auto look = [&](const AmountTables& tables) {
    for (const auto& [resource, table] : tables)
      if (const auto parts = resources_of_cache(resource);
          where == nullptr && !table.empty() && !parts.empty() && parts.front() == cache.resource)
        where = &table.front().amount.where;
  };
  for (const Partition& partition : policy_.partitions) look(partition.amounts);
  for (const Group& group : policy_.groups) look(group.amounts);
  for (const Group& group : policy_.groups)
    if (where == nullptr && &group != default_group_) where = &group.name.where;
  if (where == nullptr && !locks_.empty()) where = &locks_.front()->name.where;
  if (where != nullptr)
    error(*where, fmt::format("the kernel reports no ways of {} (cbm_mask is 0)",
                              to_string(cache.resource)));
}

void Planner::place_cache(const Cache& cache) {
  if (cache.info.cbm_mask.empty()) return refuse_without_ways(cache);
  DomainRefusals refusals;
  PlacementWarnings warnings;
  for (const auto& [domain, bytes] : cache.info.way_bytes)
    place_domain({cache, domain}, refusals, warnings);
  report(cache.resource, refusals, Severity::error);
  report(cache.resource, warnings.devices, Severity::warning,
         "exclusive = \"strict\" refuses such ways");
  report(cache.resource, warnings.joined, Severity::warning,
         "give both to one group, or to none that is exclusive");
  report(cache.resource, warnings.idle, Severity::warning);
  report(cache.resource, warnings.idle_for_now, Severity::warning,
         "'rdtctl reset' and 'rdtctl reload' place all groups again");
}

}  // namespace rdtd
