// Halves: an exclusive group or a partition asks for the code and the data of one cache separately
// (CDP). Nobody else may fill the ways of either half, but the two may share ways: they are one
// footprint. This turns a request with halves into requests without, so that the search need not
// know them. Pure.
//
// If both halves ask for a number of ways, one piece with the ways of the larger half is the least
// that holds both. Halves that name ways, or hold groups that do, are tried mask by mask; with
// sparse masks one piece that contains these ways suffices for them too.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "placement.hpp"

namespace rdtd {

class Halves {
 public:
  // Combinations of masks that are tried for the halves that name ways.
  static constexpr size_t most_combinations = 10'000;

  // `request` must live as long as this.
  explicit Halves(const DomainRequest& request);

  // The request to try: first with the masks that the groups have, then with all halves beside each
  // other, then with more and more of them in the fewest ways, from the last to the first.
  [[nodiscard]] const DomainRequest& request() const { return current_; }
  // Goes on to the next request. False if there is none; then the last one stays.
  bool next();
  // The masks of the exclusive parties of the original request, from those of request().
  [[nodiscard]] std::vector<Cbm> split(const std::vector<Cbm>& masks) const;

 private:
  struct Masks {
    Cbm one, other;
    [[nodiscard]] Cbm both() const { return one | other; }
    bool operator==(const Masks&) const = default;
  };
  struct Pair {
    size_t first = 0;         // of the two, in the original request
    bool as_before = false;   // the masks that the group has would do
    bool together = false;    // in the fewest ways
    std::vector<Masks> ways;  // to try if together; empty: in one piece
    size_t chosen = 0;
  };
  // Whether one entry of request() stands for both halves.
  [[nodiscard]] bool joined(const Pair& pair) const {
    return pair.together || (as_before_ && pair.as_before);
  }
  [[nodiscard]] Cbm usable_by(const Exclusive& one, const Exclusive& other) const;
  [[nodiscard]] bool fits_as_before(const Exclusive& one, const Exclusive& other) const;
  [[nodiscard]] std::vector<Masks> ways_to_try(const Exclusive& one, const Exclusive& other) const;
  [[nodiscard]] unsigned least_ways() const;
  void combine();
  void choose(const std::vector<size_t>& combination);
  void combine_from(size_t pair, Cbm taken, std::set<std::pair<size_t, uint32_t>>& seen,
                    std::vector<size_t>& chosen);
  [[nodiscard]] unsigned kept(const std::vector<size_t>& chosen) const;
  void build();

  const DomainRequest& original_;
  DomainRequest current_;
  std::vector<Pair> pairs_;
  std::vector<std::vector<size_t>> combinations_;  // for each pair, the number of its masks
  size_t next_combination_ = 0;
  bool as_before_ = false;  // the masks that the groups have are being tried
};

}  // namespace rdtd
