// FileReader: one TOML file's nodes as typed values, each with its place. Errors go to a list of
// diagnostics. The only user of toml++.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
// toml++ asserts conditions that a text may violate. check_text() refuses such texts first. Should
// it miss one, toml++ must neither abort the daemon nor, as it does with NDEBUG, let the compiler
// assume that the condition holds.
#ifndef TOML_ASSERT
#define TOML_ASSERT(condition) static_cast<void>(0)
#endif
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include "rdtd/base/located.hpp"
#include "rdtd/policy/diagnostic.hpp"

namespace rdtd {

class FileReader {
 public:
  FileReader(std::string path, std::vector<Diagnostic>& diagnostics)
      : path_(std::move(path)), diagnostics_(&diagnostics) {}

  // The file as a table; nothing on a syntax error, which is then reported.
  [[nodiscard]] std::optional<toml::table> parse(std::string_view text) const;

  using Handler = std::function<void(const toml::key&, const toml::node&)>;
  using Keys = std::vector<std::pair<std::string, Handler>>;
  // Calls the handler of each key of a table. An unknown key is an error, unless it begins with
  // "x-". `where` names the table as the user wrote it: "[group.db]".
  void read_table(const toml::table& table, const std::string& where, const Keys& keys) const;
  // Each entry of a table of tables, "[group.NAME]", in the order of the file. `is_key` recognizes
  // the keys of such an entry: one that is outside of them lacks NAME.
  void read_named_tables(const toml::key& key, const toml::node& node,
                         const std::function<void(const toml::key&, const toml::table&)>& entry,
                         const std::function<bool(std::string_view)>& is_key) const;

  // Each reports a wrong type and then returns nothing.
  [[nodiscard]] std::optional<Located<std::string>> string(const toml::key& key,
                                                           const toml::node& node) const;
  [[nodiscard]] std::optional<bool> boolean(const toml::key& key, const toml::node& node) const;
  // A string or an array of strings that is not empty; with `numbers`, integers as well, in
  // decimal.
  [[nodiscard]] std::vector<Located<std::string>> strings(const toml::key& key,
                                                          const toml::node& node,
                                                          bool numbers) const;
  void wrong_type(const toml::key& key, const toml::node& node, std::string_view required,
                  std::string hint = {}) const;

  [[nodiscard]] const SharedText& path() const { return path_; }
  [[nodiscard]] Location at(const toml::source_region& source) const;
  [[nodiscard]] Location at(const toml::key& key) const { return at(key.source()); }
  [[nodiscard]] Location at(const toml::node& node) const { return at(node.source()); }
  void error(Location where, std::string message, std::string hint = {}) const;
  void warning(Location where, std::string message, std::string hint = {}) const;
  // How many diagnostics there are so far, of all files.
  [[nodiscard]] size_t problems() const { return diagnostics_->size(); }

 private:
  SharedText path_;
  std::vector<Diagnostic>* diagnostics_;
};

// The value as a policy has it: "4 ways" with its quotes, 5, true; "..." of what is longer.
[[nodiscard]] std::string plain_text(const toml::node& node);

// "write KEY = true" for a value that means so: "yes", 1; else empty.
[[nodiscard]] std::string boolean_hint(const toml::key& key, const toml::node& node);

}  // namespace rdtd
