// Lines that are no TOML, and what they were meant to be.
#pragma once

#include <string>
#include <string_view>

namespace rdtd {

// What to do with a line of a policy that cannot be read, as a hint; empty if nothing is known of
// it. `is_first`: no key and no table comes before it, so that the whole file may have another
// format.
[[nodiscard]] std::string line_hint(std::string_view line, bool is_first);

// What to do where something else than '=' follows `key`, with which `line` begins: "l3 ways = 4".
[[nodiscard]] std::string pair_hint(std::string_view line, std::string_view key);

}  // namespace rdtd
