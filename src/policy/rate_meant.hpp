// Bandwidth as `schemata` has it, without a unit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rdtd {

// The hint for a number without a unit that is no percentage, such as 2048.
[[nodiscard]] std::optional<std::string> rate_without_unit_meant(std::string_view text);
// "1000 MB/s" of "1,000 MB/s", "10 gb/s" of "10 gigabytes per second", in small letters.
[[nodiscard]] std::string plain_rate(std::string_view text);
// "on AMD's processors, 80 is "10 GB/s"": schemata counts in 1/8 GB/s there.
[[nodiscard]] std::string rate_of_amd(int64_t eighths);

// "; on AMD's processors, 80 is "10 GB/s"" of "0=80", the first of a row of schemata, which is
// percent elsewhere.
[[nodiscard]] std::string rates_of_amd(std::string_view values);

// The end of a hint about the amount that AMD's processors have in place of a percentage.
inline constexpr std::string_view rate_in_place_of_share =
    "; AMD's processors take a rate, such as \"8 GB/s\"";

}  // namespace rdtd
