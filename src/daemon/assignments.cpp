#include "rdtd/daemon/assignments.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "rdtd/base/clock.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/counters.hpp"

namespace rdtd {

namespace {

// A process that begins threads faster than they can be moved is left to later looks.
constexpr int most_passes = 16;
// Threads that are moved in one go. A visit follows, which takes turns with others.
constexpr size_t max_at_once = 4096;

// Whether the policy has such a group, and the machine cannot have it now.
bool waits_for_machine(const InForce& in_force, const std::string& directory) {
  const std::string name = group_label(control_group_of(directory));
  return !in_force.has(directory) &&
         std::ranges::find(in_force.missing, name, &MissingPart::name) != in_force.missing.end();
}

// Every thread of a process that is elsewhere, as `is_there` says of the group of each; of very
// many, the first ones. Returns 0 or errno: EAGAIN if it begins new ones elsewhere faster than
// that. A thread in the making is not seen.
int put_all_threads(const Placement& placement, const proc::Process& process, const Place& place,
                    const std::function<bool(const std::string& now)>& is_there) {
  std::unordered_set<pid_t> seen;
  bool found_new = true;
  const auto full = [&] { return seen.size() == max_at_once; };
  for (int pass = 0; pass < most_passes && found_new && !full(); pass++) {
    found_new = false;
    const auto threads = process.threads();
    if (!threads) return proc::ended(threads.error()) ? ESRCH : threads.error().code;
    for (const pid_t tid : *threads) {
      if (full()) break;
      if (!seen.insert(tid).second) continue;
      if (const auto now = process.read_thread_group(tid); now && is_there(*now)) continue;
      found_new = true;
      const int error = place.add(tid);
      if (error != 0 && error != ESRCH) return error;
      if (error == 0 && tid != process.pid()) correct_thread(placement, process, tid);
    }
  }
  const auto name = process.read_name();
  if (name) return found_new && !full() ? EAGAIN : 0;
  if (!proc::ended(name.error())) return name.error().code;
  (void)correct_placement(placement, process.pid());
  return ESRCH;
}

enum class Strayed { no, yes, unknown };

// Whether threads of a process are in another group. `inside`: those of its group, sorted, as they
// were a moment ago: others may have been born there since.
Strayed strayed_from(const std::string& directory, const std::vector<pid_t>& inside,
                     const proc::Process& process) {
  std::vector<pid_t> threads = {process.pid()};
  if (process.thread_count() > 1)
    if (auto all = process.threads()) threads = std::move(*all);
  Strayed out = Strayed::no;
  for (const pid_t tid : threads) {
    if (std::ranges::binary_search(inside, tid)) continue;
    const auto now = process.read_thread_group(tid);
    if (now && !is_in_group(*now, directory)) return Strayed::yes;
    if (!now && !proc::ended(now.error())) out = Strayed::unknown;
  }
  return out;
}

}  // namespace

Refusal cannot_examine(pid_t pid, const Error& error) {
  if (proc::ended(error)) return no_such_process(pid);
  if (proc::held_up(error)) return {Refusal::Kind::busy, error.text()};
  return {Refusal::Kind::kernel_rejected, error.text()};
}

class Assignments::Opened final : public PreparedAssign {
 public:
  Opened(Assignments& assignments, Details details, std::shared_ptr<const proc::Process> process,
         uid_t owner, std::string group, Caller caller)
      : PreparedAssign(std::move(details)),
        assignments_(assignments),
        process_(std::move(process)),
        owner_(owner),
        group_(std::move(group)),
        caller_(caller) {}

  std::expected<void, Refusal> run() override {
    // Polkit was asked about this user's process. Root asks nobody.
    const auto status = process_->read_status();
    if (!status) return std::unexpected(cannot_examine(process_->pid(), status.error()));
    if (status->identity.owner() != owner_ && !caller_.root())
      return std::unexpected(
          Refusal{Refusal::Kind::not_permitted,
                  fmt::format("process {} belongs to another user now", process_->pid())});
    return assignments_.carry_out(process_, group_, caller_);
  }

