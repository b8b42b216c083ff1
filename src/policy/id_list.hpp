// IdList: numbers of CPUs or domains as a policy lists them, "0-3,8". They are kept as ranges, so
// that a short text cannot stand for more than it can hold.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

struct IdRange {
  uint32_t first = 0;
  uint32_t last = 0;
  bool operator==(const IdRange&) const = default;
};

// Ascending, without overlaps.
using IdList = std::vector<IdRange>;

// Numbers and ranges with commas between them, at least one. The error says why `text` is none.
[[nodiscard]] std::expected<IdList, std::string> parse_id_list(std::string_view text,
                                                               uint32_t highest);
// The list that was probably meant: "0-3,8" of "0..3; 8", "0 to 3 and 8"; nothing if that is not
// clear, or `text` is a list itself.
[[nodiscard]] std::optional<std::string> id_list_meant(std::string_view text, uint32_t highest);
// Ranges in any order; those that touch or overlap become one.
[[nodiscard]] IdList merge_ids(std::vector<IdRange> ranges);
// The first part of `ids` that is not in `among`; nothing if all of them are.
[[nodiscard]] std::optional<IdRange> first_missing(const IdList& ids, const IdList& among);
[[nodiscard]] uint64_t count_ids(const IdList& ids);
// "3" or "4-7".
[[nodiscard]] std::string to_string(IdRange range);

}  // namespace rdtd
