// Tables for people and JSON for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "context.hpp"
#include "size_text.hpp"

namespace rdtd {

using JsonValue = nlohmann::ordered_json;

// Prints `value` with "schema": 1 in front.
void print_json(const Context& context, JsonValue value);

struct Column {
  std::string name;
  bool right = false;  // numbers
};

void print_table(const Context& context, const std::vector<Column>& columns,
                 const std::vector<std::vector<std::string>>& rows);

[[nodiscard]] JsonValue schemata_json(const Schemata& schemata);

// Bold, where colours are wanted.
[[nodiscard]] std::string emphasized(const Context& context, const std::string& text);

}  // namespace rdtd
