// Text as TOML writes it, for the policies that programs print and send.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace rdtd {

// A basic string with its quotes: nothing in the text can end it (toml.io, v1.0.0, "String").
[[nodiscard]] std::string toml_string(std::string_view text);

// Whether a bare key may have it.
[[nodiscard]] bool is_bare(char c);

// A bare key, or a basic string (toml.io, v1.0.0, "Keys").
[[nodiscard]] std::string toml_key(std::string_view name);

// "{ KEY = VALUE, ... }" of entries "KEY = VALUE" (toml.io, v1.0.0, "Inline Table").
[[nodiscard]] std::string inline_table(std::span<const std::string> entries);
// The same of strings by strings.
[[nodiscard]] std::string table_of_strings(const std::map<std::string, std::string>& values);

}  // namespace rdtd
