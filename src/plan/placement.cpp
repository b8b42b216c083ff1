#include "placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "arrangement.hpp"
#include "halves.hpp"
#include "placement_refusals.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

bool is_mask(Cbm mask, bool sparse_masks) {
  return mask.contiguous() || (sparse_masks && !mask.empty());
}

Board make_board(const DomainRequest& request) {
  Board board{.usable = request.all,
              .exclusive = {},
              .min_ways = request.sparse_masks ? 1 : request.min_ways,
              .places = {},
              .devices = {},
              .others = request.others};
  for (const Obstacle& obstacle : request.obstacles)
    board.usable = board.usable.without(obstacle.mask);
  for (const Exclusive& exclusive : request.exclusive)
    if (const Cbm* mask = named_ways(exclusive.party)) board.usable = board.usable.without(*mask);
  board.exclusive = board.usable;
  if (std::ranges::all_of(request.exclusive, &Exclusive::strict))
    board.exclusive = board.usable.without(request.shareable);
  else
    board.devices = request.shareable;
  for (const Party& party : request.shared) {
    if (const Cbm* mask = named_ways(party))
      board.exclusive = board.exclusive.without(*mask);
    else if (const unsigned* count = number_of_ways(party);
             count != nullptr && party.previous.contiguous() && party.previous.count() == *count &&
             board.usable.contains(party.previous))
      board.places.push_back(party.previous);
  }
  return board;
}

// Partitions whose members have several places take the search time (arrangement.hpp); of more
// than this many, only the first member that can keep its place counts.
constexpr size_t max_partitions_apart = 3;

// The places of a partition's members that a piece of it can contain.
std::vector<Cbm> places_of_members(const DomainRequest& request, const Board& board,
                                   const Exclusive& partition, const Piece& piece) {
  std::vector<Cbm> places;
  for (const Party& member : partition.members) {
    if (!is_mask(member.previous, request.sparse_masks) || !keeps_size(member, piece.ways))
      continue;
    const Cbm together = piece.required | member.previous;
    const unsigned span =
        request.sparse_masks ? together.count() : together.highest() - together.lowest() + 1;
    if (span <= piece.ways && board.exclusive.contains(together)) places.push_back(member.previous);
  }
  return places;
}

// The exclusive parties that ask for a number of ways, in their order.
std::vector<Piece> make_pieces(const DomainRequest& request, const Board& board) {
  std::vector<Piece> pieces;
  size_t apart = 0;
  for (const Exclusive& exclusive : request.exclusive) {
    const unsigned* count = number_of_ways(exclusive.party);
    if (count == nullptr) continue;
    Piece& piece = pieces.emplace_back(
        Piece{.ways = *count, .required = {}, .places = {}, .strict = exclusive.strict});
    piece.required = ways_named_by(exclusive.members);
    const Cbm previous = exclusive.party.previous;
    if (!exclusive.members.empty())
      piece.places = places_of_members(request, board, exclusive, piece);
    else if (is_mask(previous, request.sparse_masks) && previous.count() == *count &&
             board.exclusive.contains(previous))
      piece.places = {previous};
    if (piece.places.size() > 1 && ++apart > max_partitions_apart) piece.places.resize(1);
  }
  return pieces;
}

// The ways that must be left side by side, or, with sparse masks, that must be left at all.
unsigned ways_to_leave(const DomainRequest& request) {
  unsigned ways = request.least_remainder();
  for (const Party& party : request.shared)
    if (const unsigned* count = number_of_ways(party)) ways = std::max(ways, *count);
  return ways;
}

// The masks of the pieces: contiguous, and where sparse masks are possible, only as a last resort
// otherwise.
std::optional<std::vector<Cbm>> place_pieces(const DomainRequest& request, const Board& board,
                                             const std::vector<Piece>& pieces) {
  const unsigned to_leave = ways_to_leave(request);
  if (auto masks = arrange(board, pieces, to_leave)) return masks;
  if (!request.sparse_masks) return std::nullopt;
  if (!enough_ways(board, pieces, to_leave)) return std::nullopt;
  if (auto masks = arrange(board, pieces, 0)) return masks;
  return scatter(board, pieces);
}

// The masks of the exclusive parties, in their order.
std::optional<std::vector<Cbm>> place_exclusive(const DomainRequest& request) {
  Cbm named_by_others;
  for (const Exclusive& exclusive : request.exclusive) {
    const Cbm* named = named_ways(exclusive.party);
    if (named == nullptr) continue;
    if (named->overlaps(named_by_others)) return std::nullopt;
    named_by_others = named_by_others | *named;
  }
  const Board board = make_board(request);
  const auto masks = place_pieces(request, board, make_pieces(request, board));
  if (!masks) return std::nullopt;
  std::vector<Cbm> out;
  auto next = masks->begin();
  for (const Exclusive& exclusive : request.exclusive) {
    const Cbm* named = named_ways(exclusive.party);
    out.push_back(named != nullptr ? *named : *next++);
  }
  return out;
}

