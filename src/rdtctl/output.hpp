// Tables for people and JSON for programs.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "context.hpp"
#include "print.hpp"
#include "size_text.hpp"

namespace rdtd {

using JsonValue = nlohmann::ordered_json;

// Prints `value` with "schema": 1 in front.
void print_json(const Context& context, JsonValue value);

// Columns of a table, and of a picture that no terminal shows.
inline constexpr size_t widest_line = 120;

struct Column {
  std::string name;
  bool right = false;  // numbers
  // Entries that end in ';' or ',', or in ' ' before "NAME:"; a wide cell has several lines of
  // them.
  bool list = false;
  bool whole = false;  // a picture or a word, which is never shortened
};

// Where a line would be wider than 120 columns, or than a narrower terminal, the lists get
// narrower; then, on a terminal, the widest texts are shortened.
void print_table(const Context& context, const std::vector<Column>& columns,
                 const std::vector<std::vector<std::string>>& rows);

// At most `width` columns of the text: in the place of its middle is a sign, so that names that
// begin alike differ.
[[nodiscard]] std::string shortened(const std::string& text, size_t width, bool utf8);

// Breaks such a list as break_lines() does, but not at the space within an entry, "2 GB/s"; only
// if it does not fit otherwise, between "4 ways" and its size.
[[nodiscard]] std::string break_entries(const std::string& text, size_t width, size_t indent = 0);

// A new entry of an object that has none of this key. Its operator[] compares the key with all: a
// copy of resctrl can have very many domains.
[[nodiscard]] JsonValue& new_entry(JsonValue& object, std::string key);
[[nodiscard]] JsonValue schemata_json(const Schemata& schemata);
// The amounts as the policy has them, by resource and domain.
[[nodiscard]] JsonValue asked_json(
    const std::map<Resource, std::map<DomainId, std::string>>& asked);
// The unit of its numbers, by resource: {"MB": "1/8 GB/s"}.
[[nodiscard]] JsonValue bandwidth_units_json(const Capabilities& capabilities);

// The width of sentences: that of the terminal, 100 columns at most.
[[nodiscard]] size_t width_of_text(const Context& context);

// The text with line breaks before that width, each line but the first indented. What no terminal
// shows is one line, for programs that search it.
[[nodiscard]] std::string wrapped(const Context& context, const std::string& text, size_t indent);

// A line each, broken as by wrapped(); those with lines of their own are a policy, and whole.
void print_sentences(const Context& context, const std::vector<std::string>& sentences);

// Bold if colors are used.
[[nodiscard]] Styled emphasized(const Context& context, const std::string& text);
enum class Judgment : uint8_t { good, odd, bad };
// Green, yellow or red if colors are used.
[[nodiscard]] Styled colored(const Context& context, Judgment judgment, const std::string& text);

// On standard error, as a compiler's.
// Those of a policy that is checked: as JSON, or on standard error.
void print_diagnostics(const Context& context, std::span<const Diagnostic> diagnostics,
                       const Sources& sources);
void note_diagnostics(const Context& context, std::span<const Diagnostic> diagnostics,
                      const Sources& sources);

// "rdtctl 0.2.0", or the same as JSON.
void print_version(const Context& context, const std::string& version);

}  // namespace rdtd
