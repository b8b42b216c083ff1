#include "rdtd/resctrl/device_access.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string_view>

namespace rdtd::resctrl {

Result<void> store_device_access(const Directory& state, const std::vector<PseudoLock>& locks) {
  if (locks.empty() && !state.open_directory(device_access_directory)) return {};
  if (::mkdirat(state.fd(), device_access_directory, 0755) != 0 && errno != EEXIST)
    return errno_error("make", state.path_of(device_access_directory));
  const auto directory = state.open_directory(device_access_directory);
  if (!directory) return std::unexpected(directory.error());
  const auto or_root = [](const auto& name) { return name ? name->value : "root"; };
  std::set<std::string_view> names;
  for (const PseudoLock& lock : locks) {
    const std::string text = fmt::format("RDTD_OWNER={}\nRDTD_GROUP={}\nRDTD_MODE={:04o}\n",
                                         or_root(lock.owner), or_root(lock.user_group), lock.mode);
    const std::string& name = lock.name.value;
    names.insert(name);
    if (directory->read(name).value_or("") == text) continue;
    if (auto stored = directory->replace(name, text); !stored) return stored;
  }
  const auto entries = directory->list();
  if (!entries) return std::unexpected(entries.error());
  for (const Directory::Entry& entry : *entries)
    if (!names.contains(entry.name)) (void)::unlinkat(directory->fd(), entry.name.c_str(), 0);
  return {};
}

}  // namespace rdtd::resctrl
