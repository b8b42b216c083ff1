#include "cgroup_components.hpp"

#include <optional>
#include <vector>

#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "runtime_units.hpp"

namespace rdtd {

using pattern::Check;
using pattern::doubtful;
using pattern::Finding;
using pattern::never;
using pattern::write;

namespace {

constexpr std::string_view system_slice = "system.slice";

bool is_literal_name(std::string_view component) { return glob_is_literal(component); }

std::string write_unit(std::string_view unit) {
  return fmt::format("write unit = {}", rdtd::quoted(unit));
}

// A component that no process is in, whatever is above it.
Check check_type(std::string_view text, std::string_view above, std::string_view name) {
  if (name == "kubepods-guaranteed.slice")
    return no_guaranteed_slice(
        text, "write \"/kubepods.slice\", after rules for burstable and besteffort");
  if (name == "-.slice")
    return never(text, "the root slice has no cgroup of its own", "leave its component out");
  const std::string_view stem = name.substr(0, name.rfind('.'));
  if (stem.ends_with('@') && has_unit_type(name))
    return never(text, pattern::only_instances,
                 write_unit(fmt::format("{}*{}", stem, name.substr(stem.size()))));
  // Elsewhere it is the name that somebody gave to a container.
  for (const std::string_view type : {".timer", ".path", ".target"})
    if (name.ends_with(type) && above.ends_with(dot_slice))
      return never(text, fmt::format("no process is in a {}", type.substr(1)),
                   type == ".target" ? "" : write_unit(fmt::format("{}.service", stem)));
  return std::nullopt;
}

// A slice is in the one that its name begins with.
Check check_slice(std::string_view text, std::string_view above, std::string_view name) {
  const std::string parent = parent_of_slice(name);
  if (parent.empty() || above == parent || !(above.empty() || is_literal_name(above)))
    return std::nullopt;
  const size_t at = text.find(name);
  if (const std::string meant = slice_of_template(name); !meant.empty() && above == system_slice)
    return doubtful(
        text, pattern::escaped_template,
        write(fmt::format("{}{}{}", text.substr(0, at), meant, text.substr(at + name.size()))));
  // The path above the slices stays: the service of a user's manager.
  std::string_view front = text.substr(0, at - 1);
  while (front.ends_with(dot_slice)) front = front.substr(0, front.rfind('/'));
  return doubtful(
      text, fmt::format("systemd puts {} into {}", name, parent),
      write(fmt::format("{}{}{}", front, path_of_slice(name), text.substr(at + name.size()))));
}

// "write user_unit = "x.service" and user = 1000"
std::string hint_for_users_service(std::string_view text, std::string_view above,
                                   std::string_view name) {
  const std::string_view uid = above.substr(5, above.size() - 5 - dot_slice.size());
  if (!text.ends_with(name)) return {};
  std::string out = fmt::format("write user_unit = {}", rdtd::quoted(name));
  if (is_digits(uid)) out += fmt::format(" and user = {}", uid);
  return out;
}

// A service or scope that is in no slice, or an instance of a template beside other services.
Check check_place(std::string_view text, std::string_view above, std::string_view name) {
  const bool is_instance =
      name.contains('@') && above == system_slice && name.ends_with(".service");
  if (name.starts_with("user@") && name.ends_with(".service") && above == "user.slice")
    return doubtful(text, fmt::format("systemd puts {} into a slice of its user", name),
                    text.ends_with(name) ? write_unit(name) : "");
  // user-runtime-dir@1000.service is the system's.
  if (name.ends_with(".service") && !name.starts_with("user") && above.starts_with("user-") &&
      above.ends_with(dot_slice))
    return doubtful(text, "a user's own services are in user@UID.service",
                    hint_for_users_service(text, above, name));
  const bool is_alone = above.empty() && name != "init.scope" &&
                        (name.ends_with(".service") || name.ends_with(".scope"));
  if (!is_instance && !is_alone) return std::nullopt;
  return doubtful(
      text,
      fmt::format("systemd puts {} into a slice{}", name, is_instance ? " of its template" : ""),
      text.ends_with(name) ? write_unit(name) : "");
}

// "/system.slice/mysql"
Check check_missing_type(std::string_view text, std::string_view above, std::string_view name) {
  if (!above.ends_with(dot_slice) || has_unit_type(name)) return std::nullopt;
  const std::string_view stem = above.substr(0, above.size() - dot_slice.size());
  const bool is_slice = name.starts_with(fmt::format("{}-", stem)) && !name.contains('.');
  std::string meant;
  if (text.ends_with(name) && above == system_slice && !name.contains('.'))
    meant = write(fmt::format("{}.service", text));
  else if (text.ends_with(name) && is_slice)
    meant = write(fmt::format("{}{}", text, dot_slice));
  else if (text.ends_with(name) && is_digits(name) && above == "user.slice")
    meant = write(fmt::format("/user.slice/user-{}.slice", name));
  else if (text.ends_with(name) && is_digits(name) && above == "qemu.slice")
    meant = fmt::format("write vm = {}", rdtd::quoted(name));
  else if (name == "besteffort" || name == "burstable")
    meant = fmt::format("write unit = \"kubepods-{}.slice\"", name);
  return doubtful(text, "what systemd has in a slice ends in .service, .scope or .slice",
                  std::move(meant));
}

// "/docker/redis", where docker makes its cgroups itself: they have whole IDs. Elsewhere they are
// scopes of system.slice.
Check check_docker(std::string_view text, const std::vector<std::string_view>& components) {
  if (components.size() != 3 || components[1] != "docker" || !is_literal_name(components[2]))
    return std::nullopt;
  const std::string_view id = components[2];
  if (id.empty() || is_whole_id(id) || id == "buildkit" || id == "buildx") return std::nullopt;
  return doubtful(text, "a container's cgroup has its whole ID",
                  hint_for_part_of_id(id, fmt::format("**/*{}*", id)));
}

}  // namespace

std::string parent_of_slice(std::string_view slice) {
  const size_t dash = slice.substr(0, slice.size() - dot_slice.size()).rfind('-');
  return dash == std::string_view::npos || dash == 0
             ? ""
             : fmt::format("{}{}", slice.substr(0, dash), dot_slice);
}

std::string slice_of_template(std::string_view slice) {
  constexpr std::string_view begin = "system-";
  if (!slice.starts_with(begin) || !slice.ends_with(dot_slice) || !is_literal_name(slice))
    return {};
  std::string out(begin);
  for (const char c : slice.substr(begin.size())) out += c == '-' ? "\\x2d" : std::string(1, c);
  return out.size() == slice.size() ? "" : out;
}

std::string path_of_slice(std::string_view slice) {
  constexpr size_t longest_unit = 255;
  const std::string parent = slice.size() > longest_unit ? "" : parent_of_slice(slice);
  return fmt::format("{}/{}", parent.empty() ? "" : path_of_slice(parent), slice);
}

Check check_cgroup_components(std::string_view text) {
  while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  const auto components = split(text, '/');
  constexpr size_t most = 32;  // deeper ones are nobody's slip
  if (components.size() > most) return std::nullopt;
  for (const std::string_view file : {"cgroup.procs", "cgroup.threads"})
    if (components.back() == file)
      return never(
          text, "it is a file of a cgroup",
          components.size() > 2 ? write(text.substr(0, text.size() - file.size() - 1)) : "");
  // Elsewhere it can be the name of one, with the second version of cgroups.
  if (components.back() == "tasks" && has_unit_type(components[components.size() - 2]))
    return Finding{fmt::format("'{}' looks like a file of a cgroup", text),
                   write(text.substr(0, text.rfind('/'))), false};
  if (auto found = check_docker(text, components)) return found;
  for (size_t i = 1; i < components.size(); i++) {
    const std::string_view name = components[i], above = components[i - 1];
    if (name.empty() || !is_literal_name(name)) continue;
    if (auto found = check_type(text, above, name)) return found;
    if (auto found = check_runtime_unit(text, name)) return found;
    if (name.ends_with(dot_slice)) {
      if (auto found = check_slice(text, above, name)) return found;
    } else if (auto found = check_place(text, above, name)) {
      return found;
    } else if (auto missing = check_missing_type(text, above, name)) {
      return missing;
    }
  }
  return std::nullopt;
}

}  // namespace rdtd
