// Words in place of the domains that a table maps to amounts: l3 = { ways = 4 }.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "file_reader.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// The hint for a word that is no list of domains. `has_range`: whether the amount may be one. `of`:
// nothing for a control.
[[nodiscard]] std::string instead_of_words(std::string_view word, std::string_view key,
                                           bool has_range, const std::optional<Resource>& of,
                                           const toml::table& table);

// Of [{ domain = 0, ways = 4 }, ...]: the table that maps these domains to their amounts.
[[nodiscard]] std::optional<std::string> domains_meant(const toml::array& array, bool cache);

}  // namespace rdtd
