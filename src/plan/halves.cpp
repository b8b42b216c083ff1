#include "halves.hpp"

#include <algorithm>
#include <optional>

#include "placement_refusals.hpp"

namespace rdtd {

namespace {

// Requests tried mask by mask. One pair of halves has some 30 masks to try; several pairs have the
// product.
constexpr unsigned most_tried = 1000;

// Ways that this half must contain, because groups in it name them.
Cbm required_ways(const Exclusive& half) {
  Cbm out;
  for (const Party& member : half.members)
    if (const Cbm* mask = named_ways(member)) out = out | *mask;
  return out;
}

bool names_ways(const Exclusive& half) {
  return named_ways(half.party) != nullptr || !required_ways(half).empty();
}

// Where a half lies in a piece that both share: where its groups are, else at one end.
Cbm part_of(Cbm piece, const Exclusive& half, bool upper) {
  const unsigned count = *number_of_ways(half.party);
  Cbm kept;
  for (const Party& member : half.members)
    if (piece.contains(member.previous)) kept = kept | member.previous;
  if (!kept.empty())
    if (const auto run = lowest_run(piece, count, kept)) return *run;
  if (!upper) return lowest_ways(piece, count);
  Cbm out = piece;
  while (out.count() > count) out = out.without(Cbm::range(out.lowest(), 1));
  return out;
}

}  // namespace

Halves::Halves(const DomainRequest& request) : original_(request) {
  for (size_t i = 0; i + 1 < request.exclusive.size(); i++) {
    const Exclusive &one = request.exclusive[i], &other = request.exclusive[i + 1];
    if (!other.other_half) continue;
    Pair pair{.first = i, .together = false, .ways = {}, .chosen = 0};
    if (!names_ways(one) && !names_ways(other)) {
      pairs_.push_back(std::move(pair));
      continue;
    }
    pair.ways = ways_to_try(one, other);
    if (pair.ways.empty()) continue;
    const Cbm *mask = named_ways(one.party), *other_mask = named_ways(other.party);
    const Cbm ways = mask != nullptr ? *mask : required_ways(one);
    const Cbm other_ways = other_mask != nullptr ? *other_mask : required_ways(other);
    pair.together = (mask != nullptr && other_mask != nullptr) || ways.overlaps(other_ways);
    pairs_.push_back(std::move(pair));
  }
  build();
}

// The masks for two halves, those with the fewest ways first. None contains all ways of another
// one.
std::vector<Halves::Masks> Halves::ways_to_try(const Exclusive& one, const Exclusive& other) const {
  Cbm usable = original_.all.without(original_.shareable);
  for (const Obstacle& obstacle : original_.obstacles) usable = usable.without(obstacle.mask);
  for (const Party& party : original_.shared)
    if (const Cbm* mask = named_ways(party)) usable = usable.without(*mask);
  for (const Exclusive& exclusive : original_.exclusive)
    if (const Cbm* mask = named_ways(exclusive.party);
        mask != nullptr && &exclusive != &one && &exclusive != &other)
      usable = usable.without(*mask);
  const auto places = [&](const Exclusive& half) {
    if (const Cbm* mask = named_ways(half.party)) return std::vector{*mask};
    const unsigned count = *number_of_ways(half.party);
    std::vector<Cbm> out;
    for (unsigned way = 0; way + count <= 32; way++)
      if (const Cbm mask = Cbm::range(way, count);
          usable.contains(mask) && mask.contains(required_ways(half)))
        out.push_back(mask);
    return out;
  };
  std::vector<Masks> all, out;
  for (const Cbm mask : places(one))
    for (const Cbm other_mask : places(other)) all.emplace_back(mask, other_mask);
  std::ranges::stable_sort(all, {},
                           [](const Masks& masks) { return (masks.first | masks.second).count(); });
  for (const Masks& masks : all)
    if (std::ranges::none_of(out, [&](const Masks& smaller) {
          return (masks.first | masks.second).contains(smaller.first | smaller.second);
        }))
      out.push_back(masks);
  return out;
}

bool Halves::next() {
  const auto apart =
      std::find_if(pairs_.rbegin(), pairs_.rend(), [](const Pair& pair) { return !pair.together; });
  if (apart != pairs_.rend()) {
    apart->together = true;
  } else {
    const auto more = std::ranges::find_if(
        pairs_, [](const Pair& pair) { return pair.chosen + 1 < pair.ways.size(); });
    if (more == pairs_.end() || ++tried_ > most_tried) return false;
    more->chosen++;
    for (auto pair = pairs_.begin(); pair != more; ++pair) pair->chosen = 0;
  }
  build();
  return true;
}

void Halves::build() {
  current_ = original_;
  for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair) {
    const auto one = current_.exclusive.begin() + static_cast<std::ptrdiff_t>(pair->first);
    const auto other = one + 1;
    if (!pair->together) continue;
    if (!pair->ways.empty()) {
      const auto& [mask, other_mask] = pair->ways[pair->chosen];
      one->party.want = mask | other_mask;
    } else if (*number_of_ways(other->party) > *number_of_ways(one->party)) {
      one->party.want = other->party.want;
    }
    one->party.previous = one->party.previous | other->party.previous;
    one->members.insert(one->members.end(), other->members.begin(), other->members.end());
    current_.exclusive.erase(other);
  }
}

std::vector<Cbm> Halves::split(const std::vector<Cbm>& masks) const {
  std::vector<Cbm> out;
  auto mask = masks.begin();
  auto pair = pairs_.begin();
  for (size_t i = 0; i < original_.exclusive.size(); i++) {
    const bool halves = pair != pairs_.end() && pair->first == i;
    const Pair* const here = halves ? &*pair++ : nullptr;
    if (here == nullptr || !here->together) {
      out.push_back(*mask++);
      continue;
    }
    // An entry of request() stands for the two.
    const Exclusive &one = original_.exclusive[i], &other = original_.exclusive[++i];
    if (here->ways.empty()) {
      out.push_back(part_of(*mask, one, false));
      out.push_back(part_of(*mask, other, true));
    } else {
      out.push_back(here->ways[here->chosen].first);
      out.push_back(here->ways[here->chosen].second);
    }
    mask++;
  }
  return out;
}

}  // namespace rdtd
