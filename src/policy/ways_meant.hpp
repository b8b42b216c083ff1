// Texts that are probably meant as ways of a cache.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rdtd {

// The amount meant by a text behind "ways " that is no range: "ways 4-7" for "4..7" and "7-4",
// "0x3" for "0,1", "2 ways" for "0,2".
[[nodiscard]] std::string named_ways_meant(std::string_view text);

// "ways 4-7" of "4-7 ways".
[[nodiscard]] std::optional<std::string> numbered_ways_meant(std::string_view text);

// "2 ways" of "1.5 ways", "-2 ways" and "1e3 ways".
[[nodiscard]] std::optional<std::string> whole_ways_meant(std::string_view text);

}  // namespace rdtd
