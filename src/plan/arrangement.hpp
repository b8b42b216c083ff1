// Arrangement: the exact search for the ways of the exclusive pieces of one cache domain. Pure; it
// knows only masks, and nothing of groups, amounts or messages.
//
// The search sweeps the ways from the lowest to the highest. At each way it places a piece, places
// the gap (the ways side by side that must be left to the others), or leaves the way to the others.
// It is exact because it considers every choice, and bounded because a state is only the way it has
// reached, the end of the last piece, which sizes are still to be placed, and two flags: pieces of
// the same size are interchangeable, unless they have several places, and equal states are solved
// once. All sizes together are at most 32 ways, so there are at most about 25,000 states, twice as
// many for each piece with several places, and usually far fewer.
#pragma once

#include <optional>
#include <vector>

#include "rdtd/model/cbm.hpp"

namespace rdtd {

// A number of ways for one exclusive group or partition.
struct Piece {
  unsigned ways = 1;
  Cbm required;  // ways that it must contain; empty: none
  // Masks that groups have now: of an exclusive group its own, of a partition those of its members.
  // A group keeps its place if the piece contains it; of a contiguous piece, only contiguous places
  // count.
  std::vector<Cbm> places;
  bool strict = false;  // takes no way that devices fill
};

struct Board {
  Cbm usable;             // ways that neither an obstacle nor a named exclusive mask takes
  Cbm exclusive;          // of these, the ways that a piece may take
  unsigned min_ways = 1;  // the fewest ways that a mask may have
  // Contiguous masks of the other groups: such a group keeps its place if no piece takes one of
  // these ways.
  std::vector<Cbm> places;
  Cbm devices = {};  // ways that devices also fill, and that pieces should avoid
  // Masks of groups of other tools, which pieces should not meet.
  std::vector<Cbm> others = {};
};

// Contiguous masks for the pieces, in their order, which leave at least `gap` usable ways side by
// side. Nothing if there are none. Of all such arrangements, this is the one that, in this order of
// importance,
// - has the fewest pieces, and then ways of pieces, that devices also fill,
// - keeps the most places,
// - has the fewest pairs of a piece and a mask of others that overlap,
// - leaves no unusable fragment (fewer than min_ways ways) as the lowest ways that are left,
// - has the lowest highest way,
// - leaves the most ways side by side,
// - has its pieces lowest, and in the order given.
[[nodiscard]] std::optional<std::vector<Cbm>> arrange(const Board& board,
                                                      const std::vector<Piece>& pieces,
                                                      unsigned gap);

// The largest gap that an arrangement can leave. Nothing if there is no arrangement.
[[nodiscard]] std::optional<unsigned> largest_gap(const Board& board,
                                                  const std::vector<Piece>& pieces);

// Masks for pieces of which no contiguous arrangement exists, on a machine that takes sparse masks:
// piece by piece contiguous if such a mask is left, else in its place, else the lowest ways. The
// pieces must not ask for more ways than there are, the strict ones not for more than devices and
// the required ways of others leave, and their required ways must not overlap.
[[nodiscard]] std::vector<Cbm> scatter(const Board& board, const std::vector<Piece>& pieces);

}  // namespace rdtd
