// The container and the Kubernetes pod that a cgroup belongs to, by their numbers: the runtimes put
// these into the paths of their cgroups, and names only into their own state. Of podman
// (machine.slice/libpod-ID.scope), Docker (system.slice/docker-ID.scope, /docker/ID), containerd
// and CRI-O below kubepods.slice or /kubepods. With cgroup drivers "systemd" and "cgroupfs".
//
// A user can make cgroups of any name below one that was delegated to the user. So only the first
// unit in the path counts, and without a unit a path that begins with a runtime's own directory.
// containerd with the driver "cgroupfs" takes what a kubelet with the driver "systemd" asks for as
// one name, "kubepods-burstable-podUID.slice:cri-containerd:ID", beside its own cgroup or at the
// root. It counts only in the cgroups where containerd makes it: elsewhere, anybody could.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace rdtd {

struct ContainerIds {
  std::string pod;        // uid, with '-' between its parts; of a static pod, a hash
  std::string container;  // 64 hexadecimal digits

  bool operator==(const ContainerIds&) const = default;
};

// The cgroups directly below which containerd makes such names; "" is the root.
inline constexpr std::array<std::string_view, 7> mixed_driver_parents = {
    "",
    "/system.slice",
    "/system.slice/containerd.service",
    "/system.slice/k3s.service",
    "/system.slice/k3s-agent.service",
    "/system.slice/rke2-server.service",
    "/system.slice/rke2-agent.service"};

// Empty for what it does not belong to.
[[nodiscard]] ContainerIds container_of_cgroup(std::string_view path);

}  // namespace rdtd
