#include "placement_refusals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

std::string ways(uint64_t count) { return counted(count, "way"); }

// "'4 ways'", "'40%' (8 ways)".
std::string amount(const Party& party) {
  const std::string asked = fmt::format("'{}'", party.asked);
  const unsigned* count = number_of_ways(party);
  if (count == nullptr || party.asked.ends_with("way") || party.asked.ends_with("ways"))
    return asked;
  return fmt::format("{} ({})", asked, ways(*count));
}

// The part of a mask that is there.
std::string write_inside(const DomainRequest& request, const Party& party, Cbm mask) {
  const Cbm inside = mask & request.all;
  if (inside.empty() || !inside.contiguous() || inside.count() < request.min_ways) return {};
  if (party.asked.starts_with("0x")) return fmt::format("write \"0x{}\"", to_string(inside));
  return fmt::format("write \"ways {}\"", way_list(inside));
}

// In place of a mask with gaps: as many ways, wherever they are.
std::string write_as_many(Cbm mask) { return fmt::format("write \"{} ways\"", mask.count()); }

std::optional<PlacementRefusal> check_form(const DomainRequest& request, const Party& party,
                                           Cbm mask) {
  const std::string head = fmt::format("{}: '{}'", party.name, party.asked);
  if (!request.all.contains(mask)) {
    const std::string hint = write_inside(request, party, mask);
    if (party.asked.starts_with("0x"))
      return PlacementRefusal{party.where, head + " is out of range: the mask of ",
                              fmt::format(" is 0x{}", to_string(request.all)), false, hint};
    return PlacementRefusal{party.where, head + " is out of range: ", " " + these_ways(request.all),
                            true, hint};
  }
  if (!mask.contiguous() && !request.sparse_masks)
    return PlacementRefusal{party.where, head + " has gaps; masks of ", " must be contiguous",
                            false, write_as_many(mask)};
  if (mask.count() < request.min_ways)
    return PlacementRefusal{party.where,
                            fmt::format("{} is {}; a mask of ", head, ways(mask.count())),
                            fmt::format(" has at least {} (min_cbm_bits)", request.min_ways)};
  return std::nullopt;
}

// Checks named ways, in the order in which they are given, and remembers who has each way alone.
class NamedWays {
 public:
  explicit NamedWays(const DomainRequest& request) : request_(request) {}

  // `owner` has these ways alone; the groups of a partition have their partition as owner.
  void check_exclusive(const Party& party, const Party& owner, const Exclusive& exclusive) {
    const Cbm* mask = named_ways(party);
    if (mask == nullptr || !check(party, *mask)) return;
    if (exclusive.strict && request_.shareable.overlaps(*mask))
      refusals.push_back(
          {party.where,
           fmt::format("{}: '{}' cannot be {}: {} fill {} of ", party.name, party.asked,
                       exclusive.region ? "locked" : "strictly exclusive", request_.devices,
                       these_ways(request_.shareable & *mask)),
           " too"});
    check_owners(party, *mask, &owner);
    for (unsigned way = 0; way < owners_.size(); way++)
      if (mask->contains(Cbm::range(way, 1)) && owners_.at(way) == nullptr)
        owners_.at(way) = &owner;
  }
  void check_shared(const Party& party) {
    const Cbm* mask = named_ways(party);
    if (mask != nullptr && check(party, *mask)) check_owners(party, *mask, nullptr);
  }
  // Ways that a group names of a partition that itself names its ways.
  void check_member(const Party& member, const Party& partition) {
    const Cbm* mask = named_ways(member);
    if (mask == nullptr) return;
    if (auto problem = check_form(request_, member, *mask))
      refusals.push_back(std::move(*problem));
    else if (const Cbm region = *named_ways(partition); !region.contains(*mask))
      refusals.push_back(
          {member.where,
           fmt::format("{}: '{}' is not within partition '{}', which holds {} of ", member.name,
                       member.asked, partition.name, these_ways(region)),
           ""});
  }

  std::vector<PlacementRefusal> refusals;

