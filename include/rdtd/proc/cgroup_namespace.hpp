// The cgroup namespace of this process. /proc/PID/cgroup shows paths from the namespace's root, so
// in a container, a service of the host is in "/../../system.slice/some.service". Rules and
// CgroupWatch name cgroups from the root of the hierarchy. Source: cgroup_namespaces(7).
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "rdtd/base/directory.hpp"

namespace rdtd::proc {

// The root of the namespace, from the root of `hierarchy`; "" if both are the same. `self` is the
// pid of this process, `proc` a mounted /proc. An error if no cgroup of the hierarchy that root
// owns has the process, or if other processes are outside the hierarchy.
[[nodiscard]] Result<std::string> find_namespace_root(const Directory& hierarchy,
                                                      const Directory& proc, pid_t self);

// The path from the root of the hierarchy, of a path that /proc/PID/cgroup shows in the namespace.
[[nodiscard]] std::string from_hierarchy(std::string_view namespace_root, std::string_view shown);

}  // namespace rdtd::proc
