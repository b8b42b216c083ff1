#include "rdtd/observer/ceilings.hpp"

#include <cerrno>
#include <filesystem>
#include <string>

namespace rdtd {

namespace {

Result<Ceilings> read_from(const Directory& directory, const observe::Header& machine) {
  const auto text = directory.read(ceilings_file);
  if (!text && text.error().code == ENOENT) return Ceilings{};
  if (!text) return std::unexpected(text.error());
  const auto recording = observe::parse_recording(*text);
  if (!recording)
    return std::unexpected(
        Error{"understand", directory.path_of(ceilings_file), 0,
              recording.error().why + "; remove it, and measure all domains again"});
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
  if (!opened && opened.error().code == ENOENT) return Ceilings{};
  if (!opened) return std::unexpected(opened.error());
  return read_from(*opened, machine);
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
  const auto known = read_from(*opened, header);
  if (!known) return std::unexpected(known.error());
  observe::Header all = header;
  for (const auto& [resource, domains] : *known)
    all.ceilings[resource].insert(domains.begin(), domains.end());
  return opened->replace(ceilings_file, observe::header_line(all));
}

}  // namespace rdtd
