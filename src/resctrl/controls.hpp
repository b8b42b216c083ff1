// Reading what info/ says of the rows of `schemata` that are no constants of Resource, in one of
// the two descriptions that control.hpp names.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/model/control.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd::resctrl {

class ControlReader {
 public:
  explicit ControlReader(const Filesystem& filesystem) : filesystem_(filesystem) {}

  // The row of this name; nothing if no control has such a name.
  [[nodiscard]] std::optional<Resource> row(std::string_view name);
  // Without its domains. What info/ does not say is not known.
  [[nodiscard]] Control read(const Resource& row);
  // Why something could not be read, if it is there: then what these return may lack it, and a
  // policy that is valid would look invalid.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  void note(const Error& error);
  [[nodiscard]] std::string text(const std::string& file);
  [[nodiscard]] std::optional<uint32_t> number(const std::string& file, int base = 10);
  [[nodiscard]] std::vector<Filesystem::Entry> entries(const std::string& directory);
  // The directory of the generic description; empty: there is none.
  [[nodiscard]] std::string generic_directory(std::string_view name);
  [[nodiscard]] Control read_generic(const Resource& row, const std::string& directory);
  [[nodiscard]] Control read_plain(const Resource& row, const std::string& directory);

  const Filesystem& filesystem_;
  std::optional<Error> error_;                                              // the first one
  std::optional<std::map<std::string, std::string, std::less<>>> generic_;  // once they were listed
};

}  // namespace rdtd::resctrl
