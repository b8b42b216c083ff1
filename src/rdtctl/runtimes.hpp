// Container runtimes that manage resctrl themselves.
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

}  // namespace rdtd
