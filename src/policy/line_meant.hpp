// Lines that are no TOML, and what they were meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

// The hint for a line of a policy that cannot be read; empty if nothing is known of it. `is_first`:
// no key and no table comes before it, so that the whole file may have another format.
[[nodiscard]] std::string line_hint(std::string_view line, bool is_first);

// "l3 = { "0" = "0xf" }" of the line "L3:0=f" of `schemata`.
[[nodiscard]] std::optional<std::string> schemata_meant(std::string_view line);

// The same of each of its lines; empty if one of them is something else.
[[nodiscard]] std::vector<std::string> schemata_lines_meant(std::string_view text);

// The hint for a line that begins with `key`, but has no '=' behind it: "l3 ways = 4".
[[nodiscard]] std::string pair_hint(std::string_view line, std::string_view key);

// The hint for a value of `key` without quotes that was meant as several: tar gzip; a, b; ("a",
// "b"). Empty if it was not.
[[nodiscard]] std::string list_hint(std::string_view key, std::string_view value);

// The hint for a value of `key` that has no quotes: an amount as it must be written, not only with
// quotes around it.
[[nodiscard]] std::string value_hint(std::string_view key, std::string_view value);

// The hint for `rest`, which follows the `value` of `key` on its line: "tar", "gzip".
[[nodiscard]] std::string rest_hint(std::string_view key, std::string_view value,
                                    std::string_view rest);

// The hint for a key that begins with a sign: "!name", "* l3".
[[nodiscard]] std::string sign_hint(std::string_view key);

// Whether a string is open behind this beginning of a line.
[[nodiscard]] bool ends_in_string(std::string_view line);

// Whether the text has a section that every unit of systemd has.
[[nodiscard]] bool is_unit_of_systemd(std::string_view text);

}  // namespace rdtd
