#include "runtime_units.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"

namespace rdtd {

using pattern::Check;
using pattern::doubtful;
using pattern::Finding;
using pattern::write;

namespace {

constexpr std::string_view dot_scope = ".scope", dot_service = ".service";

// The part of the name between the two; "" if the name does not have both.
std::string_view between(std::string_view name, std::string_view begin, std::string_view end) {
  const bool has_both =
      name.size() > begin.size() + end.size() && name.starts_with(begin) && name.ends_with(end);
  return has_both ? name.substr(begin.size(), name.size() - begin.size() - end.size()) : "";
}

std::string with(std::string_view text, std::string_view name, std::string_view instead) {
  std::string out(text);
  return out.replace(out.rfind(name), name.size(), instead);
}

// "kubepods-burstable-pod8f2c1d3e-0000-4abc-9def-0123456789ab.slice"
Check check_pod_slice(std::string_view text, std::string_view name) {
  constexpr size_t uid_size = 36;
  const size_t pod = name.rfind("-pod");
  if (!name.starts_with("kubepods-") || !name.ends_with(dot_slice) || pod == name.npos)
    return std::nullopt;
  const std::string_view uid = name.substr(pod + 4, name.size() - pod - 4 - dot_slice.size());
  std::string meant(name);
  if (uid.size() == uid_size && uid.contains('-'))
    std::ranges::replace(meant.begin() + static_cast<std::ptrdiff_t>(pod) + 4, meant.end(), '-',
                         '_');
  if (meant != name)
    return doubtful(text, "where systemd makes the slice of a pod, its UID has '_' instead of '-'",
                    write(with(text, name, meant)));
  if (name.substr(0, pod) != "kubepods-guaranteed") return std::nullopt;
  return no_guaranteed_slice(text, write(fmt::format("kubepods-pod{}{}", uid, dot_slice)));
}

// "docker-redis.scope": the runtimes write the whole ID there.
Check check_container_scope(std::string_view text, std::string_view name) {
  const std::string_view id = id_in_scope(name);
  if (id.empty() || is_whole_id(id)) return std::nullopt;
  const std::string_view runtime = name.substr(0, name.size() - id.size() - dot_scope.size());
  return doubtful(
      text, "a container's scope has its whole ID",
      hint_for_part_of_id(id, with(text, name, fmt::format("{}{}*{}", runtime, id, dot_scope))));
}

// "user-alice.slice", "user@alice.service"
Check check_user_unit(std::string_view text, std::string_view name) {
  std::string_view user = between(name, "user-", dot_slice);
  if (user.empty()) user = between(name, "user@", dot_service);
  // podman makes user-libpod_pod_ID.slice.
  if (user.empty() || is_digits(user) || user.contains('-') || user.starts_with("libpod_"))
    return std::nullopt;
  return doubtful(text, "systemd has the number of the user there",
                  fmt::format("write user = {}, or the number that 'id -u {}' shows",
                              rdtd::quoted(user), user));
}

// "qemu-1-web.scope": the name and number of a machine, which systemd has behind "machine-".
Check check_machine_scope(std::string_view text, std::string_view name) {
  std::string_view rest = between(name, "qemu-", dot_scope);
  const size_t dash = rest.find('-');
  if (dash == rest.npos || !is_digits(rest.substr(0, dash))) return std::nullopt;
  return doubtful(text, "the scope of a virtual machine begins with 'machine-'",
                  fmt::format("write vm = {}", rdtd::quoted(rest.substr(dash + 1))));
}

}  // namespace

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_whole_id(std::string_view id) {
  constexpr size_t id_size = 64;
  return is_hex(id) && id.size() == id_size;
}

std::string hint_for_part_of_id(std::string_view id, std::string_view pattern) {
  constexpr size_t least_digits = 8;
  return is_hex(id) && id.size() >= least_digits
             ? write(pattern)
             : fmt::format("write container = {}", rdtd::quoted(id));
}

std::string_view id_in_scope(std::string_view name) {
  for (const std::string_view runtime : {"docker-", "libpod-", "crio-", "cri-containerd-"})
    if (const std::string_view id = between(name, runtime, dot_scope); !id.empty())
      return id.starts_with("conmon-") ? std::string_view() : id;
  return {};
}

Finding no_guaranteed_slice(std::string_view text, std::string hint) {
  return {
      fmt::format("'{}' holds nothing: guaranteed pods lie directly below kubepods.slice", text),
      std::move(hint), false};
}

Check check_runtime_unit(std::string_view text, std::string_view name) {
  for (const auto check :
       {check_pod_slice, check_container_scope, check_user_unit, check_machine_scope})
    if (auto found = check(text, name)) return found;
  return std::nullopt;
}

}  // namespace rdtd
