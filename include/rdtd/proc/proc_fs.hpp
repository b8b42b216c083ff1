// ProcFs: processes as a mounted /proc shows them, for one thread. It must outlive the processes
// that it opens.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "rdtd/base/directory.hpp"
#include "rdtd/proc/command_lines.hpp"
#include "rdtd/proc/containers.hpp"
#include "rdtd/proc/processes.hpp"

namespace rdtd::proc {

// Reads of /proc/PID/status that take long, which a user can arrange, take a small part of the
// time.
class StatusPace {
 public:
  [[nodiscard]] bool may_read() const { return std::chrono::steady_clock::now() >= next_; }
  // `time`: thread_cpu_time().
  void took(std::chrono::nanoseconds time);

 private:
  std::chrono::steady_clock::time_point next_;
};

class ProcFs final : public Processes {
 public:
  // How long a command line is waited for.
  static constexpr std::chrono::milliseconds default_wait{20};
  // `namespace_root`: see find_namespace_root. `containers`: null: no container has a name.
  explicit ProcFs(Directory root, std::chrono::milliseconds max_wait = default_wait,
                  std::string namespace_root = {}, const Containers* containers = nullptr)
      : root_(std::move(root)),
        namespace_root_(std::move(namespace_root)),
        containers_(containers),
        command_lines_(std::make_unique<CommandLines>(max_wait)) {}
  [[nodiscard]] Result<std::unique_ptr<Process>> open(pid_t pid) const override;
  [[nodiscard]] Result<pid_t> process_of(pid_t tid) const override;
  [[nodiscard]] bool is_alone(pid_t pid) const override;
  [[nodiscard]] Result<std::vector<pid_t>> list() const override;
  // For another thread: a call is under way that may wait for the lock of resctrl.
  [[nodiscard]] bool in_call() const { return calls_ > 0; }

 private:
  Directory root_;
  std::string namespace_root_;
  const Containers* containers_;
  std::unique_ptr<CommandLines> command_lines_;
  mutable StatusPace status_pace_;
  mutable std::atomic<int> calls_ = 0;
};

}  // namespace rdtd::proc
