#include "sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace rdtd {

std::string sparkline(std::span<const std::optional<double>> values, double most, bool utf8) {
  static constexpr std::array<const char*, 8> blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::string_view ascii = "_.,-=+*#";
  std::string out;
  for (const auto& value : values) {
    if (!value) {
      out += ' ';
      continue;
    }
    const double part = most > 0 ? *value / most : 0;
    const size_t level = std::min<size_t>(7, static_cast<size_t>(std::lround(part * 7)));
    if (utf8)
      out += blocks[level];
    else
      out += ascii[level];
  }
  return out;
}

}  // namespace rdtd
