#include "rdtd/model/container.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr std::string_view hexadecimal = "0123456789abcdef";

// "ID" of "docker-ID.scope", "libpod-ID.scope", "crio-ID.scope", "cri-containerd-ID.scope", "ID".
// CRI-O's monitor is in "crio-conmon-ID.scope", which is no container.
std::optional<std::string> container_in(std::string_view part) {
  constexpr size_t id_size = 64;
  if (part.ends_with(".scope")) part.remove_suffix(std::string_view(".scope").size());
  if (part.size() < id_size || part.contains("conmon-")) return std::nullopt;
  const std::string_view id = part.substr(part.size() - id_size);
  const bool whole = part.size() == id_size || part[part.size() - id_size - 1] == '-';
  if (!whole || id.find_first_not_of(hexadecimal) != std::string_view::npos) return std::nullopt;
  return std::string(id);
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

bool made_by_runtime(std::string_view directory) {
  return directory == "docker" || directory == "libpod_parent" || directory == "kubepods";
}

}  // namespace

ContainerIds container_of_cgroup(std::string_view path) {
  ContainerIds out;
  if (!path.starts_with('/')) return out;
  const std::vector<std::string_view> parts = split(path.substr(1), '/');
  const bool in_pods = parts.front() == "kubepods" || parts.front() == "kubepods.slice";
  const bool without_units = made_by_runtime(parts.front());
  for (size_t i = 1; i < parts.size() && out.container.empty(); i++) {
    const bool slice = parts[i - 1].ends_with(".slice");
    if (!slice && !without_units) break;
    if (in_pods && out.pod.empty()) out.pod = pod_in(parts[i]).value_or("");
    if (in_pods && out.pod.empty()) continue;
    out.container = container_in(parts[i]).value_or("");
  }
  return out;
}

}  // namespace rdtd
