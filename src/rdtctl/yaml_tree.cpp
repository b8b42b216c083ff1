#include "yaml_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr size_t deepest_map = 32;

struct Level {
  size_t indent;
  YamlNode* node;  // whose children have this indent
};

// Without a comment, which begins at '#' after a blank, outside of quotes.
std::string_view without_comment(std::string_view line) {
  char quote = '\0';
  for (size_t at = 0; at < line.size(); at++) {
    const char c = line[at];
    if (quote != '\0')
      quote = c == quote ? '\0' : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '#' && (at == 0 || line[at - 1] == ' '))
      return line.substr(0, at);
  }
  return line;
}

// Nothing if the value is none that this reader knows.
std::optional<std::string> plain_value(std::string_view text) {
  text = trim(text);
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  if (quoted) {
    text = text.substr(1, text.size() - 2);
    return text.find_first_of("\"'\\") == std::string_view::npos ? std::optional(std::string(text))
                                                                 : std::nullopt;
  }
  if (text.empty() || std::string_view("&*|>!{}[]%@`\"',?").contains(text.front()) ||
      text.contains(": "))
    return std::nullopt;
  return std::string(text);
}

// "[a, b]" or a plain value.
bool read_values(std::string_view text, std::vector<std::string>& out) {
  text = trim(text);
  if (!text.starts_with('[')) {
    const auto value = plain_value(text);
    if (value) out.push_back(*value);
    return value.has_value();
  }
  if (!text.ends_with(']')) return false;
  for (const std::string_view part : split(text.substr(1, text.size() - 2), ',')) {
    const auto value = plain_value(part);
    if (!value) return false;
    out.push_back(*value);
  }
  return true;
}

// The parts between commas that are in no quotes and no brackets. Nothing if one is not closed.
std::optional<std::vector<std::string_view>> flow_parts(std::string_view text) {
  std::vector<std::string_view> out;
  char quote = '\0';
  size_t begin = 0, depth = 0;
  for (size_t at = 0; at < text.size(); at++) {
    const char c = text[at];
    if (quote != '\0') {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '{' || c == '[') {
      depth++;
    } else if (c == '}' || c == ']') {
      if (depth-- == 0) return std::nullopt;
    } else if (c == ',' && depth == 0) {
      out.push_back(text.substr(begin, at - begin));
      begin = at + 1;
    }
  }
  if (quote != '\0' || depth != 0) return std::nullopt;
  out.push_back(text.substr(begin));
  return out;
}

// Nothing if the parent has the key already.
YamlNode* add_child(YamlNode& parent, const std::string& key, unsigned line) {
  if (parent.find(key) != nullptr) return nullptr;
  YamlNode& node = parent.children.emplace_back();
  node.key = key;
  node.line = line;
  parent.by_key.emplace(key, &node);
  return &node;
}

// The place of the ':' behind a key. JSON has no blank after it.
size_t find_colon(std::string_view part) {
  const bool quoted = part.starts_with('"');
  const size_t end = quoted ? part.find('"', 1) : 0;
  if (end == std::string_view::npos) return end;
  const size_t colon = quoted ? part.find_first_not_of(" \t\r\n", end + 1) : part.find(": ");
  return quoted && colon != std::string_view::npos && part[colon] != ':' ? std::string_view::npos
                                                                         : colon;
}

// "{a: b, c: {d: [e, f]}}". `line` is that of its begin, and of what cannot be read.
bool read_flow_map(std::string_view text, YamlNode& out, size_t depth, unsigned& line) {
  if (!text.starts_with('{') || !text.ends_with('}') || depth > deepest_map) return false;
  const auto parts = flow_parts(text.substr(1, text.size() - 2));
  if (!parts) return false;
  if (parts->size() == 1 && trim(parts->front()).empty()) return true;
  const auto count_lines = [&](std::string_view passed) {
    line += static_cast<unsigned>(std::ranges::count(passed, '\n'));
  };
  for (const std::string_view whole : *parts) {
    const std::string_view part = trim(whole);
    const auto before = static_cast<size_t>(part.empty() ? 0 : part.data() - whole.data());
    count_lines(whole.substr(0, before));
    const size_t colon = find_colon(part);
    const auto key =
        colon == std::string_view::npos ? std::nullopt : plain_value(part.substr(0, colon));
    YamlNode* const node = key ? add_child(out, *key, line) : nullptr;
    if (node == nullptr) return false;
    const std::string_view value = trim(part.substr(colon + 1));
    unsigned within = line;
    if (!(value.starts_with('{') ? read_flow_map(value, *node, depth + 1, within)
                                 : read_values(value, node->values))) {
      line = within;
      return false;
    }
    count_lines(whole.substr(before));
  }
  return true;
}

