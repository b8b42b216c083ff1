// Container runtimes that manage resctrl themselves, or name cgroups in a way of their own.
#pragma once

#include <string>
#include <vector>

namespace rdtd {

struct RuntimeSetting {
  std::string runtime;
  std::string place;  // FILE:LINE of rdt_config_file
};

// Those of the machine whose root this is, by their configuration files.
[[nodiscard]] std::vector<RuntimeSetting> find_runtime_settings(const std::string& root);

// The first cgroup of a pod that containerd has made with the driver "cgroupfs" for a kubelet with
// the driver "systemd", as in /proc/PID/cgroup; empty if there is none.
[[nodiscard]] std::string find_mixed_drivers_cgroup(const std::string& root);

}  // namespace rdtd
