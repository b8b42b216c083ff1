// YamlTree: maps, lists of plain values, and plain values of a YAML text, for configurations that
// have nothing else (docs/decisions/yaml-subset.md). The key of a value that is anything else has
// the line of it; another text is refused with its line.
#pragma once

#include <expected>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

struct YamlNode {
  std::string key;
  std::vector<std::string> values;  // one, or those of a list; none of a map
  std::list<YamlNode> children;     // of a map
  std::map<std::string, const YamlNode*, std::less<>> by_key;  // the same
  unsigned line = 0;
  unsigned unread = 0;  // the line of a value that is none of these; 0 if there is none

  // Null if there is none.
  [[nodiscard]] const YamlNode* find(std::string_view name) const;
};

// The map at the top, also as JSON has it. The error begins with "line N: ".
[[nodiscard]] std::expected<YamlNode, std::string> parse_yaml(std::string_view text);

// Why a text with such a line cannot be used.
[[nodiscard]] std::string not_read(unsigned line);

}  // namespace rdtd
