// Hints for an unknown key whose value is an amount.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "unknown_key.hpp"

namespace rdtd {

// The kinds of amounts that the table of an unknown key may have. `keys`: those of the table.
struct AmountsOfTable {
  bool of_group = false;  // ranges, and bandwidth besides caches
  bool of_region = false;
  bool of_l2 = false;

  AmountsOfTable(const UnknownKey& unknown, std::span<const std::string> keys);
};

// "write l3 = "4 MiB"" of an amount that only one of the two can have.
[[nodiscard]] std::string hint_for_amount(std::string_view text, const AmountsOfTable& table);
// "write l3 = "4 ways"" of l3_max = "4 ways", and one range for l3_min and l3_max together. `word`:
// the key in small letters without '_' and '-'.
[[nodiscard]] std::string hint_for_end(const UnknownKey& unknown, std::string_view word,
                                       const AmountsOfTable& table);
// The whole line for a number whose unit the word has in itself: "write l3 = "4 ways"" of l3_ways =
// 4, and "write mb = "10%"" of max_bandwidth = 10. Else empty. `key`: that the word stands for.
[[nodiscard]] std::string hint_for_number(const UnknownKey& unknown, std::string_view word,
                                          std::string_view key, const AmountsOfTable& table);
// Whether the number for this word is none of mb in percent: throttling by 90% leaves 10%, and a
// number below 10 without "percent" may be GB/s.
[[nodiscard]] bool is_other_percentage(std::string_view word, uint64_t number);
// Of L3_MAX in capitals, the row of a control (MPAM); else empty.
[[nodiscard]] std::string hint_for_control(const UnknownKey& unknown);
// "l3_max" of "l3_min", and the reverse; else empty.
[[nodiscard]] std::string other_end_of(std::string_view key);

}  // namespace rdtd
