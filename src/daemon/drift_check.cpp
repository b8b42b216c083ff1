#include "rdtd/daemon/drift_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "log.hpp"

namespace rdtd {

namespace {

const std::string io_key = "io_alloc";
const std::string mode_key = "mode ";
const std::string remove_key = "remove ";

// An error by what fails. Its detail is left out: last_cmd_status grows with each attempt.
std::string key_of(const Error& error) {
  return fmt::format("{} {} {}", error.operation, error.path, error.code);
}

// Takes the last steps away, those that set the exclusive mode.
std::vector<Step> take_modes(std::vector<Step>& steps) {
  const auto sets_exclusive = [](const Step& step) {
    const auto* mode = std::get_if<SetMode>(&step);
    return mode != nullptr && mode->after == Mode::exclusive;
  };
  std::vector<Step> out;
  std::ranges::copy_if(steps, std::back_inserter(out), sets_exclusive);
  std::erase_if(steps, sets_exclusive);
  return out;
}

}  // namespace

void DriftCheck::forget(bool left_others) {
  monitoring_.forget();
  if (left_others) return;
  following_.clear();
  lost_.clear();
  left_alone_.forget();
}

// A domain that is there again has been reset by the kernel: all ways and all bandwidth for
// everybody. A CPU that is online again belongs to the root.
bool DriftCheck::kernel_reset(const Machine& machine) {
  if (machine.snapshot.torn) return false;
  const Schemata& domains = machine.snapshot.groups.at(std::string(root_group)).schemata;
  CpuSet online = machine.snapshot.online_cpus();
  bool came_back = last_online_ && !std::ranges::includes(*last_online_, online);
  last_online_ = std::move(online);
  if (last_domains_)
    for (const auto& [resource, values] : domains)
      for (const auto& [domain, value] : values)
        if (!(*last_domains_)[resource].contains(domain)) came_back = true;
  last_domains_ = domains;
  return came_back;
}

// Each is reported once, but for what a kernel or another tool keeps to itself.
void DriftCheck::report_unread(const Snapshot& now, Comparison& out) {
  constexpr int not_understood = 0;
  for (const auto& [group, unread] : now.unread) {
    const int code = unread.error.code;
    const bool kept = code == EACCES || code == EPERM || code == not_understood;
    if ((resctrl::is_absent(code) && now.torn) || (kept && !now.owned.contains(group))) continue;
    out.unread.insert(group);
    problems_.report(Problems::file + group, unread.error.text());
  }
  problems_.clear_all(Problems::file, out.unread);
}

// Takes over groups of the policy that another tool has removed and made again, if the policy says
// so. Returns their directories.
std::set<std::string> DriftCheck::adopt(const InForce& in_force, Machine& machine,
                                        Comparison& out) {
  if (in_force.policy.daemon.drift != OnDrift::restore) return {};
  const std::vector<Step> steps = adoptions(in_force.groups, machine.snapshot);
  if (steps.empty()) {
    problems_.clear("adopt");
    return {};
  }
  if (const auto done = executor_.carry_out(steps, machine); !done) {
    problems_.report("adopt", done.error().text());
    return {};
  }
  problems_.clear("adopt");
  std::set<std::string> adopted;
  for (const Step& step : steps) adopted.insert(group_of(step));
  for (Difference& difference : differences(in_force.groups, in_force.locks, {}, machine.snapshot))
    if (adopted.contains(difference.group))
      out.drift.push_back({std::move(difference.group), std::move(difference.text), true});
  machine.snapshot.owned.insert(adopted.begin(), adopted.end());
  out.groups_made = out.tables_old = true;
  return adopted;
}

// Where not all of it can be had: first the groups that are there, together, then each that is to
// be made, by itself.
DriftCheck::Restored DriftCheck::restore_apart(const std::vector<Step>& steps, Comparison& out) {
  std::set<std::string> made;
  for (const Step& step : steps)
    if (std::holds_alternative<MakeGroup>(step)) made.insert(group_of(step));
  std::vector<std::vector<Step>> parts(1);
  std::map<std::string, size_t> part_of;
  for (const Step& step : steps) {
    const std::string& group = group_of(step);
    size_t part = 0;
    if (made.contains(group)) part = part_of.emplace(group, parts.size()).first->second;
    if (part == parts.size()) parts.emplace_back();
    parts[part].push_back(step);
  }
  Restored result;
  Result<Machine> machine;
  for (size_t i = 0; i < parts.size(); i++) {
    if (parts[i].empty()) continue;
    // Groups that are to be made change nothing for each other.
    if (i <= 1) machine = applier_.read_machine();
    const auto done = machine ? executor_.carry_out(parts[i], *machine)
                              : Result<void>(std::unexpected(machine.error()));
    if (done && i > 0) out.groups_made = out.tables_old = true;
    if (done) continue;
    if (i == 0) {
      restore_each(parts[i], out, result);
      continue;
    }
    for (const Step& step : parts[i]) out.refused.insert(group_of(step));
    if (!result.error) result.error = done.error();
  }
  return result;
}

// One that the kernel refuses keeps no other from what it can have.
void DriftCheck::restore_each(const std::vector<Step>& steps, Comparison& out, Restored& result) {
  std::map<std::string, std::vector<Step>> by_group;
  for (const Step& step : steps) by_group[group_of(step)].push_back(step);
  for (const auto& [group, own] : by_group) {
    const auto machine = applier_.read_machine();
    const auto done = machine ? executor_.carry_out(own, *machine)
                              : Result<void>(std::unexpected(machine.error()));
    if (done) continue;
    out.refused.insert(group);
    result.limits = false;
    if (!result.error) result.error = done.error();
  }
}

// Restores what differs, if the policy says so or the kernel has reset it.
DriftCheck::Restored DriftCheck::restore(const InForce& in_force, const std::vector<Step>& steps,
                                         const Machine& machine, Comparison& out) {
  Restored result;
  result.limits = reset_pending_ || in_force.policy.daemon.drift == OnDrift::restore;
  result.all = result.limits;
  if (result.all && !steps.empty()) {
    const auto whole =
        last_failure_.empty() ? executor_.carry_out(steps, machine) : std::unexpected(Error{});
    const bool makes = std::ranges::any_of(
        steps, [](const Step& step) { return std::holds_alternative<MakeGroup>(step); });
    if (whole && makes) out.groups_made = out.tables_old = true;
    if (!whole) result = restore_apart(steps, out);
    result.all = !result.error;
    // The same failure is logged once, although its text grows with each attempt.
    if (result.error && last_failure_ != key_of(*result.error))
      log(LogEvent::kernel_refused, result.error->text());
    last_failure_ = result.error ? key_of(*result.error) : "";
    if (result.error) problems_.set("restore", result.error->text());
  }
  if (steps.empty() || result.all) {
    problems_.clear("restore");
    last_failure_.clear();
  }
  // The kernel's reset removes no group. One that a failed undo could not make again stays a
  // problem.
  if (steps.empty() || result.limits) reset_pending_ = false;
  return result;
}

// The state that the steps before have left. Nothing if it cannot be read: then the comparison is
// made again soon.
std::optional<Machine> DriftCheck::read_again() {
  auto machine = applier_.read_machine();
  if (machine) return std::move(*machine);
  problems_.report("read", machine.error().text());
  read_failed_ = true;
  return std::nullopt;
}

// Each by itself: one that the kernel refuses undoes no limit. One that others have made possible
// again, and one that rdtd could not set after a reset by the kernel, is set even if drift is only
// reported. `ready`: the limits are restored.
void DriftCheck::set_modes(const std::vector<Step>& modes, bool ready, bool by_kernel) {
  if (modes.empty()) return problems_.clear_all(mode_key, {});
  std::set<std::string> failed;
  const auto machine = read_again();
  for (const Step& step : modes) {
    const std::string& group = group_of(step);
    if (!machine && by_kernel) following_.insert(group);
    if (!machine || (!ready && !following_.contains(group))) continue;
    if (!machine->snapshot.groups.contains(group)) continue;  // it could not be made
    const auto done = executor_.carry_out({step}, *machine);
    if (done) continue;
    if (by_kernel) following_.insert(group);
    failed.insert(group);
    problems_.report(mode_key + group, done.error().text());
  }
  if (machine) problems_.clear_all(mode_key, failed);
}

// Each region by itself: the kernel may find no memory for one, and limits do not wait for it. One
// that the kernel took is locked even if drift is only reported. `ready`: all limits are restored.
void DriftCheck::lock_regions(std::vector<Step> steps, bool ready, bool by_kernel,
                              Comparison& out) {
  const auto is_region = [](const Step& step) {
    return std::holds_alternative<MakeGroup>(step) || std::holds_alternative<LockRegion>(step);
  };
  std::set<std::string> regions;
  for (const Step& step : steps)
    if (is_region(step)) regions.insert(group_of(step));
  std::erase_if(lost_, [&](const std::string& group) {
    return group != io_group && !regions.contains(group);
  });
  if (by_kernel) lost_.merge(regions);
  if (!ready)
    std::erase_if(steps, [&](const Step& step) {
      return is_region(step) && !lost_.contains(group_of(step));
    });
  if (std::ranges::none_of(steps, is_region)) steps.clear();
  std::set<std::string> failed;
  const auto machine = steps.empty() ? std::optional<Machine>() : read_again();
  if (!steps.empty() && !machine) return;  // what could not be locked before still is not
  for (auto step = steps.begin(); step != steps.end();) {
    const std::string& group = group_of(*step);
    const auto first = step;
    step += std::holds_alternative<MakeGroup>(*step) ? 2 : 1;
    const auto done = executor_.carry_out({first, step}, *machine);
    if (done) lost_.erase(group);
    if (done) continue;
    const bool is_mode = std::holds_alternative<SetMode>(*first);
    problems_.report((is_mode ? mode_key : lock_key) + group, done.error().text());
    failed.insert(group);
  }
  problems_.clear_all(lock_key, failed);
  // Groups that left the exclusive mode meanwhile have changed too.
  if (!failed.empty())
    for (const Step& step : steps) out.refused.insert(group_of(step));
}

// By itself, on what the restoration has left: the kernel may refuse, as long as a group of another
// tool has the CLOSID, and limits do not depend on it.
// `alone`: nothing else is to be restored.
void DriftCheck::enable_io(const InForce& in_force, bool alone, Comparison& out) {
  const auto machine = read_again();
  if (!machine) return;
  std::vector<Step> steps = steps_to(in_force.groups, in_force.locks, in_force.io,
                                     in_force.capabilities, machine->snapshot)
                                .steps;
  if (alone) std::erase_if(steps, [](const Step& step) { return group_of(step) != io_group; });
  const auto done = executor_.carry_out(steps, *machine);
  if (done) {
    problems_.clear(io_key);
    lost_.erase(std::string(io_group));
    return;
  }
  problems_.report(io_key, done.error().text());
  out.refused.insert(std::string(io_group));
}

void DriftCheck::restore_io(const InForce& in_force, bool is_disabled, bool ready, bool by_kernel,
                            Comparison& out) {
  const std::string io(io_group);
  if (is_disabled && by_kernel) lost_.insert(io);
  if (is_disabled && (ready || lost_.contains(io)))
    enable_io(in_force, !ready || in_force.policy.daemon.drift == OnDrift::report, out);
  if (is_disabled) return;
  lost_.erase(io);
  problems_.clear(io_key);
}

void DriftCheck::compare_monitoring(const InForce& in_force, std::vector<Step> mon_groups,
                                    const Machine& before, bool by_kernel, Comparison& out) {
  const auto made = monitoring_.make_groups(in_force, std::move(mon_groups), before, by_kernel);
  if (!made.empty()) out.groups_made = out.tables_old = true;
  if (before.snapshot.mbm_assignments.empty()) return monitoring_.forget_counters();
  // The restored groups may have taken counters, or brought some.
  auto taken = monitoring_.assign_counters(in_force, by_kernel, made, read_again());
  std::ranges::move(taken, std::back_inserter(out.drift));
}

// Groups that an earlier removal left behind. One that still cannot be removed is logged once.
void DriftCheck::remove_left_behind(const std::vector<Step>& removals, const Machine& machine) {
  std::set<std::string> failed;
  for (const Step& removal : removals) {
    const auto removed = executor_.carry_out({removal}, machine);
    if (removed) continue;
    failed.insert(group_of(removal));
    problems_.report(remove_key + group_of(removal), removed.error().text());
  }
  problems_.clear_all(remove_key, failed);
}

// A mode that rdtd itself has yet to set is no difference.
std::vector<Difference> DriftCheck::differences_to(const InForce& in_force, Snapshot now) const {
  for (const std::string& group : following_)
    if (const auto found = now.groups.find(group); found != now.groups.end())
      found->second.mode = in_force.find(group)->state.mode;
  return differences(in_force.groups, in_force.locks, in_force.io, now);
}

// Adds the differences that were restored and those that remain. Adopted groups are reported
// already, and nobody removed a group that could not be made yet.
void DriftCheck::add_drift(const InForce& in_force, const Snapshot& before, bool by_kernel,
                           const std::set<std::string>& adopted,
                           const std::set<std::string>& unmade, Comparison& out) {
  std::vector<Difference> found = differences_to(in_force, before);
  if (found.empty()) return left_alone_.remember(in_force.groups, before);
  const auto machine = read_again();
  if (machine)
    left_alone_.remember(in_force.groups, machine->snapshot);
  else
    left_alone_.forget();
  std::vector<Difference> left = machine ? differences_to(in_force, machine->snapshot) : found;
  std::set<std::string> differing;
  for (const Difference& difference : left) differing.insert(difference.group);
  const auto add = [&](Difference& difference, bool restored) {
    if (!unmade.contains(difference.group))
      out.drift.push_back(
          {std::move(difference.group), std::move(difference.text), restored, by_kernel});
  };
  for (Difference& difference : found)
    if (!differing.contains(difference.group) && !adopted.contains(difference.group))
      add(difference, true);
  for (Difference& difference : left) add(difference, false);
}

DriftCheck::Comparison DriftCheck::compare(const std::shared_ptr<const InForce>& in_force) {
  Comparison out;
  auto machine = applier_.read_machine();
  if (!machine) {
    problems_.report("read", machine.error().text());
    out.read = false;
    return out;
  }
  read_failed_ = false;
  report_unread(machine->snapshot, out);
  const std::set<std::string> adopted = adopt(*in_force, *machine, out);
  applier_.find_busy_locks(*machine, in_force->locks);
  const auto current = update(in_force, *machine, out);
  if (current->groups.empty()) {
    problems_.clear("read");
    return out;
  }
  const Snapshot& now = machine->snapshot;
  reset_pending_ = kernel_reset(*machine) || reset_pending_;
  const bool io_is_disabled = current->io && now.io.empty();
  Steps back = steps_to(current->groups, current->locks, io_is_disabled ? IoTarget{} : current->io,
                        current->capabilities, now);
  if (reset_pending_ && current->policy.daemon.drift == OnDrift::report) {
    std::set<std::string> pending = following_;
    pending.insert(monitoring_.unmade().begin(), monitoring_.unmade().end());
    left_alone_.take_out(current->groups, *machine, pending, back);
  }
  const std::vector<Step> modes = take_modes(back.steps);
  const std::set<std::string> unmade = monitoring_.unmade();
  const bool by_kernel = reset_pending_;
  const Restored restored = restore(*current, back.steps, *machine, out);
  set_modes(modes, restored.limits, by_kernel);
  lock_regions(std::move(back.locks), restored.all, by_kernel, out);
  restore_io(*current, io_is_disabled, restored.all, by_kernel, out);
  compare_monitoring(*current, std::move(back.mon_groups), *machine, by_kernel, out);
  remove_left_behind(back.removals, *machine);
  add_drift(*current, now, by_kernel, adopted, unmade, out);
  if (!read_failed_) problems_.clear("read");
  // Groups that could not be restored are not left alone, nor groups that changed while they were
  // read. It is not known yet whether the kernel has reset the groups that could not be read.
  const bool partly = std::ranges::any_of(
      out.unread, [&](const std::string& group) { return current->has(group); });
  if (now.torn || partly) reset_pending_ = by_kernel;
  left_alone_.forget(out.refused);
  if (now.torn || (restored.error && out.refused.empty())) left_alone_.forget();
  return out;
}

}  // namespace rdtd
