// Manual assignment: the process is opened before anybody is asked for permission, so that the one
// that is moved is the one that was meant, even if its pid is given to another one meanwhile.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "rdtd/base/clock.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/daemon/manager.hpp"

namespace rdtd {

class Manager::OpenedAssign final : public PreparedAssign {
 public:
  OpenedAssign(Manager& manager, Details details, std::shared_ptr<const proc::Process> process,
               std::string group, Caller caller)
      : PreparedAssign(std::move(details)),
        manager_(manager),
        process_(std::move(process)),
        group_(std::move(group)),
        caller_(caller) {}

  std::expected<void, Refusal> run() override { return manager_.assign(process_, group_, caller_); }

 private:
  Manager& manager_;
  std::shared_ptr<const proc::Process> process_;
  std::string group_;
  Caller caller_;
};

std::expected<std::shared_ptr<PreparedAssign>, Refusal> Manager::prepare_assign(
    pid_t pid, const std::string& group, const Caller& caller) {
  const std::string directory = group_directory(group);
  if (group_label(directory) != group || !in_force_->has(directory)) {
    std::vector<std::string> names;
    for (const GroupStatus& known : list_groups()->all()) names.push_back(known.name);
    const auto nearest = nearest_name(group, names);
    return std::unexpected(
        Refusal{Refusal::Kind::no_such_group,
                fmt::format("there is no group '{}' in the policy in force{}", printable(group),
                            nearest ? fmt::format("; did you mean '{}'?", *nearest) : "")});
  }
  // 0 would be the thread that writes: the daemon's own.
  if (pid <= 0) return std::unexpected(no_such_process(pid));
  auto process = system_.processes.open(pid);
  if (!process) return std::unexpected(cannot_examine(pid, process.error()));
  const auto whole = (*process)->read_process();
  if (!whole) return std::unexpected(cannot_examine(pid, whole.error()));
  if (*whole != pid)
    return std::unexpected(Refusal{
        Refusal::Kind::no_such_process,
        fmt::format("{} is a thread of process {}, and only a whole process can be assigned", pid,
                    *whole)});
  ProcessFacts facts;
  if (const auto read = (*process)->read(Fact::identity, facts); !read)
    return std::unexpected(cannot_examine(pid, read.error()));
  PreparedAssign::Details details = {
      {"pid", std::to_string(pid)}, {"uid", std::to_string(facts.identity->uid)}, {"group", group}};
  return std::make_shared<OpenedAssign>(*this, std::move(details), std::move(*process), group,
                                        caller);
}

// Returns an errno, or 0. The kernel takes a thread into a monitoring group only from its control
// group.
int Manager::put_into(const proc::Process& process, const std::string& directory) {
  std::vector<std::string> way = {std::string(control_group_of(directory))};
  if (is_mon_group(directory)) way.push_back(directory);
  for (const std::string& group : way) {
    const auto tasks = system_.resctrl.open_tasks(group);
    if (!tasks) return tasks.error().code;
    if (const int error = put_all_threads(process, **tasks); error != 0) return error;
  }
  return 0;
}

std::expected<void, Refusal> Manager::assign(const std::shared_ptr<const proc::Process>& process,
                                             const std::string& group, const Caller& caller) {
  const pid_t pid = process->pid();
  // The policy may have changed while polkit was asked.
  const std::string directory = group_directory(group);
  if (!in_force_->has(directory))
    return std::unexpected(Refusal{Refusal::Kind::no_such_group,
                                   fmt::format("group '{}' is no longer in force", group)});
  if (in_force_->taken.contains(directory))
    return std::unexpected(
        Refusal{Refusal::Kind::no_such_group,
                fmt::format("group '{}' was removed and made again by another tool", group)});
  // Before it is recorded: a group that is missing now is no reason to leave the rules.
  if (const auto tasks = system_.resctrl.open_tasks(directory); !tasks)
    return std::unexpected(refusal(tasks.error()));
  // From here on the rules leave it alone, so that they do not undo what follows.
  if (const auto full = manual_.add({.process = process,
                                     .group = group,
                                     .user = caller.uid,
                                     .through_execs = caller.pid == pid,
                                     .since = monotonic_nanoseconds()}))
    return std::unexpected(
        Refusal{Refusal::Kind::busy, fmt::format("too many manual assignments of {}", *full)});
  if (const int error = put_into(*process, directory); error != 0) {
    manual_.remove(pid);
    sweeper_.visit({.pid = pid});
    store();
    if (error == ESRCH) return std::unexpected(no_such_process(pid));
    const Error refused{
        fmt::format("put process {} in", pid), fmt::format("group '{}'", group), error, {}};
    return std::unexpected(Refusal{Refusal::Kind::kernel_rejected, refused.text()});
  }
  store();
  observer_.on_assigned(pid, group, "");
  return {};
}

}  // namespace rdtd
