#include "info_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "rdtd/base/text.hpp"

namespace rdtd::resctrl {

std::unexpected<Error> misread(const Filesystem& filesystem, const std::string& file,
                               std::string problem) {
  return std::unexpected(
      Error{"understand", filesystem.path() + "/" + file, 0, std::move(problem)});
}

InfoReader::InfoReader(const Filesystem& filesystem, std::string_view name)
    : filesystem_(filesystem), directory_(fmt::format("info/{}/", name)) {}

bool InfoReader::has_io_alloc() {
  const auto text = filesystem_.read(directory_ + "io_alloc");
  if (!text && text.error().code != ENOENT && !error_) error_ = text.error();
  return text && (trim(*text) == "enabled" || trim(*text) == "disabled");
}

uint32_t InfoReader::read(const std::string& file, int base, std::optional<uint32_t> otherwise) {
  const auto text = filesystem_.read(directory_ + file);
  if (!text && text.error().code == ENOENT && otherwise) return *otherwise;
  std::string_view digits = text ? trim(*text) : std::string_view();
  if (base == 16 && digits.starts_with("0x")) digits.remove_prefix(2);
  if (const auto value = parse_unsigned<uint32_t>(digits, base); text && value) return *value;
  if (!error_)
    error_ = text ? misread(filesystem_, directory_ + file,
                            fmt::format("'{}' is not a number", trim(*text)))
                        .error()
                  : text.error();
  return 0;
}

uint32_t largest(const DomainValues& values) {
  uint32_t out = 0;
  for (const auto& [domain, value] : values) out = std::max(out, value);
  return out;
}

uint32_t highest_rate(unsigned bandwidth_gran) { return UINT32_MAX - UINT32_MAX % bandwidth_gran; }

}  // namespace rdtd::resctrl
