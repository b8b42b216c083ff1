#include "name_tree.hpp"

#include <fmt/format.h>

#include "rdtd/base/located.hpp"

namespace rdtd {

std::string NameTree::place(const Name& name) const { return Location{file_, name.line}.text(); }

// The table of the last part.
NameTree::Outcome NameTree::enter(Node table, Parts parts, unsigned line, Kind made) {
  for (const std::string_view part : parts.first(parts.size() - 1)) {
    const auto [entry, is_new] = names_.try_emplace({table, part}, Name{line, {}, made});
    Name& name = entry->second;
    if (is_new) name.node = make_node();
    if (name.kind == Kind::value)
      return std::unexpected(fmt::format("'{}' already has a value, in {}", part, place(name)));
    table = name.node;
  }
  return table;
}

NameTree::Outcome NameTree::define_table(Parts parts, unsigned line, std::string_view title) {
  const auto table = enter(Node::root, parts, line, Kind::implicit);
  if (!table) return table;
  const auto [entry, is_new] = names_.try_emplace({*table, parts.back()}, Name{line, {}, {}});
  Name& name = entry->second;
  if (name.kind != Kind::implicit)
    return std::unexpected(fmt::format("{} is defined twice: here and in {}", title, place(name)));
  if (is_new) name.node = make_node();
  name.kind = Kind::table;
  name.line = line;
  return name.node;
}

NameTree::Outcome NameTree::define_array_element(Parts parts, unsigned line,
                                                 std::string_view title) {
  const auto table = enter(Node::root, parts, line, Kind::implicit);
  if (!table) return table;
  const auto [entry, is_new] =
      names_.try_emplace({*table, parts.back()}, Name{line, {}, Kind::array});
  Name& name = entry->second;
  if (name.kind != Kind::array)
    return std::unexpected(fmt::format("{} is defined twice: here and in {}", title, place(name)));
  return name.node = make_node();
}

NameTree::Outcome NameTree::define_value(Node table, Parts parts, unsigned line) {
  const auto parent = enter(table, parts, line, Kind::dotted);
  if (!parent) return parent;
  const auto [entry, is_new] =
      names_.try_emplace({*parent, parts.back()}, Name{line, {}, Kind::value});
  if (!is_new)
    return std::unexpected(
        fmt::format("'{}' is set twice: here and in {}", parts.back(), place(entry->second)));
  return entry->second.node = make_node();
}

}  // namespace rdtd
