#include "rdtd/model/container.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// Of 64 digits.
bool is_id(std::string_view text) {
  constexpr size_t id_size = 64;
  return text.size() == id_size &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// "ID" of "docker-ID.scope", "libpod-ID.scope", "crio-ID.scope", "cri-containerd-ID.scope", "ID".
// CRI-O's monitor is in "crio-conmon-ID.scope", which is no container.
std::optional<std::string> container_in(std::string_view part) {
  constexpr size_t id_size = 64;
  if (part.ends_with(".scope")) part.remove_suffix(std::string_view(".scope").size());
  if (part.size() < id_size || part.contains("conmon-")) return std::nullopt;
  const std::string_view id = part.substr(part.size() - id_size);
  const bool whole = part.size() == id_size || part[part.size() - id_size - 1] == '-';
  return whole && is_id(id) ? std::optional(std::string(id)) : std::nullopt;
}

// "UID" of "podUID" and of "kubepods-burstable-podUID.slice", where '_' stands for '-'. A static
// pod has a hash for its uid.
std::optional<std::string> pod_in(std::string_view part) {
  constexpr size_t shortest_uid = 32;
  if (part.ends_with(".slice")) part.remove_suffix(std::string_view(".slice").size());
  const size_t pod = part.rfind("pod");
  if (pod == std::string_view::npos || (pod > 0 && part[pod - 1] != '-')) return std::nullopt;
  std::string uid(part.substr(pod + 3));
  std::ranges::replace(uid, '_', '-');
  const bool is_uid = uid.size() >= shortest_uid &&
                      uid.find_first_not_of("0123456789abcdefABCDEF-") == std::string::npos;
  return is_uid ? std::optional(uid) : std::nullopt;
}

constexpr std::string_view mixed_drivers_word = ":cri-containerd:";

// "kubepods-burstable-podUID.slice:cri-containerd:ID", only directly below a cgroup in which root
// alone makes others.
ContainerIds of_mixed_drivers(std::string_view path) {
  for (const std::string_view parent : mixed_driver_parents) {
    if (!path.starts_with(parent) || !path.substr(parent.size()).starts_with('/')) continue;
    const std::string_view below = path.substr(parent.size() + 1);
    const std::string_view name = below.substr(0, below.find('/'));
    const size_t word = name.find(mixed_drivers_word);
    if (word == std::string_view::npos || !name.starts_with("kubepods")) continue;
    const std::string_view slice = name.substr(0, word);
    const std::string_view id = name.substr(word + mixed_drivers_word.size());
    auto pod = slice.ends_with(".slice") ? pod_in(slice) : std::nullopt;
    if (pod && is_id(id)) return {std::move(*pod), std::string(id)};
  }
  return {};
}

constexpr std::string_view podman_parent = "libpod_parent";

bool made_by_runtime(std::string_view directory) {
  return directory == "docker" || directory == podman_parent || directory == "kubepods";
}

}  // namespace

ContainerIds container_of_cgroup(std::string_view path) {
  ContainerIds out;
  if (!path.starts_with('/')) return out;
  if (path.contains(mixed_drivers_word)) return of_mixed_drivers(path);
  const std::vector<std::string_view> parts = split(path.substr(1), '/');
  const bool in_pods = parts.front() == "kubepods" || parts.front() == "kubepods.slice";
  const bool without_units = made_by_runtime(parts.front());
  for (size_t i = 1; i < parts.size() && out.container.empty(); i++) {
    const bool slice = parts[i - 1].ends_with(".slice");
    if (!slice && !without_units) break;
    if (in_pods && out.pod.empty()) out.pod = pod_in(parts[i]).value_or("");
    if (in_pods && out.pod.empty()) continue;
    // The cgroup of a pod of podman has the pod's ID as its name, which looks like a container's.
    if (parts.front() == podman_parent && !parts[i].starts_with("libpod-")) continue;
    out.container = container_in(parts[i]).value_or("");
  }
  return out;
}

}  // namespace rdtd
