// Hints for a key that has the kind of its amount in its name: l3_percent = 20.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "unknown_key.hpp"

namespace rdtd {

// "write l3 = "20%"" of it. `word`: the key in small letters without '_' and '-'; `is_unit`: only
// words for a unit, and else those for an amount of any unit.
[[nodiscard]] std::string hint_for_unit_in_key(const UnknownKey& unknown, std::string_view word,
                                               std::span<const std::string> keys, bool is_unit);

}  // namespace rdtd
