#include "rdtd/policy/toml_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rdtd/base/text.hpp"

namespace rdtd {

std::string toml_string(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04x}", byte);
    else if (byte == 0xc2 && next >= 0x80 && next < 0xa0)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[++i]));
    else if (byte == '"' || byte == '\\')
      out += fmt::format("\\{}", text[i]);
    else
      out += text[i];
  }
  return "\"" + out + "\"";
}

bool is_bare(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '_';
}

std::string toml_key(std::string_view name) {
  const bool bare = !name.empty() && std::ranges::all_of(name, is_bare);
  return bare ? std::string(name) : toml_string(name);
}

std::string inline_table(std::span<const std::string> entries) {
  return fmt::format("{{ {} }}", join(entries, ", "));
}

std::string table_of_strings(const std::map<std::string, std::string>& values) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : values)
    entries.push_back(fmt::format("{} = {}", toml_string(key), toml_string(value)));
  return inline_table(entries);
}

}  // namespace rdtd
