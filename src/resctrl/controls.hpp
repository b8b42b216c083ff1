// Reading what info/ says of the rows of `schemata` that are no constants of Resource, in one of
// the two descriptions that control.hpp names.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "rdtd/model/control.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd::resctrl {

class ControlReader {
 public:
  explicit ControlReader(const Filesystem& filesystem) : filesystem_(filesystem) {}

  // The row of this name; nothing if no control has such a name.
  [[nodiscard]] std::optional<Resource> row(std::string_view name);
  // Without its domains. What cannot be read is not known.
  [[nodiscard]] Control read(const Resource& row);

 private:
  [[nodiscard]] std::string text(const std::string& file) const;
  [[nodiscard]] std::optional<uint32_t> number(const std::string& file, int base = 10) const;
  // The directory of the generic description; empty: there is none.
  [[nodiscard]] std::string generic_directory(std::string_view name);
  [[nodiscard]] Control read_generic(const Resource& row, const std::string& directory) const;
  [[nodiscard]] Control read_plain(const Resource& row, const std::string& directory) const;

  const Filesystem& filesystem_;
  std::optional<std::map<std::string, std::string, std::less<>>> generic_;  // once they were listed
};

}  // namespace rdtd::resctrl
