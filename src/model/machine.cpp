#include "rdtd/model/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
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

void find_unlimited(Capabilities& capabilities, const Snapshot& snapshot) {
  for (auto& [resource, info] : capabilities.bandwidths) {
    if (info.unit != BandwidthUnit::eighth_gbps) continue;
    uint32_t highest = 0;
    for (const auto& [name, group] : snapshot.groups)
      if (const auto values = group.schemata.find(resource); values != group.schemata.end())
        for (const auto& [domain, value] : values->second) highest = std::max(highest, value);
    for (auto& [domain, unlimited] : info.unlimited)
      if (highest > unlimited) unlimited = std::bit_ceil(std::min(highest, uint32_t{1} << 31));
  }
}

bool can_pseudo_lock(std::string_view cpuinfo) {
  constexpr std::array models = {"79", "92", "122"};  // Broadwell-X, Goldmont, Goldmont Plus
  std::string_view vendor, family, model;
  for (const std::string_view line : split(cpuinfo.substr(0, cpuinfo.find("\n\n")), '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, colon)), value = trim(line.substr(colon + 1));
    if (key == "vendor_id") vendor = value;
    if (key == "cpu family") family = value;
    if (key == "model") model = value;
  }
  return vendor == "GenuineIntel" && family == "6" &&
         std::ranges::find(models, model) != models.end();
}

std::string how_to_mount(const MountOptions& options) {
  return fmt::format(
      "systemctl edit sys-fs-resctrl.mount, add the lines \"[Mount]\" and \"Options={}\", and "
      "reboot",
      format_mount_options(options).substr(std::string_view("rw,").size()));
}

}  // namespace rdtd
