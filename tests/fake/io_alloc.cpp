// info/L3/io_alloc and io_alloc_cbm, as in fs/resctrl/ctrlmondata.c of 6.19.
#include <fmt/format.h>

#include <cerrno>

#include "fake/kernel_text.hpp"
#include "fake/resctrl.hpp"

namespace rdtd::fake {

namespace {

bool is_l3(Resource resource) {
  return resource == Resource::L3 || resource == Resource::L3CODE || resource == Resource::L3DATA;
}

}  // namespace

// The kernel has the files for all caches, if the L3 cache is capable of it.
bool Resctrl::has_io_files() const {
  for (const auto& [resource, control] : machine.controls)
    if (is_l3(resource) && control.io_alloc) return true;
  return false;
}

bool Resctrl::does_io(Resource resource) const { return is_l3(resource) && has_io_files(); }

unsigned Resctrl::io_closid(Resource resource) const {
  return machine.controls.at(resource).num_closids - 1;
}

std::string Resctrl::io_alloc_text(Resource resource) const {
  if (!does_io(resource)) return "not supported\n";
  return io_enabled ? "enabled\n" : "disabled\n";
}

int Resctrl::write_io_alloc(Resource resource, std::string_view text) {
  status.clear();
  const bool enable = text.starts_with('1') || text.starts_with('y') || text.starts_with("on");
  if (!enable && !text.starts_with('0') && !text.starts_with('n') && !text.starts_with("of")) {
    status.put("io_alloc: Invalid input\n");
    return EINVAL;
  }
  if (!does_io(resource)) {
    status.print(fmt::format("io_alloc is not supported on {}\n", to_string(resource)));
    return ENODEV;
  }
  if (io_enabled == enable) return 0;
  const unsigned closid = io_closid(resource);
  if (closid >= num_closids()) {
    status.print(fmt::format("io_alloc CLOSID (ctrl_hw_id) {} is not available\n", closid));
    return EINVAL;
  }
  if (!enable) {
    free_closids.insert(closid);
    io_enabled = false;
    return 0;
  }
  if (free_closids.erase(closid) == 0) {
    std::string holder = "another";
    for (const Group& group : groups)
      if (group.closid == closid) holder = group.name;
    status.print(
        fmt::format("CLOSID (ctrl_hw_id) {} for io_alloc is used by {} group\n", closid, holder));
    return ENOSPC;
  }
  if (const int code = initialize_cache(resource, closid); code != 0) {
    status.put("Failed to initialize io_alloc allocations\n");
    free_closids.insert(closid);
    return code;
  }
  if (const auto twin = peer(resource))
    for (auto& [id, masks] : values.at(*twin)) masks[closid] = values.at(resource).at(id)[closid];
  io_enabled = true;
  return 0;
}

Answer<std::string> Resctrl::io_alloc_cbm_text(Resource resource) {
  status.clear();
  if (const int code = io_unavailable(resource); code != 0) return std::unexpected(Refusal{code});
  return domain_values(resource, io_closid(resource)) + "\n";
}

int Resctrl::io_unavailable(Resource resource) {
  if (!does_io(resource)) {
    status.print(fmt::format("io_alloc is not supported on {}\n", to_string(resource)));
    return ENODEV;
  }
  if (io_enabled) return 0;
  status.print(fmt::format("io_alloc is not enabled on {}\n", to_string(resource)));
  return EINVAL;
}

int Resctrl::write_io_alloc_cbm(Resource resource, std::string_view text) {
  if (!text.ends_with('\n')) return EINVAL;
  text.remove_suffix(1);
  status.clear();
  if (const int code = io_unavailable(resource); code != 0) return code;
  // The kernel treats the devices as a group that shares.
  Group devices{.closid = io_closid(resource)};
  Staged staged;
  if (const int code = parse_domains(devices, resource, text, staged); code != 0) return code;
  for (const auto& [place, value] : staged) {
    values[place.first][place.second][devices.closid] = value;
    if (const auto twin = peer(resource)) values[*twin][place.second][devices.closid] = value;
  }
  return 0;
}

}  // namespace rdtd::fake
