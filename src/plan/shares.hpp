// Percentages of a cache's ways that add up to exactly all of it. Pure.
#pragma once

#include <optional>
#include <vector>

#include "placement.hpp"

namespace rdtd {

// Percentages of the exclusive parties that add up to exactly 100 get exactly all ways: those of
// the code, and those of the data. A party that asks for both at once counts as each.
// `percents`: of each party, if it asks for a percentage.
void share_exactly(std::vector<Exclusive>& parties,
                   const std::vector<std::optional<double>>& percents, unsigned total,
                   unsigned min_ways);

}  // namespace rdtd
