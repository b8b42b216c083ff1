// The counts of a group while bench or suggest measure: the cache that it fills and its traffic, by
// resctrl, and the CPU time of its tasks.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "context.hpp"
#include "rdtd/resctrl/tree.hpp"
#include "task_counters.hpp"
#include "usage.hpp"

namespace rdtd {

class GroupCounts {
 public:
  // Without resctrl nothing is counted, and no group has tasks.
  explicit GroupCounts(const Context& context);

  [[nodiscard]] std::optional<Reading> read() const;

  struct Since {
    std::optional<double> occupancy;  // bytes of cache now
    std::optional<double> traffic;    // bytes/s of memory
  };
  // Both are absent if a domain does not count: such a sum would look like less. `seconds`: how
  // long the workload ran, while reading the counters takes a while too; nothing for tasks that go
  // on meanwhile.
  [[nodiscard]] Since since(const std::optional<Reading>& before, const std::string& group,
                            std::optional<double> seconds) const;

  [[nodiscard]] std::vector<pid_t> tasks_of(const std::string& group) const;
  [[nodiscard]] CpuSeconds task_seconds(const std::string& group) const;

 private:
  std::string proc_;
  std::optional<Tree> tree_;
};

}  // namespace rdtd
