// The parts that the readers of info/ and of `schemata` share.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "rdtd/model/schemata.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd::resctrl {

// Directories in info/ of what is counted have it, those of what is divided do not.
inline constexpr std::string_view monitoring_suffix = "_MON";
// "L3_MON" counts in domains of L3.
inline std::string monitored_resource(std::string_view directory) {
  return std::string(directory.substr(0, directory.size() - monitoring_suffix.size()));
}

// The error for a file whose text has another form than the kernel documents.
std::unexpected<Error> misread(const Filesystem& filesystem, const std::string& file,
                               std::string problem);

// Reads the numbers of one directory in info/ and keeps the first error.
class InfoReader {
 public:
  InfoReader(const Filesystem& filesystem, std::string_view name);

  uint32_t number(const std::string& file, int base = 10) { return read(file, base, std::nullopt); }
  // For files that older kernels lack.
  uint32_t number_or(const std::string& file, int base, uint32_t otherwise) {
    return read(file, base, otherwise);
  }
  // As a policy can set it; older kernels and most processors lack the file.
  [[nodiscard]] bool has_io_alloc();
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  uint32_t read(const std::string& file, int base, std::optional<uint32_t> otherwise);

  const Filesystem& filesystem_;
  std::string directory_;
  std::optional<Error> error_;
};

// 0 without domains.
uint32_t largest(const DomainValues& values);

// A new group starts with UINT32_MAX, but kernels before 6.13 round a rate that is written up to a
// multiple of bandwidth_gran, and UINT32_MAX would overflow to almost nothing.
uint32_t highest_rate(unsigned bandwidth_gran);

}  // namespace rdtd::resctrl
