#include "rdtd/observer/ceilings.hpp"

#include <cerrno>
#include <filesystem>
#include <string>

namespace rdtd {

namespace {

Ceilings ceilings_of(const Result<std::string>& text, const observe::Header& machine) {
  const auto recording =
      text ? observe::parse_recording(*text) : std::unexpected(observe::BadRecording{});
  if (!recording) return {};
  Ceilings out = recording->header.ceilings;
  for (auto& [resource, domains] : out)
    std::erase_if(domains, [&](const auto& domain) {
      const auto then = observe::of_domain(recording->header.way_bytes, resource, domain.first),
                 now = observe::of_domain(machine.way_bytes, resource, domain.first);
      return then && now && *then != *now;
    });
  return out;
}

}  // namespace

Result<Ceilings> read_ceilings(const std::string& directory, const observe::Header& machine) {
  const auto opened = Directory::open(directory);
  const auto text = opened ? opened->read(ceilings_file) : std::unexpected(opened.error());
  if (!text && text.error().code != ENOENT) return std::unexpected(text.error());
  return ceilings_of(text, machine);
}

Result<void> write_ceilings(const std::string& directory, const observe::Header& header) {
  std::error_code error;
  // Whatever the umask is: rdtd-observer, another user, has its recordings below it.
  if (std::filesystem::create_directories(directory, error) && !error)
    std::filesystem::permissions(directory, std::filesystem::perms{0755}, error);
  if (error) return std::unexpected(Error{"create", directory, error.value(), {}});
  const auto opened = Directory::open(directory);
  if (!opened) return std::unexpected(opened.error());
  // Ceilings that cannot be read now must not be lost.
  const auto text = opened->read(ceilings_file);
  if (!text && text.error().code != ENOENT) return std::unexpected(text.error());
  observe::Header all = header;
  for (const auto& [resource, domains] : ceilings_of(text, header))
    all.ceilings[resource].insert(domains.begin(), domains.end());
  return opened->replace(ceilings_file, observe::header_line(all));
}

}  // namespace rdtd
