// Release: lets the threads of one process go, those that an old rule put where they still are and
// that no new rule matches, in parts of bounded length.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/daemon/visit.hpp"

namespace rdtd {

class Release {
 public:
  // `held`: the threads in the control group of each destination of the old rules, by index.
  Release(const RuleTable& previous, const TasksByGroup& held, Placement now, pid_t pid);

  // Looks at some threads, at most `limit`. True once the release is finished.
  [[nodiscard]] bool step(size_t limit);
  [[nodiscard]] size_t released() const { return released_; }
  // Why nothing could be decided about the process or one of its threads.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  void note(const Error& error);
  [[nodiscard]] bool is_held(pid_t tid) const;
  [[nodiscard]] bool decide_again();
  [[nodiscard]] bool is_still_held(pid_t tid);

  const RuleTable& previous_;
  const TasksByGroup& held_;
  Placement now_;
  const resctrl::Tasks* root_;
  std::unique_ptr<proc::Process> process_;
  bool per_thread_;
  ProcessFacts facts_;
  std::vector<pid_t> threads_;
  size_t next_ = 0;
  // Of the whole process, once decided, or of the thread that was looked at last.
  std::optional<size_t> old_destination_;
  size_t released_ = 0;
  std::optional<Error> error_;
};

}  // namespace rdtd
