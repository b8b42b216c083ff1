// The earliest place in a text where a part of a glob without `*` matches, in one pass: what stands
// at one place is compared with all elements at once. A search that begins again at each place
// costs the size of the part times the size of the text, and unprivileged users choose the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rdtd {

struct GlobScan {
  std::optional<size_t> end;  // of the match; nothing if there is none
  uint64_t steps = 0;
};

// `at_end`: only a match counts that ends where the text does. Nothing if the part has more
// elements than can be compared at once.
[[nodiscard]] std::optional<GlobScan> scan_glob(std::string_view part, std::string_view text,
                                                bool at_end);

}  // namespace rdtd