 private:
  bool check(const Party& party, Cbm mask) {
    if (auto problem = check_form(request_, party, mask)) {
      refusals.push_back(std::move(*problem));
      return false;
    }
    for (const Obstacle& obstacle : request_.obstacles)
      if (obstacle.mask.overlaps(mask))
        refusals.push_back({party.where,
                            fmt::format("{}: '{}' overlaps {} of ", party.name, party.asked,
                                        these_ways(obstacle.mask & mask)),
                            fmt::format(", held by {}, which {}", obstacle.name, obstacle.why)});
    return true;
  }
  void check_owners(const Party& party, Cbm mask, const Party* owner) {
    std::vector<std::pair<const Party*, Cbm>> others;
    for (unsigned way = 0; way < owners_.size(); way++) {
      const Party* other = owners_.at(way);
      const Cbm bit = Cbm::range(way, 1);
      if (!mask.contains(bit) || other == nullptr || other == owner) continue;
      if (others.empty() || others.back().first != other) others.emplace_back(other, Cbm{});
      others.back().second = others.back().second | bit;
    }
    for (const auto& [other, overlap] : others)
      refusals.push_back(
          {party.where,
           fmt::format("{}: '{}' overlaps {} of ", party.name, party.asked, these_ways(overlap)),
           fmt::format(", exclusive to {} ({})", other->name, other->where.text())});
  }

  const DomainRequest& request_;
  std::array<const Party*, 32> owners_{};
};

// Whether the groups of a partition fit in it, wherever it lies.
void check_sizes(const DomainRequest& request, const Exclusive& partition,
                 std::vector<PlacementRefusal>& refusals) {
  const auto region = ways_asked(partition.party);
  Cbm required;
  std::vector<std::string> names;
  const Party* last = nullptr;
  for (const Party& member : partition.members) {
    if (const Cbm* mask = named_ways(member)) {
      required = required | *mask;
      names.push_back(fmt::format("{} '{}'", member.name, member.asked));
      last = &member;
    } else if (const unsigned* count = number_of_ways(member);
               count != nullptr && *count > region) {
      refusals.push_back(
          {member.where,
           fmt::format("{}: {} does not fit in partition '{}', which has {} of ", member.name,
                       amount(member), partition.party.name, ways(region)),
           ""});
    }
  }
  if (last == nullptr || named_ways(partition.party) != nullptr) return;
  const unsigned span =
      request.sparse_masks ? required.count() : required.highest() - required.lowest() + 1;
  if (span > region)
    refusals.push_back(
        {last->where, fmt::format("partition '{}' has {} of ", partition.party.name, ways(region)),
         fmt::format(", and its groups name {} ({})", these_ways(required), join(names, ", "))});
}

// "ways 1-18 of p named by a" for each of them.
std::vector<std::string> named_members(const Exclusive& partition) {
  std::vector<std::string> out;
  for (const Party& member : partition.members)
    if (const Cbm* mask = named_ways(member))
      out.push_back(fmt::format("{} of {} named by {}", these_ways(*mask), partition.party.name,
                                member.name));
  return out;
}

// Everything that takes ways besides the exclusive parties that ask for a number of them. `filled`:
// the ways of devices, as the sentence has them.
std::vector<std::string> limits(const DomainRequest& request, const std::string& filled) {
  std::vector<std::string> out;
  const auto excludes = [&](bool region) {
    return std::ranges::any_of(request.exclusive, [&](const Exclusive& one) {
      return one.strict && one.region == region;
    });
  };
  if (!request.shareable.empty() && (excludes(false) || excludes(true)))
    out.push_back(fmt::format("{} also filled by {}, {}", filled, request.devices,
                              excludes(false) ? "which exclusive = \"strict\" excludes"
                                              : "where no region can be locked"));
  for (const Obstacle& obstacle : request.obstacles)
    if (!(obstacle.mask & request.all).empty())
      out.push_back(fmt::format("{} held by {}, which {}", obstacle.mask.count(), obstacle.name,
                                obstacle.why));
  for (const Party& party : request.shared)
    if (const Cbm* mask = named_ways(party))
      out.push_back(fmt::format("{} named by {}", mask->count(), party.name));
  for (const Exclusive& exclusive : request.exclusive)
    for (std::string& named : named_members(exclusive)) out.push_back(std::move(named));
  return out;
}

// For shares that add up to the whole cache: the default group needs a part of it.
std::string whole_cache_hint(const DomainRequest& request) {
  const auto found = std::ranges::find_if(
      request.exclusive, [](const Exclusive& one) { return !one.members.empty(); });
  return found == request.exclusive.end()
             ? "write less, or partitions, one of which [group.default] is in"
             : fmt::format("write less, or partition = \"{}\" in [group.default]",
                           found->party.name);
}

