// Halves: an exclusive group or a partition asks for the code and the data of one cache separately
// (CDP). Nobody else may fill the ways of either half, but the two may share ways: they are one
// footprint. This turns a request with halves into requests without, so that the search need not
// know them. Pure.
//
// If both halves ask for a number of ways, one piece with the ways of the larger half is the least
// that holds both. Halves that name ways, or hold groups that do, are tried mask by mask.
#pragma once

#include <utility>
#include <vector>

#include "placement.hpp"

namespace rdtd {

class Halves {
 public:
  explicit Halves(const DomainRequest& request);

  // The request to try: first with all halves beside each other, then with more and more of them in
  // the fewest ways, from the last to the first.
  [[nodiscard]] const DomainRequest& request() const { return current_; }
  // Goes on to the next request. False if there is none; then the last one stays.
  bool next();
  // The masks of the exclusive parties of the original request, from those of request().
  [[nodiscard]] std::vector<Cbm> split(const std::vector<Cbm>& masks) const;

 private:
  using Masks = std::pair<Cbm, Cbm>;
  struct Pair {
    size_t first = 0;         // of the two, in the original request
    bool together = false;    // in the fewest ways
    std::vector<Masks> ways;  // to try if together; empty: in one piece of the larger number
    size_t chosen = 0;
  };
  [[nodiscard]] std::vector<Masks> ways_to_try(const Exclusive& one, const Exclusive& other) const;
  void build();

  const DomainRequest& original_;
  DomainRequest current_;
  std::vector<Pair> pairs_;
  unsigned tried_ = 0;
};

}  // namespace rdtd
