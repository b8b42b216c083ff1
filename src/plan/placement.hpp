// Placement: which ways of one cache domain each party gets. Pure; knows nothing of groups, files
// or resources.
//
// A request is granted if and only if a placement exists. The only hard part is the search for the
// ways of exclusive parties, which is in arrangement.hpp: everything else follows from it. What
// the search leaves is the remainder, and any party that fits in its longest run fits, because the
// parties in it may overlap.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rdtd/base/located.hpp"
#include "rdtd/model/cbm.hpp"

namespace rdtd {

struct Whole {};                                  // all of the region
using Want = std::variant<Whole, unsigned, Cbm>;  // a number of ways, or exactly these ways

struct Party {
  std::string name;
  Location where;     // of the amount
  std::string asked;  // as written
  Want want;
  Cbm previous;  // what it holds now; empty if nothing or not known
};

// An exclusive group, or a partition with its groups. It wants a number of ways or named ways.
// Outside of the ways that devices fill if all of them have room there; otherwise as many as
// possible, and each strict one.
struct Exclusive {
  Party party;
  std::vector<Party> members;  // of a partition
  // Data, and the entry before it is the code of the same party: the two may share ways.
  bool other_half = false;
  bool strict = false;
  bool region = false;  // pseudo-locked: it is strict, and messages do not call it so
};

struct Obstacle {
  std::string name;  // "group 'x'"
  Cbm mask;
  std::string why = "rdtd did not make";  // it stays: "which ..."
};

struct DomainRequest {
  Cbm all;
  Cbm shareable;  // ways that I/O devices fill too
  std::string devices = "I/O devices";
  unsigned min_ways = 1;  // the fewest ways that a mask may have, at least 1
  bool sparse_masks = false;
  std::vector<Obstacle> obstacles;
  std::vector<Cbm> others;  // masks of other tools' groups that are no obstacles: better avoided
  std::vector<Exclusive> exclusive;  // nobody else may fill their ways
  std::vector<Party> shared;         // lie in the remainder
  // The group that uses the remainder: the default group if it lies there, else another; empty:
  // none.
  std::string remainder_for = "default";

  // The fewest ways side by side that must not be exclusive.
  [[nodiscard]] unsigned least_remainder() const { return remainder_for.empty() ? 0 : min_ways; }
};

struct DomainPlacement {
  std::vector<Cbm> exclusive;             // in the order of the request
  std::vector<std::vector<Cbm>> members;  // of each exclusive party
  std::vector<Cbm> shared;                // in the order of the request
  Cbm remainder;                          // the mask of a group that uses all that is left
  bool operator==(const DomainPlacement&) const = default;
};

// A refusal names the domain in the middle of its sentence: BEFORE "L3 domain 0" AFTER, or, if the
// domain is the subject, BEFORE "L3 domain 0 has" AFTER.
struct PlacementRefusal {
  Location where;
  std::string before;
  std::string after;
  bool has = false;
  std::string hint = {};
  auto operator<=>(const PlacementRefusal&) const = default;
};

// The refusals name every party.
[[nodiscard]] std::expected<DomainPlacement, std::vector<PlacementRefusal>> place(
    const DomainRequest& request);

}  // namespace rdtd
