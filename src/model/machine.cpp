#include "rdtd/model/machine.hpp"

#include <fmt/format.h>

#include <vector>

#include "rdtd/base/text.hpp"

namespace rdtd {

MountOptions parse_mount_options(std::string_view options) {
  MountOptions out;
  for (const std::string_view part : split(trim(options), ',')) {
    out.cdp |= part == "cdp";
    out.cdpl2 |= part == "cdpl2";
    out.mba_MBps |= part == "mba_MBps";
    out.debug |= part == "debug";
  }
  return out;
}

std::optional<MountOptions> find_mount_options(std::string_view mounts) {
  // Device, mount point, type, options and two numbers; spaces within a field are escaped.
  constexpr size_t type = 2;
  constexpr size_t options = 3;
  for (const std::string_view line : split(mounts, '\n')) {
    const std::vector<std::string_view> fields = split(line, ' ');
    if (fields.size() > options && fields[type] == "resctrl")
      return parse_mount_options(fields[options]);
  }
  return std::nullopt;
}

std::string format_mount_options(const MountOptions& options) {
  std::string out = "rw";
  if (options.cdp) out += ",cdp";
  if (options.cdpl2) out += ",cdpl2";
  if (options.mba_MBps) out += ",mba_MBps";
  if (options.debug) out += ",debug";
  return out;
}

std::string how_to_mount(const MountOptions& options) {
  return fmt::format(
      "systemctl edit sys-fs-resctrl.mount, add the lines \"[Mount]\" and \"Options={}\", and "
      "reboot",
      format_mount_options(options).substr(std::string_view("rw,").size()));
}

}  // namespace rdtd
