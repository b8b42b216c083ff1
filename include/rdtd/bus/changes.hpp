// Changes: the requests on D-Bus that change something, in values. The daemon implements them; the
// service translates between them and D-Bus, and knows nothing else of the daemon.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/base/unique_fd.hpp"
#include "rdtd/model/refusal.hpp"

namespace rdtd {

// The sender of a request, as the bus knows it.
struct Caller {
  uid_t uid = UINT32_MAX;
  pid_t pid = 0;  // shows whether a caller means itself; grants nothing
  [[nodiscard]] bool root() const { return uid == 0; }
};

// A manual assignment whose process is open already, so that the process that is moved is the one
// that polkit was asked about, even if its pid is reused meanwhile.
class PreparedAssign {
 public:
  // Shown to polkit and its rules: "pid", "uid" (the owner of the process), "group".
  using Details = std::map<std::string, std::string>;

  explicit PreparedAssign(Details details) : details_(std::move(details)) {}
  PreparedAssign(const PreparedAssign&) = delete;
  PreparedAssign& operator=(const PreparedAssign&) = delete;
  virtual ~PreparedAssign() = default;

  [[nodiscard]] const Details& details() const { return details_; }
  [[nodiscard]] virtual std::expected<void, Refusal> run() = 0;

 private:
  Details details_;
};

class Changes {
 public:
  Changes() = default;
  Changes(const Changes&) = delete;
  Changes& operator=(const Changes&) = delete;
  virtual ~Changes() = default;

  // Called once a change is carried out or refused, which may be after the call has returned.
  using Done = std::function<void(const std::expected<void, Refusal>&)>;
  virtual void reload(Done done) = 0;
  // Reloads, and takes over those of these groups that rdtd did not make, with their tasks. `done`
  // receives the names of the groups and monitoring groups that were taken over.
  using Adopted = std::function<void(const std::expected<std::vector<std::string>, Refusal>&)>;
  virtual void adopt(const std::vector<std::string>& groups, Adopted done) = 0;
  // Removes every group that rdtd created and forgets the policy in force, until the next reload.
  virtual void reset(Done done) = 0;
  // Puts a piece of policy in force until every copy of the descriptor that `done` receives is
  // closed.
  using Leased = std::function<void(std::expected<UniqueFd, Refusal>)>;
  virtual void lease(const std::string& name, const std::string& policy, const Caller& caller,
                     Leased done) = 0;
  // Replaces the text of a lease of the caller's own, root that of any. If the new text is refused,
  // the one before stays in force.
  virtual void update_lease(const std::string& name, const std::string& policy,
                            const Caller& caller, Done done) = 0;
  // Opens a process that is to be assigned to a group of the policy in force, whatever the rules
  // say, until it calls execve(2) or ends. A caller that assigns itself does so for the program
  // that it executes next. Never null.
  [[nodiscard]] virtual std::expected<std::shared_ptr<PreparedAssign>, Refusal> prepare_assign(
      pid_t pid, const std::string& group, const Caller& caller) = 0;
  // The machine has woken up from a suspend, in which CPUs were offline.
  virtual void resumed() = 0;
};

}  // namespace rdtd
