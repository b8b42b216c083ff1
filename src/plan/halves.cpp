#include "halves.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "placement_refusals.hpp"

namespace rdtd {

namespace {

// Ways that this half must contain: those that it names, or that groups in it name.
Cbm required_ways(const Exclusive& half) {
  if (const Cbm* mask = named_ways(half.party)) return *mask;
  return ways_named_by(half.members);
}

unsigned size_of(const Exclusive& half) {
  const unsigned* count = number_of_ways(half.party);
  return count == nullptr ? required_ways(half).count() : *count;
}

// The place that a group in a region of so many ways keeps if it can, as in placement.cpp; empty:
// none.
Cbm place_of(const Party& party, unsigned region) {
  return keeps_size(party, region) ? party.previous : Cbm{};
}

// The fewest ways that hold both halves.
unsigned least_ways_of(const Exclusive& one, const Exclusive& other) {
  const unsigned required = (required_ways(one) | required_ways(other)).count();
  return std::max({size_of(one), size_of(other), required});
}

// Where a half lies in a piece that both share: where it must and where its groups are, else at one
// end.
Cbm part_of(Cbm piece, const Exclusive& half, bool upper) {
  const unsigned count = size_of(half);
  const Cbm required = required_ways(half);
  Cbm kept = required;
  for (const Party& member : half.members)
    if (const Cbm place = place_of(member, count); piece.contains(place)) kept = kept | place;
  for (const Cbm within : {kept, required})
    if (!within.empty())
      if (const auto run = lowest_run(piece, count, within)) return *run;
  Cbm out = piece;
  const auto drop = [&](auto way_of) {
    while (out.count() > count && !out.without(required).empty())
      out = out.without(Cbm::range(way_of(out.without(required)), 1));
  };
  if (upper)
    drop([](Cbm ways) { return ways.lowest(); });
  else
    drop([](Cbm ways) { return ways.highest(); });
  return out;
}

}  // namespace

Halves::Halves(const DomainRequest& request) : original_(request) {
  for (size_t i = 0; i + 1 < request.exclusive.size(); i++)
    if (request.exclusive[i + 1].other_half)
      pairs_.push_back(
          {.first = i, .as_before = false, .together = false, .ways = {}, .chosen = 0});
  // More than fits in any case: there is nothing to search for.
  const bool hopeless = least_ways() > request.all.count();
  for (Pair& pair : pairs_) {
    const Exclusive &one = request.exclusive[pair.first],
                    &other = request.exclusive[pair.first + 1];
    const Cbm ways = required_ways(one), other_ways = required_ways(other);
    const bool both_named = named_ways(one.party) != nullptr && named_ways(other.party) != nullptr;
    pair.together = hopeless || both_named || ways.overlaps(other_ways);
    if (both_named || (!hopeless && !request.sparse_masks && !(ways | other_ways).empty()))
      pair.ways = ways_to_try(one, other);
    pair.as_before = !hopeless && fits_as_before(one, other);
    as_before_ = as_before_ || pair.as_before;
  }
  if (!hopeless) combine();
  build();
}

unsigned Halves::least_ways() const {
  uint64_t sum = 0;
  auto pair = pairs_.begin();
  for (size_t i = 0; i < original_.exclusive.size(); i++) {
    const Exclusive& party = original_.exclusive[i];
    if (pair != pairs_.end() && pair->first == i) {
      sum += least_ways_of(party, original_.exclusive[++i]);
      ++pair;
    } else {
      sum += size_of(party);
    }
  }
  return static_cast<unsigned>(std::min<uint64_t>(sum, UINT32_MAX));
}

// The ways that nobody else names or holds.
Cbm Halves::usable_by(const Exclusive& one, const Exclusive& other) const {
  Cbm usable = one.strict ? original_.all.without(original_.shareable) : original_.all;
  for (const Obstacle& obstacle : original_.obstacles) usable = usable.without(obstacle.mask);
  usable = usable.without(ways_named_by(original_.shared));
  for (const Exclusive& exclusive : original_.exclusive)
    if (const Cbm* mask = named_ways(exclusive.party);
        mask != nullptr && &exclusive != &one && &exclusive != &other)
      usable = usable.without(*mask);
  return usable;
}

bool Halves::fits_as_before(const Exclusive& one, const Exclusive& other) const {
  const Cbm usable = usable_by(one, other);
  return std::ranges::all_of(std::array{&one, &other}, [&](const Exclusive* half) {
    const Cbm mask = half->party.previous;
    const Cbm* named = named_ways(half->party);
    return half->members.empty() && !mask.empty() && usable.contains(mask) &&
           (named != nullptr
                ? mask == *named
                : mask.count() == size_of(*half) && (mask.contiguous() || original_.sparse_masks));
  });
}

// The masks for two halves, those with the fewest ways of devices first, then those with the fewest
// ways. None contains all ways of another one.
std::vector<Halves::Masks> Halves::ways_to_try(const Exclusive& one, const Exclusive& other) const {
  const Cbm usable = usable_by(one, other);
  const auto places = [&](const Exclusive& half) {
    if (const Cbm* mask = named_ways(half.party)) return std::vector{*mask};
    std::vector<Cbm> out;
    for (unsigned way = 0; way + size_of(half) <= 32; way++)
      if (const Cbm mask = Cbm::range(way, size_of(half));
          usable.contains(mask) && mask.contains(required_ways(half)))
        out.push_back(mask);
    return out;
  };
  std::vector<Masks> all, out;
  for (const Cbm mask : places(one))
    for (const Cbm other_mask : places(other)) all.push_back({mask, other_mask});
  const Masks before{one.party.previous, other.party.previous};
  std::ranges::stable_sort(all, {}, [&](const Masks& masks) {
    return std::tuple((masks.both() & original_.shareable).count(), masks.both().count(),
                      masks != before);
  });
  for (const Masks& masks : all)
    if (std::ranges::none_of(
            out, [&](const Masks& smaller) { return masks.both().contains(smaller.both()); }))
      out.push_back(masks);
  return out;
}

// All combinations of masks that do not touch each other: of those with the same ways the first,
// and first those that let the most groups keep their places.
void Halves::combine() {
  std::set<std::pair<size_t, uint32_t>> seen;
  std::vector<size_t> chosen(pairs_.size(), 0);
  combine_from(0, {}, seen, chosen);
  std::vector<std::pair<unsigned, std::vector<size_t>>> by_kept;
  for (std::vector<size_t>& combination : combinations_) {
    const unsigned value = kept(combination);
    by_kept.emplace_back(value, std::move(combination));
  }
  std::ranges::stable_sort(by_kept, std::ranges::greater(),
                           [](const auto& one) { return one.first; });
  combinations_.clear();
  for (auto& [value, combination] : by_kept) combinations_.push_back(std::move(combination));
  if (!combinations_.empty()) choose(combinations_.front());
}

void Halves::choose(const std::vector<size_t>& combination) {
  for (size_t i = 0; i < pairs_.size(); i++) pairs_[i].chosen = combination[i];
}

void Halves::combine_from(size_t pair, Cbm taken, std::set<std::pair<size_t, uint32_t>>& seen,
                          std::vector<size_t>& chosen) {
  if (combinations_.size() >= most_combinations || !seen.emplace(pair, taken.bits).second) return;
  if (pair == pairs_.size()) return combinations_.push_back(chosen);
  const std::vector<Masks>& ways = pairs_[pair].ways;
  if (ways.empty()) return combine_from(pair + 1, taken, seen, chosen);
  for (size_t i = 0; i < ways.size(); i++) {
    if (ways[i].both().overlaps(taken)) continue;
    chosen[pair] = i;
    combine_from(pair + 1, taken | ways[i].both(), seen, chosen);
  }
}

// Groups that keep their places, or can.
unsigned Halves::kept(const std::vector<size_t>& chosen) const {
  unsigned out = 0;
  Cbm taken;
  std::set<const Exclusive*> those;
  for (size_t i = 0; i < pairs_.size(); i++) {
    if (pairs_[i].ways.empty()) continue;
    const Exclusive &one = original_.exclusive[pairs_[i].first],
                    &other = original_.exclusive[pairs_[i].first + 1];
    const Masks& masks = pairs_[i].ways[chosen[i]];
    if (masks == Masks{one.party.previous, other.party.previous}) out++;
    for (const auto& [half, mask] : {std::pair(&one, masks.one), std::pair(&other, masks.other)}) {
      those.insert(half);
      for (const Party& member : half->members)
        if (const Cbm place = place_of(member, mask.count());
            !place.empty() && mask.contains(place))
          out++;
    }
    taken = taken | masks.both();
  }
  const auto count = [&](const Party& party, unsigned region) {
    const Cbm place = place_of(party, region);
    if (!place.empty() && !place.overlaps(taken)) out++;
  };
  for (const Exclusive& exclusive : original_.exclusive) {
    if (those.contains(&exclusive)) continue;
    count(exclusive.party, 0);
    for (const Party& member : exclusive.members) count(member, size_of(exclusive));
  }
  for (const Party& party : original_.shared) count(party, 0);
  return out;
}

bool Halves::next() {
  if (as_before_) {
    as_before_ = false;
    build();
    return true;
  }
  const auto apart =
      std::find_if(pairs_.rbegin(), pairs_.rend(), [](const Pair& pair) { return !pair.together; });
  if (apart != pairs_.rend()) {
    apart->together = true;
  } else if (next_combination_ < combinations_.size()) {
    choose(combinations_[next_combination_++]);
  } else {
    return false;
  }
  build();
  return true;
}

void Halves::build() {
  current_ = original_;
  current_.exclusive.clear();
  auto pair = pairs_.begin();
  for (size_t i = 0; i < original_.exclusive.size(); i++) {
    Exclusive& entry = current_.exclusive.emplace_back(original_.exclusive[i]);
    entry.other_half = false;
    const Pair* const here = pair != pairs_.end() && pair->first == i ? &*pair++ : nullptr;
    if (here == nullptr || !joined(*here)) continue;
    const Exclusive& other = original_.exclusive[++i];
    if (as_before_ && here->as_before) {
      entry.party.want = entry.party.previous | other.party.previous;
    } else if (!here->ways.empty()) {
      entry.party.want = here->ways[here->chosen].both();
    } else {
      const Cbm required = required_ways(entry) | required_ways(other);
      entry.party.want = least_ways_of(entry, other);
      entry.members.insert(entry.members.end(), other.members.begin(), other.members.end());
      if (!required.empty()) entry.members.push_back({entry.party.name, {}, "", required, {}});
    }
    entry.party.previous = entry.party.previous | other.party.previous;
  }
}

std::vector<Cbm> Halves::split(const std::vector<Cbm>& masks) const {
  std::vector<Cbm> out;
  auto mask = masks.begin();
  auto pair = pairs_.begin();
  for (size_t i = 0; i < original_.exclusive.size(); i++, ++mask) {
    const Pair* const here = pair != pairs_.end() && pair->first == i ? &*pair : nullptr;
    if (here == nullptr || !joined(*here)) {
      out.push_back(*mask);
      // The other half has an entry of its own.
      if (here != nullptr) {
        out.push_back(*++mask);
        i++;
        ++pair;
      }
      continue;
    }
    ++pair;
    const Exclusive &one = original_.exclusive[i], &other = original_.exclusive[++i];
    if (as_before_ && here->as_before) {
      out.push_back(one.party.previous);
      out.push_back(other.party.previous);
      continue;
    }
    const bool by_masks = !here->ways.empty();
    out.push_back(by_masks ? here->ways[here->chosen].one : part_of(*mask, one, false));
    out.push_back(by_masks ? here->ways[here->chosen].other : part_of(*mask, other, true));
  }
  return out;
}

}  // namespace rdtd
