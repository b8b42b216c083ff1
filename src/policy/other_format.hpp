// Files of other formats that somebody took for a policy.
#pragma once

#include <string>
#include <string_view>

namespace rdtd {

// What to do with the file whose first line with a text this is; empty if it may well be TOML.
[[nodiscard]] std::string other_format_hint(std::string_view line);

}  // namespace rdtd
