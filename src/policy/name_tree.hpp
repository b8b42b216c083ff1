// NameTree: the keys and tables of a TOML text, so that a second definition can name the first one.
#pragma once

#include <cstddef>
#include <expected>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace rdtd {

class NameTree {
 public:
  // An object that has names below it: a table, or one element of an array.
  enum class Node : size_t { root };
  // The error is the message's text.
  using Outcome = std::expected<Node, std::string>;
  using Parts = std::span<const std::string_view>;  // of a dotted key, at least one

  // `file` is for messages. The views in Parts must outlive the tree.
  explicit NameTree(const std::string& file) : file_(file) {}

  // `title` is the header as written: "[group.db]".
  Outcome define_table(Parts parts, unsigned line, std::string_view title);
  Outcome define_array_element(Parts parts, unsigned line, std::string_view title);
  Outcome define_value(Node table, Parts parts, unsigned line);
  Node make_node() { return Node{++nodes_}; }

 private:
  // A table that only longer names mention so far is implicit if a header does, dotted if a key
  // does.
  enum class Kind { implicit, dotted, table, array, value };
  struct Name {
    unsigned line = 0;  // of its first definition
    Node node{};
    Kind kind = Kind::implicit;
  };

  Outcome enter(Node table, Parts parts, unsigned line, Kind made);
  [[nodiscard]] std::string place(const Name& name) const;

  const std::string& file_;
  std::map<std::pair<Node, std::string_view>, Name> names_;
  size_t nodes_ = 0;
};

}  // namespace rdtd
