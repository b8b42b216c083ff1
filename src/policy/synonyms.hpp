// Words that users write in place of a policy's keys: those of other tools, keys of another table,
// and slips of the keyboard.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rdtd {

// The hint for an unknown key of a table that has `keys`: what to write instead, or else the list
// of the keys.
[[nodiscard]] std::string unknown_key_hint(std::string_view name,
                                           std::span<const std::string> keys);

}  // namespace rdtd
