// Amount: how much of a cache or of bandwidth is asked for, as written in a policy. What it comes
// to on a given machine is the planner's business.
#pragma once

#include <cstdint>
#include <expected>
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
struct All {};        // every way that may be had
struct Remainder {};  // what no exclusive group or partition holds; for the default group
struct Rate {
  uint64_t bytes_per_second = 0;
};
struct Unlimited {};

struct Amount {
  // Cbm: these very ways. Percent is of a cache's ways or of the bandwidth, the rest of one of the
  // two.
  std::variant<Percent, WayCount, Cbm, Bytes, All, Remainder, Rate, Unlimited> value;
  std::string text;  // as written
};

// "40%", "4 ways", "ways 4-7", "6 MiB", "512 KiB", "0xf0", "all", "remainder". The error is the
// message's text.
[[nodiscard]] std::expected<Amount, std::string> parse_cache_amount(std::string_view text);
// "50%", "8 GB/s", "800 MiB/s", "unlimited".
[[nodiscard]] std::expected<Amount, std::string> parse_bandwidth_amount(std::string_view text);

}  // namespace rdtd
