// The value that a template of monitoring groups stands for in a process.
#pragma once

#include <optional>
#include <string>

#include "rdtd/model/process_facts.hpp"
#include "rdtd/policy/monitor_template.hpp"

namespace rdtd {

// The fact that it is taken from.
[[nodiscard]] Fact fact_of(MonitorTemplate::Value value);
// unit: the innermost unit of the system manager that is not a slice, "redis.service". user: the
// number of the user who started it, "1000". pod: the uid of the Kubernetes pod, as its cgroup has
// it. Nothing if the process is in none.
[[nodiscard]] std::optional<std::string> monitor_value(MonitorTemplate::Value value,
                                                       const ProcessFacts& facts);

}  // namespace rdtd
