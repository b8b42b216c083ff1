// The metrics in Prometheus's text format (prometheus.io/docs/instrumenting/exposition_formats).
// Pure; metrics.cpp collects what they are made of. Unknown values are left out, not zero. No label
// has a process in it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/bus/reads.hpp"
#include "rdtd/model/contention.hpp"
#include "rdtd/model/guard_status.hpp"
#include "rdtd/model/machine.hpp"

namespace rdtd {

struct MetricsSource {
  std::vector<DomainCounters> counters;
  Capabilities capabilities;
  Snapshot snapshot;                        // what the groups are granted
  std::optional<ManagerProperties> daemon;  // absent if it does not run
  std::vector<LockStatus> locks;
  std::vector<ContentionCount> contention;  // of rdtd-observer; none where it does not run
  GuardStatus guard;                        // likewise
};

[[nodiscard]] std::string metrics_text(const MetricsSource& source);

}  // namespace rdtd
