#include "output.hpp"

#include <fmt/format.h>
#include <libsmartcols/libsmartcols.h>

#include <cstdio>
#include <memory>

namespace rdtd {

void print_json(const Context& context, JsonValue value) {
  JsonValue out = {{"schema", 1}};
  out.update(value);
  fmt::print("{}\n", out.dump(context.json == Json::pretty ? 2 : -1, ' ', false,
                              JsonValue::error_handler_t::replace));
}

void print_table(const Context& context, const std::vector<Column>& columns,
                 const std::vector<std::vector<std::string>>& rows) {
  const std::unique_ptr<libscols_table, void (*)(libscols_table*)> table(scols_new_table(),
                                                                         scols_unref_table);
  (void)scols_table_enable_noheadings(table.get(), context.legend ? 0 : 1);
  (void)scols_table_enable_colors(table.get(), context.color ? 1 : 0);
  (void)scols_table_enable_ascii(table.get(), context.utf8 ? 0 : 1);
  for (const Column& column : columns) {
    libscols_column* made = scols_table_new_column(table.get(), column.name.c_str(), 0,
                                                   column.right ? SCOLS_FL_RIGHT : 0);
    if (context.color) (void)scols_cell_set_color(scols_column_get_header(made), "bold");
  }
  for (const auto& row : rows) {
    libscols_line* line = scols_table_new_line(table.get(), nullptr);
    for (size_t i = 0; i < row.size(); i++)
      (void)scols_line_set_data(line, i, row[i].empty() ? "-" : row[i].c_str());
  }
  (void)scols_print_table(table.get());
}

JsonValue schemata_json(const Schemata& schemata) {
  JsonValue out = JsonValue::object();
  for (const auto& [resource, values] : schemata)
    for (const auto& [domain, value] : values) {
      JsonValue& entry = out[std::string(to_string(resource))][to_string(domain)];
      if (is_cache(resource))
        entry = to_string(Cbm{value});
      else
        entry = value;
    }
  return out;
}

std::string emphasized(const Context& context, const std::string& text) {
  return context.color ? "\033[1m" + text + "\033[0m" : text;
}

}  // namespace rdtd
