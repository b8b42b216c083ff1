#include "rdtd/experiment/order.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace rdtd::experiment {

std::vector<Run> order_of_runs(size_t conditions, size_t rounds, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<size_t> round(conditions);
  std::iota(round.begin(), round.end(), 0);
  std::vector<Run> out;
  for (const size_t condition : round) out.push_back({condition, true});
  for (size_t i = 0; i < rounds; ++i) {
    std::ranges::shuffle(round, random);
    for (const size_t condition : round) out.push_back({condition, false});
  }
  return out;
}

}  // namespace rdtd::experiment
