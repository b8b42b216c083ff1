// sparkline: a curve in one line of text, for `history` and `top`.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace rdtd {

// A column for each value, from the least possible, 0, to `most`. A gap is a blank.
[[nodiscard]] std::string sparkline(std::span<const std::optional<double>> values, double most,
                                    bool utf8);

}  // namespace rdtd