// If there are enough ways, but not side by side: the request of one exclusive party that does not
// fit although no other one asks for a number of ways. Else the request itself.
DomainRequest of_whom_it_fails(const DomainRequest& request) {
  const Board whole = make_board(request);
  if (!enough_ways(whole, make_pieces(request, whole), request.least_remainder())) return request;
  const auto is_movable = [](const Exclusive& one) { return number_of_ways(one.party) != nullptr; };
  for (const Exclusive& one : request.exclusive) {
    if (!is_movable(one)) continue;
    DomainRequest alone = request;
    std::erase_if(alone.exclusive, is_movable);
    alone.exclusive.push_back(one);
    const Board board = make_board(alone);
    if (!ways_left(alone, board, make_pieces(alone, board))) return alone;
  }
  return request;
}

// `last`: the last of the requests that were tried for this one.
std::vector<PlacementRefusal> explain_refusal(const DomainRequest& request,
                                              const DomainRequest& last) {
  const DomainRequest failed = of_whom_it_fails(last);
  const Board board = make_board(failed);
  auto refusals = explain(failed, board, make_pieces(failed, board));
  if (!refusals.empty()) return refusals;
  // Only halves that name ways come here: each of their masks is possible, but not all together.
  std::vector<std::string> names;
  Location where;
  for (const Exclusive& exclusive : request.exclusive) {
    if (!exclusive.other_half) continue;
    names.push_back(exclusive.party.name);
    where = exclusive.party.where;
  }
  return {
      {where,
       fmt::format("the code and data of {} cannot be placed around the ways that are named in ",
                   join(names, ", ")),
       ""}};
}

struct ExclusiveMasks {
  std::vector<Cbm> masks;  // in the order of the request
  Cbm usable;              // ways that no obstacle takes, nor an exclusive mask that is named
};

// Masks without gaps come first, if there can be gaps.
std::expected<ExclusiveMasks, std::vector<PlacementRefusal>> place_halves(
    const DomainRequest& request) {
  if (request.sparse_masks && std::ranges::any_of(request.exclusive, &Exclusive::other_half)) {
    DomainRequest without_gaps = request;
    without_gaps.sparse_masks = false;
    if (auto placed = place_halves(without_gaps)) return placed;
  }
  Halves halves(request);
  auto masks = place_exclusive(halves.request());
  // Of those with the most halves together, the first one needs the fewest ways.
  DomainRequest least = masks ? DomainRequest{} : halves.request();
  while (!masks && halves.next()) {
    masks = place_exclusive(halves.request());
    if (halves.request().exclusive.size() < least.exclusive.size()) least = halves.request();
  }
  if (!masks) return std::unexpected(explain_refusal(request, least));
  return ExclusiveMasks{halves.split(*masks), make_board(halves.request()).usable};
}

// Places parties that share a region. Each fits in it.
class Sharing {
 public:
  Sharing(Cbm region, const DomainRequest& request) : region_(region), request_(request) {}

  // Side by side if there is room for all of them, and then so that the most keep their places.
  std::vector<Cbm> place(const std::vector<Party>& parties) {
    std::vector<Cbm> masks(parties.size());
    std::vector<size_t> movable;
    std::vector<Piece> pieces;
    Cbm unnamed = region_;
    for (size_t i = 0; i < parties.size(); i++) {
      if (const Cbm* named = named_ways(parties[i])) {
        masks[i] = *named;
        unnamed = unnamed.without(*named);
        use(*named, 1);
      } else if (const unsigned* count = number_of_ways(parties[i])) {
        movable.push_back(i);
        pieces.push_back({.ways = *count, .required = {}, .places = {}});
        if (const Cbm place = parties[i].previous; place.contiguous() && place.count() == *count)
          pieces.back().places = {place};
      } else {
        masks[i] = whole();  // it takes all and leaves the others their room
      }
    }
    const Board board{.usable = unnamed,
                      .exclusive = unnamed,
                      .min_ways = 1,
                      .places = {},
                      .devices = {},
                      .others = request_.others};
    if (const auto side_by_side = arrange(board, pieces, 0))
      for (size_t i = 0; i < movable.size(); i++) masks[movable[i]] = (*side_by_side)[i];
    else
      overlap(parties, movable, masks);
    return masks;
  }

  [[nodiscard]] Cbm whole() const { return request_.sparse_masks ? region_ : longest_run(region_); }