// Whether the ways that shared parties name are enough for the remainder, which has them too.
bool named_ways_leave(const DomainRequest& request, unsigned least) {
  const Cbm named = ways_named_by(request.shared);
  return request.sparse_masks ? named.count() >= least : lowest_run(named, least).has_value();
}

// The exclusive parties together are too many, or do not fit around what is fixed.
PlacementRefusal explain_exclusive(const DomainRequest& request, const Board& board,
                                   const std::vector<Piece>& pieces) {
  uint64_t sum = 0;
  std::vector<std::string> parties;
  for (const Exclusive& exclusive : request.exclusive) {
    sum += ways_asked(exclusive.party);
    parties.push_back(fmt::format("{} {}", exclusive.party.name, ways_asked(exclusive.party)));
  }
  const unsigned to_leave = request.least_remainder();
  const bool enough = enough_ways(board, pieces, to_leave);
  const bool named_are_left = named_ways_leave(request, to_leave);
  const std::string remainder =
      fmt::format(", and {} must be left to {}", to_leave, request.remainder_for);
  const std::string head =
      parties.empty()
          ? fmt::format("{} must be left to {}, but ", ways(to_leave), request.remainder_for)
          : fmt::format("{} asked for exclusively ({}), but ", ways(sum), join(parties, ", "));
  const Location where = !request.exclusive.empty() ? request.exclusive.back().party.where
                         : !request.shared.empty()  ? request.shared.front().where
                                                    : Location{};
  if (!enough) {
    std::string after = " " + ways(request.all.count());
    for (const std::string& limit :
         limits(request, fmt::format("{} of them", request.shareable.count())))
      after += ", " + limit;
    const bool strict = std::ranges::all_of(request.exclusive, &Exclusive::strict);
    const unsigned left = strict ? request.shareable.count() : 0;  // in any case
    const bool leaves_too_few = left < to_leave && !named_are_left && !parties.empty();
    if (leaves_too_few) after += remainder;
    const bool whole = leaves_too_few && sum == request.all.count() && parties.size() > 1 &&
                       request.remainder_for == "default";
    return {where, head, after, true, whole ? whole_cache_hint(request) : ""};
  }
  const std::string fixed = join(limits(request, these_ways(request.shareable)), ", ");
  const std::string left = to_leave > 0 && !named_are_left ? remainder : "";
  if (board.exclusive.contiguous() && !fixed.empty())
    return {where, head + "in ",
            fmt::format(" they do not fit around what is fixed: {}{}", fixed, left)};
  return {where, head + "in ",
          fmt::format(" the {} free ways are not side by side: {}{}{}{}", board.exclusive.count(),
                      these_ways(board.exclusive), fixed.empty() ? "" : ", ", fixed, left)};
}

// The holders of the ways that the remainder lacks: "b (6 ways)".
std::string holders(const DomainRequest& request) {
  std::vector<std::string> out;
  for (const Exclusive& exclusive : request.exclusive) {
    std::string size = ways(ways_asked(exclusive.party));
    for (const std::string& named : named_members(exclusive)) size += ", " + named;
    out.push_back(fmt::format("{} ({})", exclusive.party.name, size));
  }
  for (const Obstacle& obstacle : request.obstacles)
    if (obstacle.mask.overlaps(request.all))
      out.push_back(fmt::format("{} ({})", obstacle.name, ways(obstacle.mask.count())));
  return out.empty() ? "" : " beside " + join(out, ", ");
}

}  // namespace

unsigned ways_asked(const Party& party) {
  if (const Cbm* mask = named_ways(party)) return mask->count();
  const unsigned* count = number_of_ways(party);
  return count == nullptr ? 0 : *count;
}

Cbm ways_named_by(const std::vector<Party>& parties) {
  Cbm out;
  for (const Party& party : parties)
    if (const Cbm* mask = named_ways(party)) out = out | *mask;
  return out;
}

bool keeps_size(const Party& party, unsigned region) {
  const unsigned* count = number_of_ways(party);
  return named_ways(party) == nullptr &&
         party.previous.count() == (count == nullptr ? region : *count);
}

std::string these_ways(Cbm mask) {
  std::string list = way_list(mask);
  if (const size_t comma = list.rfind(','); comma != std::string::npos)
    list.replace(comma, 1, " and ");
  for (size_t comma = list.find(','); comma != std::string::npos; comma = list.find(',', comma + 2))
    list.replace(comma, 1, ", ");
  return (mask.count() == 1 ? "way " : "ways ") + list;
}

