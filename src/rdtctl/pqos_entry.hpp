// The values of the options -e and -a of pqos(8): "llc@0,1:1=0xf,2d=0xf0" and "core:1=0-3,7". Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace rdtd::pqos {

// The part before the colon, "llc@0,1", and that behind it, "1=0xf,2d=0xf0" or "1=0-3,7".
struct Entry {
  std::string what, domains;
  std::string_view classes;
};

// "2d=0xf0": of the data of class 2.
struct Class {
  unsigned number = 0;
  std::string half;  // "code", "data"
  std::string value;
};

// Nothing of a text without ':'.
[[nodiscard]] std::optional<Entry> parse_entry(std::string_view text);
// Nothing of a text without '=' and a number before it.
[[nodiscard]] std::optional<Class> parse_class(std::string_view text);
// Decimal unless it begins with 0x, as pqos reads all its numbers.
[[nodiscard]] std::optional<uint64_t> parse_number(std::string_view text);
// "4-7,16" of "7-4,0x10": pqos takes a range in either direction, and skips what is empty. Nothing
// of what is no list of numbers.
[[nodiscard]] std::optional<std::string> canonical_list(std::string_view list);

// AMD's bandwidths are in 1/8 GB/s.
[[nodiscard]] std::string rate_of(uint64_t eighths);
// This amount of a resource in the policy language.
[[nodiscard]] std::string amount_of(const std::string& what, uint64_t value);

// The policy's names of the resources of -e.
[[nodiscard]] const std::map<std::string, std::string>& keys_of_amounts();

// Whether a word is what -e (`defines`) or -a takes, and not another command.
[[nodiscard]] bool is_entry(std::string_view word, bool defines);

}  // namespace rdtd::pqos