 private:
  // Each keeps its place, or gets the ways with the fewest others, until none can move to ways with
  // fewer. That ends: each move makes the sum of all overlaps smaller.
  void overlap(const std::vector<Party>& parties, const std::vector<size_t>& movable,
               std::vector<Cbm>& masks) {
    for (const size_t i : movable) {
      const Cbm place = parties[i].previous;
      const unsigned count = *number_of_ways(parties[i]);
      if (place.count() == count && region_.contains(place) &&
          (place.contiguous() || !lowest_run(region_, count)))
        masks[i] = place;
      use(masks[i], 1);
    }
    for (const size_t i : movable) {
      if (!masks[i].empty()) continue;
      masks[i] = emptiest(*number_of_ways(parties[i]));
      use(masks[i], 1);
    }
    for (bool moved = true; std::exchange(moved, false);)
      for (const size_t i : std::views::reverse(movable)) {
        use(masks[i], -1);
        if (const Cbm best = emptiest(masks[i].count()); users_of(best) < users_of(masks[i])) {
          masks[i] = best;
          moved = true;
        }
        use(masks[i], 1);
      }
  }

  void use(Cbm mask, int by) {
    for (unsigned way = 0; way < users_.size(); way++)
      if (mask.contains(Cbm::range(way, 1))) users_.at(way) += by;
  }
  [[nodiscard]] int users_of(Cbm mask) const {
    int sum = 0;
    for (unsigned way = 0; way < users_.size(); way++)
      if (mask.contains(Cbm::range(way, 1))) sum += users_.at(way);
    return sum;
  }
  // Of the masks with the fewest users one that meets the fewest masks of others, the lowest.
  [[nodiscard]] Cbm emptiest(unsigned count) const {
    Cbm best;
    for (unsigned way = 0; way + count <= users_.size(); way++)
      if (const Cbm mask = Cbm::range(way, count);
          region_.contains(mask) && (best.empty() || worse(best, mask)))
        best = mask;
    if (!best.empty()) return best;
    // Only with gaps.
    for (Cbm left = region_; best.count() < count;) {
      Cbm next = Cbm::range(left.lowest(), 1);
      for (unsigned way = next.lowest(); way < users_.size(); way++)
        if (const Cbm one = Cbm::range(way, 1);
            left.contains(one) && users_of(one) < users_of(next))
          next = one;
      best = best | next;
      left = left.without(next);
    }
    return best;
  }

  [[nodiscard]] bool worse(Cbm mask, Cbm than) const {
    const auto met = [&](Cbm one) {
      return std::ranges::count_if(request_.others, [&](Cbm other) { return other.overlaps(one); });
    };
    return std::pair(users_of(mask), met(mask)) > std::pair(users_of(than), met(than));
  }

  Cbm region_;
  const DomainRequest& request_;
  std::array<int, 32> users_{};  // of each way: groups that ask for ways
};

// Masks for the request as it stands, with the ways of devices for those that are not strict.
std::expected<DomainPlacement, std::vector<PlacementRefusal>> place_once(
    const DomainRequest& request) {
  auto exclusive = place_halves(request);
  if (!exclusive) return std::unexpected(std::move(exclusive.error()));
  DomainPlacement out;
  out.exclusive = std::move(exclusive->masks);
  Cbm left = exclusive->usable;
  for (size_t i = 0; i < request.exclusive.size(); i++) {
    const Cbm mask = out.exclusive[i];
    left = left.without(mask);
    out.members.push_back(Sharing(mask, request).place(request.exclusive[i].members));
  }
  Sharing remainder(left, request);
  out.remainder = remainder.whole();
  out.shared = remainder.place(request.shared);
  return out;
}

// The same request once the groups have the masks that they were granted.
DomainRequest after(DomainRequest request, const DomainPlacement& placement) {
  for (size_t i = 0; i < request.exclusive.size(); i++) {
    Exclusive& one = request.exclusive[i];
    if (!one.party.previous.empty()) one.party.previous = placement.exclusive[i];  // no partition
    for (size_t j = 0; j < one.members.size(); j++)
      one.members[j].previous = placement.members[i][j];
  }
  for (size_t i = 0; i < request.shared.size(); i++)
    request.shared[i].previous = placement.shared[i];
  return request;
}

// Until the result stays the same.
std::expected<DomainPlacement, std::vector<PlacementRefusal>> place_as_asked(
    const DomainRequest& request) {
  if (auto refusals = check_parties(request); !refusals.empty())
    return std::unexpected(std::move(refusals));
  auto placed = place_once(request);
  // A group that did not keep its place may have been what held a partition in its place.
  const bool partitions = std::ranges::any_of(
      request.exclusive, [](const Exclusive& one) { return !one.members.empty(); });
  for (unsigned turn = 0; partitions && placed && turn < 32; turn++) {
    auto again = place_once(after(request, *placed));
    if (!again || *again == *placed) break;
    placed = std::move(again);
  }
  return placed;
}

}  // namespace

std::expected<DomainPlacement, std::vector<PlacementRefusal>> place(const DomainRequest& request) {
  if (request.shareable.empty() || std::ranges::all_of(request.exclusive, &Exclusive::strict))
    return place_as_asked(request);
  DomainRequest outside = request;
  for (Exclusive& exclusive : outside.exclusive) exclusive.strict = true;
  if (auto placed = place_as_asked(outside)) return placed;
  return place_as_asked(request);
}

}  // namespace rdtd
