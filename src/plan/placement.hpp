// Placement: which ways of one cache domain each party gets. Pure; knows nothing of groups, files
// or resources.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rdtd/base/located.hpp"
#include "rdtd/model/cbm.hpp"

namespace rdtd {

struct Whole {};                                  // all of the region
using Want = std::variant<Whole, unsigned, Cbm>;  // a number of ways, or these very ways

struct Party {
  std::string name;
  Location where;  // of the amount
  std::string asked;
  Want want;
  Cbm previous;  // what it holds now; empty where nothing or not known
};

struct Obstacle {
  std::string name;  // of another tool's group
  Cbm mask;
};

struct DomainRequest {
  Cbm all;
  Cbm shareable;  // ways that I/O devices fill too
  unsigned min_cbm_bits = 1;
  bool sparse_masks = false;
  std::vector<Obstacle> obstacles;
  std::vector<Party> exclusive;  // nobody else may fill their ways
  std::vector<Party> shared;     // lie in the remainder
  bool remainder_needed = true;  // somebody uses the remainder
};

struct DomainPlacement {
  std::vector<Cbm> exclusive;  // in the order of the request
  std::vector<Cbm> shared;     // likewise
  Cbm remainder;
};

// A refusal names the domain in the middle of its sentence: BEFORE "L3 domain 0" AFTER.
struct Refusal {
  Location where;
  std::string before;
  std::string after;
};

// What keeps an explicit mask from being one of this cache, if anything does.
[[nodiscard]] std::optional<Refusal> mask_problem(const Party& party, Cbm mask, Cbm all,
                                                  unsigned min_cbm_bits, bool sparse_masks);

[[nodiscard]] std::expected<DomainPlacement, std::vector<Refusal>> place(
    const DomainRequest& request);

// Parties that share a region: side by side while there is room, then overlapping. `region_name` is
// for the refusal.
[[nodiscard]] std::expected<std::vector<Cbm>, std::vector<Refusal>> place_shared(
    Cbm region, bool sparse_masks, const std::vector<Party>& parties,
    const std::string& region_name);

}  // namespace rdtd