class Reader {
 public:
  std::expected<YamlNode, std::string> read(std::string_view text) {
    YamlNode root;
    levels_ = {{0, &root}};
    unsigned number = 0;
    for (const std::string_view line : split(text, '\n')) {
      number++;
      if (!read_line(line, number))
        return std::unexpected(not_read(first_unread_ != 0 ? first_unread_ : number));
    }
    return root;
  }

 private:
  bool read_line(std::string_view line, unsigned number);
  bool read_entry(std::string_view content, size_t indent, unsigned number);

  // The value of the last key is not read, up to its end.
  bool skip(unsigned number) {
    last_->unread = number;
    if (first_unread_ == 0) first_unread_ = number;
    return is_skipping_ = true;
  }

  std::vector<Level> levels_;
  YamlNode* last_ = nullptr;  // which a list or a deeper map belongs to
  size_t last_indent_ = 0;
  bool is_skipping_ = false;
  unsigned first_unread_ = 0;
};

bool begins_item(std::string_view content) { return content == "-" || content.starts_with("- "); }

bool Reader::read_line(std::string_view line, unsigned number) {
  line = without_comment(line);
  const size_t indent = line.find_first_not_of(' ');
  const std::string_view content = trim(line);
  if (content.empty() || content == "---") return true;
  // The items of a list may have the indent of their key.
  const bool is_of_last = last_ != nullptr && (indent > last_indent_ ||
                                               (indent == last_indent_ && begins_item(content)));
  is_skipping_ = is_skipping_ && is_of_last;
  if (is_skipping_) return true;
  if (line[indent] == '\t') return false;
  if (begins_item(content)) {
    if (!is_of_last || !last_->children.empty()) return false;
    const auto value = plain_value(content.substr(1));
    if (!value) return skip(number);
    last_->values.push_back(*value);
    return true;
  }
  return read_entry(content, indent, number);
}

bool Reader::read_entry(std::string_view content, size_t indent, unsigned number) {
  if (last_ != nullptr && indent > last_indent_) {
    if (!last_->values.empty() || !last_->children.empty() || levels_.size() > deepest_map)
      return false;
    levels_.push_back({indent, last_});
  }
  while (levels_.size() > 1 && indent < levels_.back().indent) levels_.pop_back();
  if (indent != levels_.back().indent) return false;
  size_t colon = content.find(": ");
  if (colon == std::string_view::npos && content.ends_with(':')) colon = content.size() - 1;
  const auto key =
      colon == std::string_view::npos ? std::nullopt : plain_value(content.substr(0, colon));
  YamlNode* const node = key ? add_child(*levels_.back().node, *key, number) : nullptr;
  if (node == nullptr) return false;
  last_ = node;
  last_indent_ = indent;
  const std::string_view rest = trim(content.substr(colon + 1));
  const bool is_read =
      rest.empty() || (rest.starts_with('{') ? read_flow_map(rest, *node, levels_.size(), number)
                                             : read_values(rest, node->values));
  return is_read || skip(number);
}

}  // namespace

std::string not_read(unsigned line) {
  return fmt::format("line {}: only maps, lists of plain values and plain values are read", line);
}

const YamlNode* YamlNode::find(std::string_view name) const {
  const auto found = by_key.find(name);
  return found == by_key.end() ? nullptr : found->second;
}

std::expected<YamlNode, std::string> parse_yaml(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return Reader().read(text);
  auto line = 1 + static_cast<unsigned>(std::ranges::count(text.substr(0, begin), '\n'));
  YamlNode root;
  root.line = line;
  if (!read_flow_map(trim(text), root, 0, line)) return std::unexpected(not_read(line));
  return root;
}

}  // namespace rdtd
