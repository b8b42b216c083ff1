#include "settings_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rdtd/base/text.hpp"

namespace rdtd {

void SettingsTable::read(const FileReader& in, const toml::key& key, const toml::node& node,
                         FileReader::Keys keys) {
  const toml::table* table = node.as_table();
  if (table == nullptr)
    return in.wrong_type(key, node, "a table", fmt::format("write [{}]", name_));
  for (auto& [name, handler] : keys)
    handler = [&, read = std::move(handler)](const toml::key& k, const toml::node& n) {
      const auto [earlier, is_new] = set_.emplace(k.str(), in.at(k));
      if (!is_new)
        return in.error(in.at(k), fmt::format("'{}' in [{}] is set twice: here and in {}", k.str(),
                                              name_, earlier->second.text()));
      read(k, n);
    };
  in.read_table(*table, fmt::format("[{}]", name_), keys);
}

namespace {

// The text of a value that lacks its quotes; empty of other values.
std::string unquoted(const toml::node& node) {
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  return {};
}

std::optional<std::string> meant_choice(std::string_view text, const SettingsTable::Meant& meant) {
  for (const auto& [words, choice] : meant)
    for (const std::string_view word : split(words, ' '))
      if (word == lower(text)) return std::string(choice);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> SettingsTable::choice(const FileReader& in, const toml::key& key,
                                                 const toml::node& node,
                                                 const std::vector<std::string>& choices,
                                                 const Meant& meant,
                                                 const std::string& otherwise) const {
  if (!node.is_string()) {
    const auto word = meant_choice(unquoted(node), meant);
    if (word || !otherwise.empty()) {
      in.wrong_type(key, node, "a string", word ? fmt::format("write \"{}\"", *word) : otherwise);
      return std::nullopt;
    }
  }
  const auto text = in.string(key, node);
  if (!text) return std::nullopt;
  if (std::ranges::find(choices, text->value) != choices.end()) return text->value;
  auto nearest = nearest_name(lower(text->value), choices);
  if (auto other = meant_choice(text->value, meant)) nearest = std::move(other);
  in.error(text->where,
           fmt::format("'{}' in [{}] must be one of {}, not '{}'", key.str(), name_,
                       join(choices, ", "), text->value),
           nearest ? did_you_mean(*nearest) : otherwise);
  return std::nullopt;
}

}  // namespace rdtd
