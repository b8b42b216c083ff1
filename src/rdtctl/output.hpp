// Tables for people and JSON for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "context.hpp"
#include "print.hpp"
#include "size_text.hpp"

namespace rdtd {

using JsonValue = nlohmann::ordered_json;

// Prints `value` with "schema": 1 in front.
void print_json(const Context& context, JsonValue value);

struct Column {
  std::string name;
  bool right = false;  // numbers
  bool list = false;   // entries that end in ';' or ' ', of which a wide cell has several lines
};

void print_table(const Context& context, const std::vector<Column>& columns,
                 const std::vector<std::vector<std::string>>& rows);

[[nodiscard]] JsonValue schemata_json(const Schemata& schemata);

// Bold if colors are used.
[[nodiscard]] Styled emphasized(const Context& context, const std::string& text);

}  // namespace rdtd
