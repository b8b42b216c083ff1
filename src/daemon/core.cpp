#include "rdtd/daemon/core.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "log.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

std::shared_ptr<const InForce> nothing_in_force() {
  auto out = std::make_shared<InForce>();
  out->table = std::make_shared<RuleTable>();
  return out;
}

}  // namespace

Core::Core(System outside, Ownership ownership, Directory state_directory)
    : system(std::move(outside)),
      state{.in_force = nothing_in_force()},
      manual(std::move(state_directory)),
      applier(system, std::move(ownership)),
      drift_check(applier, problems),
      sweeper(system, manual,
              [this](pid_t pid, const Assignment& assignment, const RuleTable& table) {
                observer.on_assigned(pid, group_label(table.rules.group_of(assignment.rule)),
                                     table.rules.rules()[assignment.rule].where.text());
              }),
      publisher(system, sweeper),
      jobs(system, problems) {
  system.read_machine = [this, read = std::move(system.read_machine)] {
    auto machine = read();
    if (!machine) return machine;
    stand_ins.fill(*machine, *state.in_force);
    take_as_granted(state.in_force->groups, machine->capabilities, machine->snapshot);
    return machine;
  };
  if (const auto loaded = manual.load(system.processes); !loaded)
    spdlog::warn("{}; manual assignments are left to the rules", loaded.error().text());
  sweeper.use(state.in_force->table);
}

resctrl::Admit Core::readers() const {
  const InForce& in_force = *state.in_force;
  const bool group = !in_force.groups.empty() && in_force.policy.daemon.readers == Readers::group;
  return group ? resctrl::Admit::group : resctrl::Admit::all;
}

void Core::admit(resctrl::Admit who) {
  if (const auto done = system.admit(who); !done)
    problems.report("readers", done.error().text());
  else
    problems.clear("readers");
}

std::string cannot_be_examined(const SweepResult& swept) {
  return fmt::format("{} cannot be examined: {}", counted(swept.unknown, "process", "processes"),
                     std::strerror(swept.error));
}

void Core::note_sweep(const Result<SweepResult>& swept) {
  const auto note = [this](const char* key, size_t count, const std::string& text) {
    if (count > 0)
      problems.report(key, text);
    else
      problems.clear(key);
  };
  const std::optional<Error> unread = swept ? swept->unread : swept.error();
  note("list", unread ? 1 : 0, unread ? unread->text() : "");
  if (!swept) return;
  state.processes_by_rule = swept->by_rule;
  note("refused", swept->refused,
       fmt::format("the kernel refuses to move {}: {}",
                   counted(swept->refused, "process", "processes"), std::strerror(swept->error)));
  note("unknown", swept->unknown, cannot_be_examined(*swept));
}

void Core::report_missing() {
  std::set<std::string> names;
  for (const MissingPart& missing : state.in_force->missing) {
    const LogEvent event = missing.cause == Cause::mount     ? LogEvent::wrong_mount_options
                           : missing.cause == Cause::closids ? LogEvent::out_of_closids
                                                             : LogEvent::kernel_refused;
    const std::string text = fmt::format("{} not in force: {}", missing.what, missing.reason);
    if (problems.set(Problems::missing + missing.what, text)) log(event, text);
    names.insert(missing.what);
  }
  problems.clear_all(Problems::missing, names);
}

bool Core::misses_processes() const {
  return problems.has("list") || problems.has("unknown") || problems.has("assigned");
}

void Core::compare_within(std::chrono::milliseconds delay) {
  state.comparison_due = std::min(state.comparison_due, system.now() + delay);
}

void Core::retry_soon() {
  const auto& missing = state.in_force->missing;
  const bool waits_for_machine = std::ranges::any_of(missing, [](const MissingPart& part) {
    return part.cause == Cause::device || part.cause == Cause::machine;
  });
  // An attempt that failed may have changed nothing, so that no event comes either. A new failure
  // does not wait for those that have lasted for long.
  std::set<std::string> failing = problems.failures();
  const bool failed = state.put_off.is_first() || !failing.empty();
  const bool is_new = !std::ranges::includes(failing_, failing);
  if (!failed || is_new || applier.failure().out_of_time) retry_ = {};
  failing_ = std::move(failing);
  if (!drift_check.monitoring().unmade().empty() || waits_for_machine)
    compare_within(GrowingPause::shortest);
  if (state.in_force->users.unanswered) compare_within(user_lookup_interval);
  const auto now = system.now();
  const auto compare_after = [&](const GrowingPause& pause) {
    if (pause.is_over(now)) return;
    compare_within(std::chrono::ceil<std::chrono::milliseconds>(pause.end() - now));
  };
  if (const GrowingPause* const pause = state.put_off.pause()) compare_after(*pause);
  if (state.ended_in_force) compare_after(*state.ended_in_force);
  if (!failed) return;
  if (retry_.is_over(now)) retry_.begin(now);
  compare_after(retry_);
}

void Core::store() {
  for (const auto& stored : {manual.store(), applier.store()}) {
    if (stored) continue;
    problems.report("store",
                    stored.error().text() + ": a restart will not know what rdtd has made");
    return;
  }
  problems.clear("store");
}

}  // namespace rdtd
