// Amount: a share of a cache or of bandwidth, as written in a policy. The planner decides how many
// ways or what limit it becomes on a given machine.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "rdtd/model/cbm.hpp"

namespace rdtd {

struct Percent {
  double value = 0;  // above 0, to 100
};
struct WayCount {
  unsigned count = 0;  // from 1
};
struct Bytes {
  uint64_t count = 0;  // from 1
};
struct All {};        // every way that the group may fill
struct Remainder {};  // the ways outside all exclusive groups and partitions; for the default group
struct Rate {
  uint64_t bytes_per_second = 0;
};
struct Unlimited {};
struct Number {
  uint32_t value = 0;  // as it stands in `schemata`
};

struct Amount {
  // Cbm: exactly these ways. Percent is of a cache's ways or of the bandwidth; each of the others
  // is for one of the two.
  using Value =
      std::variant<Percent, WayCount, Cbm, Bytes, All, Remainder, Rate, Unlimited, Number>;
  Value value;
  std::string text;  // as written
  // Of a range, "1..6 ways": what it may be lowered to. Not above `value`.
  std::optional<Value> least = {};
};

// The ends of a range of bandwidth: per cent, or bytes/s. Of "10%..unlimited" the upper one is 100.
struct AmountRange {
  double least = 0, most = 0;
  bool percent = true;
};
// Nothing if it is no range, has equal ends, or has no upper one.
[[nodiscard]] std::optional<AmountRange> bandwidth_range(const Amount& amount);

// Whether an amount of bandwidth lies in the range, up to what rounding does to a rate.
[[nodiscard]] bool is_within(const Amount& amount, const AmountRange& range);

struct AmountError {
  std::string message;
  std::string hint;  // the form to write
};

// "40%", "4 ways", "ways 4-7", "6 MiB", "512 KiB", "0xf0", "all", "remainder", and ranges: "1..6
// ways", "10%..40%".
[[nodiscard]] std::expected<Amount, AmountError> parse_cache_amount(std::string_view text);
// "50%", "8 GB/s", "800 MiB/s", "unlimited", "10%..100%".
[[nodiscard]] std::expected<Amount, AmountError> parse_bandwidth_amount(std::string_view text);
// Of a control that the language has no word for: "50%", "8 GB/s", "unlimited", "0xf0", "3".
[[nodiscard]] std::expected<Amount, AmountError> parse_control_amount(std::string_view text);

}  // namespace rdtd
