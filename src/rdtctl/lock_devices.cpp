#include "lock_devices.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include <cerrno>

#include "print.hpp"
#include "rdtd/base/directory.hpp"
#include "rdtd/bus/udev_answers.hpp"

namespace rdtd {

Result<size_t> renew_device_access(const std::string& devices, const std::string& uuid) {
  const auto directory = Directory::open(devices);
  if (!directory && directory.error().code == ENOENT) return 0;
  const auto entries = directory ? directory->list() : std::unexpected(directory.error());
  if (!entries) return std::unexpected(entries.error());
  size_t out = 0;
  for (const Directory::Entry& entry : *entries) {
    const auto device = Directory::open(directory->path_of(entry.name));
    const auto asked =
        device ? device->write("uevent", "change " + uuid + "\n") : std::unexpected(device.error());
    if (asked) out++;
    if (!asked && asked.error().code != ENOENT) return std::unexpected(asked.error());
  }
  return out;
}

void renew_device_access(const Context& context) {
  UdevAnswers answers("pseudo_lock");
  const auto renewed = renew_device_access(context.lock_devices, answers.uuid());
  if (renewed) return answers.wait_for(*renewed);
  if (renewed.error().code == EACCES)
    note(
        "rdtctl: if the owner or mode of the device of a region has changed, "
        "'systemctl reload rdtd' sets it: only root can ask udev to\n");
  else
    note("rdtctl: {}: the owner and mode of the devices of regions may be the previous ones\n",
         renewed.error().text());
}

std::map<std::string, DeviceAccess> read_device_access(const std::vector<std::string>& regions) {
  std::map<std::string, DeviceAccess> out;
  for (const std::string& name : regions) {
    struct stat status{};
    if (::stat(device_of_lock(name).c_str(), &status) != 0) continue;
    DeviceAccess& access = out[name];
    const passwd* owner = ::getpwuid(status.st_uid);
    access.owner = owner == nullptr ? std::to_string(status.st_uid) : owner->pw_name;
    const group* user_group = ::getgrgid(status.st_gid);
    access.user_group = user_group == nullptr ? std::to_string(status.st_gid) : user_group->gr_name;
    access.mode = status.st_mode & 0777;
  }
  return out;
}

}  // namespace rdtd
