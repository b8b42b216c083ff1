// Words that users write in place of a policy's keys, beyond slips of the keyboard.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rdtd {

// The hint for an unknown key of a table that has `keys`; empty if there is nothing to suggest.
[[nodiscard]] std::string unknown_key_hint(std::string_view name,
                                           std::span<const std::string> keys);

}  // namespace rdtd
