// SettingsTable: a table of settings, as [daemon], that several files may have. A key may be set in
// one file only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "file_reader.hpp"

namespace rdtd {

class SettingsTable {
 public:
  explicit SettingsTable(std::string name) : name_(std::move(name)) {}

  void read(const FileReader& in, const toml::key& key, const toml::node& node,
            FileReader::Keys keys);
  // One of several words; anything else is reported. `meant`: other words for them, "yes no" for
  // "on", for the hint; true, false and numbers are words as well.
  using Meant = std::vector<std::pair<std::string_view, std::string_view>>;
  [[nodiscard]] std::optional<std::string> choice(const FileReader& in, const toml::key& key,
                                                  const toml::node& node,
                                                  const std::vector<std::string>& choices,
                                                  const Meant& meant = {},
                                                  const std::string& otherwise = {}) const;
  // The value that the word stands for.
  template <class Value>
  [[nodiscard]] std::optional<Value> choice(
      const FileReader& in, const toml::key& key, const toml::node& node,
      const std::vector<std::pair<std::string, Value>>& choices, const Meant& meant = {},
      const std::string& otherwise = {}) const {
    std::vector<std::string> words;
    for (const auto& [word, value] : choices) words.push_back(word);
    const auto chosen = choice(in, key, node, words, meant, otherwise);
    for (const auto& [word, value] : choices)
      if (word == chosen) return value;
    return std::nullopt;
  }

 private:
  std::string name_;
  std::map<std::string, Location> set_;
};

}  // namespace rdtd