std::vector<PlacementRefusal> check_parties(const DomainRequest& request) {
  NamedWays named(request);
  const Party* owner = nullptr;
  for (const Exclusive& exclusive : request.exclusive) {
    if (!exclusive.other_half) owner = &exclusive.party;
    named.check_exclusive(exclusive.party, *owner, exclusive);
    for (const Party& member : exclusive.members) {
      if (named_ways(exclusive.party) == nullptr)
        named.check_exclusive(member, *owner, exclusive);
      else
        named.check_member(member, exclusive.party);
    }
  }
  for (const Party& party : request.shared) named.check_shared(party);
  if (!named.refusals.empty()) return std::move(named.refusals);
  for (const Exclusive& exclusive : request.exclusive)
    check_sizes(request, exclusive, named.refusals);
  return std::move(named.refusals);
}

bool enough_ways(const Board& board, const std::vector<Piece>& pieces, unsigned to_leave) {
  uint64_t asked = 0, outside = 0;
  for (const Piece& piece : pieces) {
    asked += piece.ways;
    outside += piece.strict ? piece.ways : piece.required.without(board.devices).count();
  }
  return asked <= board.exclusive.count() && asked + to_leave <= board.usable.count() &&
         outside <= board.exclusive.without(board.devices).count();
}

std::optional<unsigned> ways_left(const DomainRequest& request, const Board& board,
                                  const std::vector<Piece>& pieces) {
  auto left = largest_gap(board, pieces);
  if (request.sparse_masks) {
    unsigned asked = 0;
    for (const Piece& piece : pieces) asked += piece.ways;
    left =
        enough_ways(board, pieces, 0) ? std::optional(board.usable.count() - asked) : std::nullopt;
  }
  return left && *left >= request.least_remainder() ? left : std::nullopt;
}

std::vector<PlacementRefusal> explain(const DomainRequest& request, const Board& board,
                                      const std::vector<Piece>& pieces) {
  const auto left = ways_left(request, board, pieces);
  if (!left) return {explain_exclusive(request, board, pieces)};

  std::vector<PlacementRefusal> refusals;
  Cbm free = board.usable;
  if (const auto masks = arrange(board, pieces, *left))
    for (const Cbm mask : *masks) free = free.without(mask);
  for (const Party& party : request.shared) {
    const unsigned* count = number_of_ways(party);
    if (count == nullptr || *count <= *left) continue;
    const bool scattered = *count <= free.count() && !request.sparse_masks;
    refusals.push_back(
        {party.where, fmt::format("{}: {} does not fit in ", party.name, amount(party)),
         scattered ? fmt::format(": {} are free{}, but not side by side: {}", ways(free.count()),
                                 holders(request), these_ways(free))
                   : fmt::format(": {} {} left{}", ways(*left), *left == 1 ? "is" : "are",
                                 holders(request)),
         false,
         *count == request.all.count() ? "write \"all\": every way that the group may fill"
         : party.asked.contains("..")  ? ""
                                       : fmt::format("write \"{}\"", ways(*left))});
  }
  return refusals;
}

std::optional<PlacementRefusal> explain_region(const DomainRequest& request) {
  const Party& region = request.exclusive.back().party;
  if (const Cbm* mask = named_ways(region)) {
    if (mask->contiguous()) return std::nullopt;
    return PlacementRefusal{
        region.where,
        fmt::format("{}: '{}' has gaps; the ways of a region in ", region.name, region.asked),
        " must be side by side", false, write_as_many(*mask)};
  }
  Cbm free = request.all.without(request.shareable);
  for (const Obstacle& obstacle : request.obstacles) free = free.without(obstacle.mask);
  for (const Exclusive& exclusive : request.exclusive)
    free = free.without(ways_named_by({exclusive.party}) | ways_named_by(exclusive.members));
  free = free.without(ways_named_by(request.shared));
  // Without sparse masks, it was placed without gaps.
  if (!request.sparse_masks || lowest_run(free, *number_of_ways(region))) return std::nullopt;
  return PlacementRefusal{
      region.where, fmt::format("{}: {} does not fit in ", region.name, amount(region)),
      fmt::format(": {} are free, but not side by side: {}", ways(free.count()), these_ways(free))};
}

}  // namespace rdtd
