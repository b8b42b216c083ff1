#include "rdtd/observer/ceilings.hpp"

#include <cerrno>
#include <filesystem>
#include <string>

namespace rdtd {

namespace {

Ceilings ceilings_of(const Result<std::string>& text) {
  const auto recording =
      text ? observe::parse_recording(*text) : std::unexpected(observe::BadRecording{});
  return recording ? recording->header.ceilings : Ceilings{};
}

}  // namespace

Result<Ceilings> read_ceilings(const std::string& directory) {
  const auto opened = Directory::open(directory);
  const auto text = opened ? opened->read(ceilings_file) : std::unexpected(opened.error());
  if (!text && text.error().code != ENOENT) return std::unexpected(text.error());
  return ceilings_of(text);
}

Result<void> write_ceilings(const std::string& directory, const observe::Header& header) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return std::unexpected(Error{"create", directory, error.value(), {}});
  const auto opened = Directory::open(directory);
  if (!opened) return std::unexpected(opened.error());
  // What cannot be read now is not to be lost.
  const auto text = opened->read(ceilings_file);
  if (!text && text.error().code != ENOENT) return std::unexpected(text.error());
  observe::Header all = header;
  for (const auto& [resource, domains] : ceilings_of(text))
    all.ceilings[resource].insert(domains.begin(), domains.end());
  return opened->replace(ceilings_file, observe::header_line(all));
}

}  // namespace rdtd