 private:
  Assignments& assignments_;
  std::shared_ptr<const proc::Process> process_;
  uid_t owner_;
  std::string group_;
  Caller caller_;
};

std::expected<std::shared_ptr<PreparedAssign>, Refusal> Assignments::prepare(
    pid_t pid, const std::string& group, const Caller& caller) {
  const std::string directory = group_directory(group);
  if (group_label(directory) != group || !core_.state.in_force->has(directory)) {
    std::vector<std::string> names;
    for (const GroupTarget& known : core_.state.in_force->groups)
      names.push_back(group_label(known.directory));
    const auto nearest = nearest_name(group, names);
    return std::unexpected(
        Refusal{Refusal::Kind::no_such_group,
                fmt::format("there is no group '{}' in the policy in force{}", printable(group),
                            nearest ? fmt::format("; did you mean '{}'?", *nearest) : "")});
  }
  // 0 would be the thread that writes: the daemon's own.
  if (pid <= 0) return std::unexpected(no_such_process(pid));
  auto process = core_.system.processes.open(pid);
  if (!process) return std::unexpected(cannot_examine(pid, process.error()));
  const auto whole = core_.system.processes.process_of(pid);
  if (!whole) return std::unexpected(cannot_examine(pid, whole.error()));
  if (*whole != pid)
    return std::unexpected(Refusal{
        Refusal::Kind::no_such_process,
        fmt::format("{} is a thread of process {}, and only a whole process can be assigned", pid,
                    *whole)});
  const auto status = (*process)->read_status();
  if (!status) return std::unexpected(cannot_examine(pid, status.error()));
  const uid_t owner = status->identity.owner();
  PreparedAssign::Details details = {
      {"pid", std::to_string(pid)}, {"uid", std::to_string(owner)}, {"group", group}};
  return std::make_shared<Opened>(*this, std::move(details), std::move(*process), owner, group,
                                  caller);
}

// Returns what put_all_threads does, and has a look follow. A monitoring group that is not there is
// an error, but its control group limits the process all the same.
int Assignments::put_into(const proc::Process& process, const std::string& directory,
                          bool only_strayed) {
  const Placement placement{*core_.state.in_force->table, core_.system.processes, core_.manual};
  const auto open = [&](const std::string& group) {
    return core_.system.resctrl.open_tasks(group);
  };
  const auto control = open(std::string(control_group_of(directory)));
  if (!control) return control.error().code;
  const bool monitors = is_mon_group(directory);
  const auto mon_group = monitors ? open(directory) : Result<std::unique_ptr<resctrl::Tasks>>();
  const int missing = mon_group ? 0 : mon_group.error().code;
  const Place place{.control_group = control->get(),
                    .mon_group = mon_group ? mon_group->get() : nullptr};
  const int result = put_all_threads(placement, process, place, [&](const std::string& now) {
    return now == directory || (only_strayed && is_in_group(now, directory));
  });
  if (result != 0 && result != EAGAIN) return result;
  core_.sweeper.visit({.pid = process.pid()}, Visits::second_look_delay);
  return missing != 0 ? missing : result;
}

std::expected<void, Refusal> Assignments::carry_out(
    const std::shared_ptr<const proc::Process>& process, const std::string& group,
    const Caller& caller) {
  const pid_t pid = process->pid();
  // The policy may have changed while polkit was asked.
  const std::string directory = group_directory(group);
  if (!core_.state.in_force->has(directory))
    return std::unexpected(Refusal{Refusal::Kind::no_such_group,
                                   fmt::format("group '{}' is no longer in force", group)});
  if (core_.state.in_force->taken.contains(directory))
    return std::unexpected(
        Refusal{Refusal::Kind::no_such_group,
                fmt::format("group '{}' was removed and made again by another tool", group)});
  // Before it is recorded: a group that is missing now is no reason to leave the rules.
  if (const auto tasks = core_.system.resctrl.open_tasks(directory); !tasks)
    return std::unexpected(refusal(tasks.error()));
  const auto earlier = core_.manual.held(pid);
  // From here on the rules leave it alone, so that they do not undo what follows.
  if (const auto full = core_.manual.add({.process = process,
                                          .group = group,
                                          .user = caller.uid,
                                          .through_execs = caller.pid == pid,
                                          .since = monotonic_nanoseconds()}))
    return std::unexpected(
        Refusal{Refusal::Kind::busy, fmt::format("too many manual assignments of {}", *full)});
  const auto before = process->read_thread_group(pid);
  const int error = put_into(*process, directory, false);
  if (error != 0 && error != EAGAIN) {
    // Some threads may be there, or all of them in the control group of a monitoring group.
    if (before) (void)put_into(*process, *before, false);
    // Where threads could not be put back, the next comparison does it. An exec meanwhile has ended
    // the earlier one too.
    const bool ended = core_.manual.group_of(pid) != group;
    if (!earlier || ended || core_.manual.add(*earlier)) core_.manual.remove(pid);
    core_.sweeper.visit({.pid = pid});
    core_.store();
    if (error == ESRCH) return std::unexpected(no_such_process(pid));
    const Error refused{
        fmt::format("put process {} in", pid), fmt::format("group '{}'", group), error, {}};
    return std::unexpected(Refusal{Refusal::Kind::kernel_rejected, refused.text()});
  }
  if (error == EAGAIN)
    spdlog::warn(
        "process {} begins threads faster than they can be put in group '{}'; looking again", pid,
        group);
  core_.store();
  core_.observer.on_assigned(pid, group, "");
  return {};
}

// A manual assignment outlives its group if the group is made again, or waits for the machine, and
// ends if the policy has no such group any more.
size_t Assignments::restore(bool only_count) {
  const InForce& in_force = *core_.state.in_force;
  size_t strayed = 0;
  std::string refused;                                // of one process
  std::map<std::string, std::vector<pid_t>> threads;  // by directory, each group read once
  if (in_force.groups.empty()) return strayed;        // no policy has been in force yet
  for (const ManualAssignments::Held& held : core_.manual.all()) {
    const pid_t pid = held.process->pid();
    const std::string directory = group_directory(held.group);
    if (waits_for_machine(in_force, directory)) continue;
    if (!in_force.has(directory)) {
      spdlog::info(
          "process {} was assigned to group '{}' manually; the policy has no such group "
          "any more, and the rules decide",
          pid, held.group);
      core_.manual.remove(pid);
      continue;
    }
    if (in_force.taken.contains(directory)) continue;
    const auto [inside, is_new] = threads.try_emplace(directory);
    if (is_new)
      inside->second =
          resctrl::read_tasks(core_.system.resctrl, directory).value_or(std::vector<pid_t>{});
    const Strayed found = strayed_from(directory, inside->second, *held.process);
    if (found == Strayed::no) continue;
    // An exec may have ended the assignment meanwhile: the rules have the process then.
    const auto holds = [&] { return core_.manual.group_of(pid) == held.group; };
    if (!holds()) continue;
    const int error = only_count ? 0 : put_into(*held.process, directory, true);
    if (!holds()) core_.sweeper.visit({.pid = pid});
    // A kernel that does not say where a process is does not say that it was elsewhere.
    if ((error == 0 || error == EAGAIN) && found == Strayed::yes) strayed++;
    if (error != 0 && error != ESRCH && error != EAGAIN)
      refused = fmt::format("cannot put process {} in group '{}' again: {}", pid, held.group,
                            std::strerror(error));
  }
  if (refused.empty())
    core_.problems.clear("assigned");
  else if (core_.problems.set("assigned", refused))
    spdlog::warn("{}", refused);
  core_.store();
  return strayed;
}

}  // namespace rdtd
