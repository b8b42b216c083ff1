// Why a request for the ways of one cache domain cannot be granted, in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arrangement.hpp"
#include "placement.hpp"

namespace rdtd {

// The ways that a party names, or null.
[[nodiscard]] inline const Cbm* named_ways(const Party& party) {
  return std::get_if<Cbm>(&party.want);
}
// The number of ways that a party asks for, or null.
[[nodiscard]] inline const unsigned* number_of_ways(const Party& party) {
  return std::get_if<unsigned>(&party.want);
}
// How many these are; 0 of a party that asks for all of the region.
[[nodiscard]] unsigned ways_asked(const Party& party);
// All ways that one of the parties names.
[[nodiscard]] Cbm ways_named_by(const std::vector<Party>& parties);
// Whether a party in a region of so many ways asks for as many as it has, and names none.
[[nodiscard]] bool keeps_size(const Party& party, unsigned region);

// "way 3", "ways 0-2 and 6-7".
[[nodiscard]] std::string these_ways(Cbm mask);

// The errors of named ways, each alone and against the others, and of groups that do not fit in
// their partition whatever its place.
[[nodiscard]] std::vector<PlacementRefusal> check_parties(const DomainRequest& request);

// Whether the pieces find enough ways if they may have gaps.
[[nodiscard]] bool enough_ways(const Board& board, const std::vector<Piece>& pieces,
                               unsigned to_leave);

// The ways that the pieces leave to the other parties, side by side, or, with sparse masks, at all;
// nothing if the pieces do not fit.
[[nodiscard]] std::optional<unsigned> ways_left(const DomainRequest& request, const Board& board,
                                                const std::vector<Piece>& pieces);

// Why no arrangement of these pieces leaves the ways that the other parties need.
[[nodiscard]] std::vector<PlacementRefusal> explain(const DomainRequest& request,
                                                    const Board& board,
                                                    const std::vector<Piece>& pieces);

// Why the last exclusive party of a request that can be granted is no region that can be locked: it
// has gaps. Nothing if that is not why.
[[nodiscard]] std::optional<PlacementRefusal> explain_region(const DomainRequest& request);

}  // namespace rdtd
