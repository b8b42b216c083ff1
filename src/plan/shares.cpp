#include "shares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rdtd {

namespace {

// Each share is rounded down, but to no fewer ways than a mask must have; then ways are added where
// the most is missing, or taken where there is the most in excess. Ties go to the first.
std::vector<unsigned> exact_shares(const std::vector<double>& percents, unsigned total,
                                   unsigned min_ways) {
  std::vector<unsigned> ways(percents.size());
  std::vector<double> missing(percents.size());
  unsigned given = 0;
  for (size_t i = 0; i < percents.size(); i++) {
    const double exact = total * percents[i] / 100;
    ways[i] = std::max(min_ways, static_cast<unsigned>(std::floor(exact + 1e-9)));
    missing[i] = exact - ways[i];
    given += ways[i];
  }
  const auto change = [&](size_t i, int by) {
    ways[i] += static_cast<unsigned>(by);
    missing[i] -= by;
    given += static_cast<unsigned>(by);
  };
  while (given < total)
    change(static_cast<size_t>(std::ranges::max_element(missing) - missing.begin()), 1);
  while (given > total) {
    size_t most = 0;
    for (size_t i = 1; i < ways.size(); i++)
      if (ways[i] > min_ways && (ways[most] == min_ways || missing[i] <= missing[most])) most = i;
    change(most, -1);
  }
  return ways;
}

}  // namespace

void share_exactly(std::vector<Exclusive>& parties,
                   const std::vector<std::optional<double>>& percents, unsigned total,
                   unsigned min_ways) {
  std::vector<bool> shared(parties.size());
  for (const bool data : {false, true}) {
    std::vector<double> shares;
    std::vector<size_t> those;
    for (size_t i = 0; i < parties.size(); i++) {
      const bool code = i + 1 < parties.size() && parties[i + 1].other_half;
      if (data ? code : parties[i].other_half) continue;
      those.push_back(i);
      shares.push_back(percents[i].value_or(std::nan("")));
    }
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    if (those.empty() || !(std::abs(sum - 100) <= 1e-9) || those.size() * min_ways > total)
      continue;
    const std::vector<unsigned> ways = exact_shares(shares, total, min_ways);
    // Parties that code and data have in common get the ways of the code.
    for (size_t i = 0; i < those.size(); i++)
      if (!shared[those[i]]) parties[those[i]].party.want = ways[i];
    for (const size_t i : those) shared[i] = true;
  }
}

}  // namespace rdtd
