#include "rdtd/daemon/placement.hpp"

#include <cerrno>
#include <utility>

#include "rdtd/model/snapshot.hpp"

namespace rdtd {

Assignment cannot_place(const Error& error) {
  if (proc::ended(error)) return {.kind = Assignment::Kind::gone};
  if (proc::held_up(error)) return {.kind = Assignment::Kind::held_up};
  return {.kind = Assignment::Kind::unknown, .error = error.code};
}

Assignment::Kind kind_of_failure(int error) {
  if (error == ESRCH) return Assignment::Kind::gone;
  if (resctrl::is_absent(error)) return Assignment::Kind::no_group;
  return Assignment::Kind::refused;
}

int add_counted(const Place& place, pid_t tid) {
  const int error = place.add(tid);
  AssignmentCounter& counter = *place.counter;
  if (error == 0) counter.moved.fetch_add(1, std::memory_order_relaxed);
  if (error != 0 && error != ESRCH && !resctrl::is_absent(error))
    counter.refused.fetch_add(1, std::memory_order_relaxed);
  return error;
}

Assignment correct_placement(const Placement& placement, pid_t tid) {
  constexpr Assignment gone{.kind = Assignment::Kind::gone};
  const auto whole = placement.processes.process_of(tid);
  if (!whole) return cannot_place(whole.error());
  const bool first = *whole == tid;
  const auto process = placement.processes.open(*whole);
  if (!process) return cannot_place(process.error());
  ProcessFacts facts;
  const RuleTable& table = placement.table;
  if (table.rules.has_thread_rules()) {
    auto name = (*process)->read_thread_name(tid);
    if (!name) return cannot_place(name.error());
    facts.thread = std::move(*name);
  }
  const auto decision = decide(table.rules, **process, facts);
  if (!decision) return cannot_place(decision.error());
  if (decision->kind == Decision::Kind::matched) {
    const Place& place = table.places[table.rules.rules()[decision->rule].destination];
    if (place.exists()) (void)place.add(tid);
    return gone;
  }
  const auto status = first ? (*process)->read_status() : Result<proc::Status>({.parent = *whole});
  if (!status) return cannot_place(status.error());
  const pid_t origin = status->parent;
  const auto opened = placement.processes.open(origin);
  const auto group =
      opened ? (*opened)->read_thread_group(origin) : std::unexpected(opened.error());
  if (!group && !proc::ended(group.error()) && group.error().code != ENOTSUP)
    return cannot_place(group.error());
  const resctrl::Tasks* tasks =
      group ? table.tasks_of(std::string(control_group_of(*group))) : nullptr;
  if (tasks == nullptr) tasks = table.tasks_of(std::string(root_group));
  if (tasks != nullptr) (void)tasks->add(tid);
  return gone;
}

void correct_thread(const Placement& placement, const proc::Process& process, pid_t tid) {
  if (const auto name = process.read_thread_name(tid); !name && proc::ended(name.error()))
    (void)correct_placement(placement, tid);
}

Place assigned_place(const RuleTable& table, const std::string& label) {
  const std::string directory = group_directory(label);
  const std::string control_group(control_group_of(directory));
  const resctrl::Tasks* mon_group = is_mon_group(directory) ? table.tasks_of(directory) : nullptr;
  return {.directory = mon_group != nullptr ? directory : control_group,
          .control_group = table.tasks_of(control_group),
          .mon_group = mon_group};
}

bool is_in_group(const std::string& now, const std::string& directory) {
  return now == directory || control_group_of(now) == directory;
}

std::optional<uid_t> responsible_user(const proc::Process& process) {
  const auto owner = process.owner();
  if (!owner) return std::nullopt;
  if (*owner != 0) return *owner;
  ProcessFacts facts;
  if (!process.read(Fact::identity, facts)) return std::nullopt;
  return facts.identity->responsible();
}

}  // namespace rdtd
