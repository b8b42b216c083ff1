#include "unified_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(const std::string& text) {
  Lines out = split(text, '\n');
  out.pop_back();  // behind the last newline
  return out;
}

// How many lines the two have in common from each pair of lines on.
std::vector<std::vector<size_t>> lines_in_common(const Lines& before, const Lines& after) {
  std::vector<std::vector<size_t>> out(before.size() + 1, std::vector<size_t>(after.size() + 1));
  for (size_t i = before.size(); i-- > 0;)
    for (size_t j = after.size(); j-- > 0;)
      out[i][j] =
          before[i] == after[j] ? out[i + 1][j + 1] + 1 : std::max(out[i + 1][j], out[i][j + 1]);
  return out;
}

// "1,3" of three lines.
std::string range(const Lines& lines) {
  return lines.size() == 1 ? "1" : fmt::format("{},{}", lines.empty() ? 0 : 1, lines.size());
}

}  // namespace

std::string unified_diff(const std::string& file, const std::string& before,
                         const std::string& after) {
  if (before == after) return {};
  const Lines old = lines_of(before), now = lines_of(after);
  const auto common = lines_in_common(old, now);
  std::string out =
      fmt::format("--- {}\n+++ {}\n@@ -{} +{} @@\n", before.empty() ? "/dev/null" : file,
                  after.empty() ? "/dev/null" : file, range(old), range(now));
  for (size_t i = 0, j = 0; i < old.size() || j < now.size();) {
    if (i < old.size() && j < now.size() && old[i] == now[j]) {
      out += fmt::format(" {}\n", old[i++]);
      j++;
    } else if (j == now.size() || (i < old.size() && common[i + 1][j] >= common[i][j + 1])) {
      out += fmt::format("-{}\n", old[i++]);
    } else {
      out += fmt::format("+{}\n", now[j++]);
    }
  }
  return out;
}

}  // namespace rdtd
