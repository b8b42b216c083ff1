// Assignments: puts a process in a group because somebody asked for it, whatever the rules say. The
// process is opened before anybody is asked for permission, so that the one that is moved is the
// one that was meant, even if its pid is given to another one meanwhile.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "rdtd/bus/changes.hpp"
#include "rdtd/daemon/core.hpp"

namespace rdtd {

class Assignments {
 public:
  explicit Assignments(Core& core) : core_(core) {}

  [[nodiscard]] std::expected<std::shared_ptr<PreparedAssign>, Refusal> prepare(
      pid_t pid, const std::string& group, const Caller& caller);
  // Puts all of them where they were assigned: others may have moved them, or groups were made
  // again. One whose group the policy does not have any more ends. Returns how many processes were
  // elsewhere.
  size_t restore(bool only_count = false);

 private:
  class Opened;
  [[nodiscard]] std::expected<void, Refusal> carry_out(
      const std::shared_ptr<const proc::Process>& process, const std::string& group,
      const Caller& caller);
  [[nodiscard]] int put_into(const proc::Process& process, const std::string& directory,
                             bool only_strayed);

  Core& core_;
};

// Why a request about one process cannot be answered.
[[nodiscard]] Refusal cannot_examine(pid_t pid, const Error& error);

}  // namespace rdtd
