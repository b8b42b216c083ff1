#include "rdtd/model/systemd_unit.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr size_t unit_name_max = 256;  // UNIT_NAME_MAX in systemd, with its NUL

bool is_unit_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '@' ||
         c == ':' || c == '-' || c == '_' || c == '.' || c == '\\';
}

// A valid name of a unit, or of an instance "NAME@INSTANCE.TYPE", but not of a template.
bool is_unit_name(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (name.size() >= unit_name_max || !has_unit_type(name) || dot == 0) return false;
  const size_t at = name.find('@');
  return at != 0 && at + 1 != dot && std::ranges::all_of(name, is_unit_name_char);
}

bool is_user_manager(std::string_view name) {
  constexpr std::string_view begin = "user@";
  constexpr std::string_view end = ".service";
  if (!name.starts_with(begin) || !name.ends_with(end)) return false;
  name.remove_prefix(begin.size());
  name.remove_suffix(end.size());
  return parse_unsigned<uint32_t>(name).has_value();
}

// systemd puts a '_' before a name that the kernel could use for a file of its own.
std::string_view unescape(std::string_view component) {
  return component.substr(component.starts_with('_') ? 1 : 0);
}

// Removes slices and the unit below them from the beginning of the path. The walk ends at the first
// other component: it is somebody's own cgroup.
std::vector<std::string_view> take_units(std::string_view& path) {
  std::vector<std::string_view> out;
  while (path.starts_with('/')) {
    const std::string_view component = path.substr(1, path.find('/', 1) - 1);
    const std::string_view name = unescape(component);
    const bool slice = name.ends_with(".slice");
    if (!is_unit_name(name) || (slice && name.contains('@'))) break;
    out.push_back(name);
    path.remove_prefix(component.size() + 1);
    if (!slice) break;
  }
  return out;
}

}  // namespace

bool has_unit_type(std::string_view name) {
  constexpr std::array<std::string_view, 11> types = {".service", ".slice", ".scope",    ".socket",
                                                      ".mount",   ".swap",  ".target",   ".timer",
                                                      ".device",  ".path",  ".automount"};
  return std::ranges::any_of(types, [&](std::string_view type) { return name.ends_with(type); });
}

CgroupUnits units_of_cgroup(std::string_view path) {
  CgroupUnits out;
  out.system = take_units(path);
  if (!out.system.empty() && is_user_manager(out.system.back())) out.user = take_units(path);
  return out;
}

}  // namespace rdtd
