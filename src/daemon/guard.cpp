#include "rdtd/daemon/guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

const std::string mon_group_key = "monitoring group ";
const std::string counter_key = "counters ";
const std::string io_key = "io_alloc";
const std::string lock_key = "pseudo_lock ";

// An error by what fails. Its detail is left out: last_cmd_status grows with each attempt.
std::string key_of(const Error& error) {
  return fmt::format("{} {} {}", error.operation, error.path, error.code);
}

std::set<std::string> names_of(const std::vector<Step>& steps) {
  std::set<std::string> out;
  for (const Step& step : steps) out.insert(group_of(step));
  return out;
}

}  // namespace

void Guard::forget() {
  std::erase_if(problems_, [](const auto& problem) { return problem.first != lock_problem; });
  unmade_.clear();
  without_counters_.clear();
}

std::vector<std::string> Guard::problems(bool for_root) const {
  std::vector<std::string> out;
  for (const auto& [key, problem] : problems_)
    out.push_back(for_root ? problem.text : problem.public_text);
  return out;
}

std::string Guard::lock_failure(const std::string& name) const {
  const auto found = problems_.find(lock_key + name);
  return found == problems_.end() ? "" : found->second.public_text;
}

bool Guard::set_problem(const std::string& key, const std::string& text,
                        const std::string& public_text) {
  return problems_.insert_or_assign(key, Problem{text, public_text}).second;
}

void Guard::report(const std::string& key, const std::string& text, Comparison& out) {
  if (set_problem(key, text)) out.problems.push_back(text);
}

// A domain that is there again has been reset by the kernel: all ways and all bandwidth for
// everybody. A CPU that is online again belongs to the root.
bool Guard::kernel_reset(const Machine& machine) {
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

// A machine that has changed is planned for again, if the policy in force fits it.
std::shared_ptr<const InForce> Guard::follow_machine(const InForce& in_force,
                                                     const Machine& machine, Comparison& out) {
  auto plan = make_plan(in_force.policy, machine.capabilities, machine.snapshot, MonGroups::wanted);
  if (!plan) {
    const auto text = [&](const Sources& sources) {
      return fmt::format("the machine has changed, and the policy in force does not fit it:\n{}",
                         trim(format_diagnostics(plan.error(), sources)));
    };
    if (set_problem("machine", text(in_force.policy.sources), text({})))
      out.problems.push_back(text(in_force.policy.sources));
    return nullptr;
  }
  clear_problem("machine");
  auto changed = std::make_shared<InForce>(in_force);
  changed->capabilities = machine.capabilities;
  changed->groups = std::move(plan->groups);
  changed->locks = std::move(plan->locks);
  changed->io = std::move(plan->io);
  std::erase_if(changed->missing,
                [](const MissingPart& part) { return part.cause == Cause::machine; });
  std::ranges::move(plan->missing, std::back_inserter(changed->missing));
  return changed;
}

// The policy in force as it applies to the machine now. Puts it into `out` if it is another.
std::shared_ptr<const InForce> Guard::update(const std::shared_ptr<const InForce>& in_force,
                                             const Machine& machine, Comparison& out) {
  const Snapshot& now = machine.snapshot;
  std::shared_ptr<const InForce> current = in_force;
  if (machine.capabilities != in_force->capabilities && !in_force->groups.empty())
    if (auto changed = follow_machine(*in_force, machine, out))
      current = out.in_force = std::move(changed);
  if (current->groups.empty()) return current;
  // Under a policy that divides nothing, the default group stays as others set it.
  if (const GroupState& root = now.groups.at(std::string(root_group));
      current->policy.divides_nothing() && leaves_default_group(current->policy, now) &&
      current->groups.back().state != root) {
    auto changed = std::make_shared<InForce>(*current);
    changed->groups.back().state = root;
    current = out.in_force = std::move(changed);
  }

  std::set<std::string> taken;
  const auto note = [&](const std::string& directory) {
    if (is_taken(directory, now)) taken.insert(directory);
  };
  for (const GroupTarget& target : current->groups) {
    note(target.directory);
    std::ranges::for_each(target.mon_groups, note);
  }
  if (taken != current->taken) {
    auto changed = std::make_shared<InForce>(*current);
    changed->taken = std::move(taken);
    current = out.in_force = std::move(changed);
    out.tables_old = true;
  }
  return current;
}

// Takes over groups of the policy that another tool has removed and made again, if the policy says
// so. Returns their directories.
std::set<std::string> Guard::adopt(const InForce& in_force, Machine& machine, Comparison& out) {
  if (in_force.policy.daemon.drift != OnDrift::restore) return {};
  const std::vector<Step> steps = adoptions(in_force.groups, machine.snapshot);
  if (steps.empty()) {
    clear_problem("adopt");
    return {};
  }
  if (const auto done = applier_.carry_out(steps, machine); !done) {
    report("adopt", done.error().text(), out);
    return {};
  }
  clear_problem("adopt");
  std::set<std::string> adopted;
  for (const Step& step : steps) adopted.insert(group_of(step));
  for (Difference& difference : differences(in_force.groups, in_force.locks, {}, machine.snapshot))
    if (adopted.contains(difference.group))
      out.drift.push_back({std::move(difference.group), std::move(difference.text), true});
  machine.snapshot.owned.insert(adopted.begin(), adopted.end());
  out.groups_made = out.tables_old = true;
  return adopted;
}

// Restores what differs, if the policy says so or the kernel has reset it. True if it has.
bool Guard::restore(const InForce& in_force, const Steps& back, const Machine& machine,
                    Comparison& out) {
  const bool wanted = reset_pending_ || in_force.policy.daemon.drift == OnDrift::restore;
  bool restored = false;
  if (wanted && !(back.steps.empty() && back.removals.empty())) {
    const auto done = applier_.carry_out(back.steps, machine);
    restored = done.has_value();
    // The same failure is logged once, although its text grows with each attempt.
    if (!done && last_failure_ != key_of(done.error())) out.problems.push_back(done.error().text());
    last_failure_ = done ? "" : key_of(done.error());
    if (!done) (void)set_problem("restore", done.error().text());
    if (std::ranges::any_of(
            back.steps, [](const Step& step) { return std::holds_alternative<MakeGroup>(step); }))
      out.groups_made = out.tables_old = true;
  }
  if (back.steps.empty() || restored) {
    clear_problem("restore");
    last_failure_.clear();
    reset_pending_ = false;
  }
  return restored;
}

// Each region by itself: the kernel may find no memory for one, and limits do not wait for it.
// Returns those that were locked.
std::set<std::string> Guard::lock_regions(const std::vector<Step>& steps, const Machine& machine,
                                          Comparison& out) {
  std::set<std::string> locked, failed;
  for (size_t i = 0; i + 1 < steps.size(); i += 2) {
    const std::string& group = group_of(steps[i]);
    const auto done = applier_.carry_out({steps[i], steps[i + 1]}, machine);
    if (!done) report(lock_key + group, done.error().text(), out);
    (done ? locked : failed).insert(group);
  }
  std::erase_if(problems_, [&](const auto& problem) {
    return problem.first.starts_with(lock_key) &&
           !failed.contains(problem.first.substr(lock_key.size()));
  });
  return locked;
}

void Guard::make_later(std::map<std::string, Error> unmade) {
  for (const auto& [group, error] : unmade) {
    unmade_.insert(group);
    (void)set_problem(mon_group_key + group, error.text());
  }
}

// Nobody removed a group that could not be made yet: it is made even if drift is only reported.
// Returns the groups that were made.
std::set<std::string> Guard::make_mon_groups(const InForce& in_force, std::vector<Step> steps,
                                             const Machine& machine, Comparison& out) {
  if (in_force.policy.daemon.drift == OnDrift::report)
    std::erase_if(steps, [&](const Step& step) { return !unmade_.contains(group_of(step)); });
  const auto failed = applier_.make_mon_groups(steps, machine);
  std::set<std::string> made;
  for (const Step& step : steps)
    if (!failed.contains(group_of(step))) made.insert(group_of(step));
  if (!made.empty()) out.groups_made = out.tables_old = true;
  for (const auto& [group, error] : failed) report(mon_group_key + group, error.text(), out);
  std::erase_if(problems_, [&](const auto& problem) {
    return problem.first.starts_with(mon_group_key) &&
           !failed.contains(problem.first.substr(mon_group_key.size()));
  });
  unmade_.clear();
  for (const auto& [group, error] : failed) unmade_.insert(group);
  return made;
}

// By itself, on what the restoration has left: the kernel may refuse, as long as a group of another
// tool has the CLOSID, and limits do not depend on it.
bool Guard::enable_io(const InForce& in_force, Comparison& out) {
  const auto machine = applier_.read_machine();
  if (!machine) return false;
  const auto done = applier_.carry_out(steps_to(in_force.groups, in_force.locks, in_force.io,
                                                in_force.capabilities, machine->snapshot)
                                           .steps,
                                       *machine);
  if (done)
    clear_problem(io_key);
  else
    report(io_key, done.error().text(), out);
  return done.has_value();
}

void Guard::assign_later(const std::map<std::string, std::string>& without_counters) {
  for (const auto& [group, why] : without_counters) {
    without_counters_.insert(group);
    (void)set_problem(counter_key + group, why);
  }
}

// Counters that became free go to groups that lacked some, even if drift is only reported.
void Guard::assign_counters(const InForce& in_force, bool by_kernel,
                            const std::set<std::string>& made, Comparison& out) {
  // What was restored may have taken counters, or brought some.
  const auto machine = applier_.read_machine();
  if (!machine) return;
  without_counters_.insert(made.begin(), made.end());
  CounterPlan plan = plan_counters(in_force.groups, machine->snapshot);
  const bool wanted = by_kernel || in_force.policy.daemon.drift == OnDrift::restore;
  std::vector<Drift> lost;
  std::erase_if(plan.steps, [&](const Step& step) {
    const std::string& group = group_of(step);
    if (without_counters_.contains(group)) return false;
    const MbmAssignments& events = std::get<AssignCounters>(step).events;
    lost.push_back({group,
                    fmt::format("group '{}': no counter at {}", group_label(group),
                                mbm_assignments_line(events)),
                    wanted, by_kernel});
    return !wanted;
  });
  const auto still = applier_.assign_counters(std::move(plan), *machine);
  for (Drift& drift : lost)
    if (!still.contains(*drift.group)) out.drift.push_back(std::move(drift));
  for (const auto& [group, why] : still) report(counter_key + group, why, out);
  std::erase_if(problems_, [&](const auto& problem) {
    return problem.first.starts_with(counter_key) &&
           !still.contains(problem.first.substr(counter_key.size()));
  });
  without_counters_.clear();
  for (const auto& [group, why] : still) without_counters_.insert(group);
}

// Groups that an earlier removal left behind. One that still cannot be removed is logged once.
void Guard::remove_left_behind(const std::vector<Step>& removals, const Machine& machine,
                               Comparison& out) {
  std::set<std::string> failed;
  for (const Step& removal : removals) {
    const std::string key = "remove " + group_of(removal);
    const auto removed = applier_.carry_out({removal}, machine);
    if (removed) continue;
    failed.insert(key);
    report(key, removed.error().text(), out);
  }
  std::erase_if(problems_, [&](const auto& problem) {
    return problem.first.starts_with("remove ") && !failed.contains(problem.first);
  });
}

Guard::Comparison Guard::compare(const std::shared_ptr<const InForce>& in_force) {
  Comparison out;
  auto machine = applier_.read_machine();
  if (!machine) {
    report("read", machine.error().text(), out);
    return out;
  }
  clear_problem("read");
  const std::set<std::string> adopted = adopt(*in_force, *machine, out);
  applier_.find_busy_locks(*machine, in_force->locks);
  const auto current = update(in_force, *machine, out);
  if (current->groups.empty()) return out;

  const Snapshot& now = machine->snapshot;
  reset_pending_ = kernel_reset(*machine) || reset_pending_;
  const bool io_is_disabled = current->io && now.io.empty();
  const Steps back =
      steps_to(current->groups, current->locks, io_is_disabled ? IoTarget{} : current->io,
               current->capabilities, now);
  const std::set<std::string> unmade = unmade_;
  const bool by_kernel = reset_pending_;
  const bool restoring = by_kernel || current->policy.daemon.drift == OnDrift::restore;
  const bool all_restored = restore(*current, back, *machine, out);
  const bool ready = restoring && (all_restored || back.steps.empty());
  std::set<std::string> made =
      lock_regions(ready ? back.locks : std::vector<Step>{}, *machine, out);
  if (io_is_disabled && ready && enable_io(*current, out)) made.insert(std::string(io_group));
  if (!io_is_disabled) clear_problem(io_key);
  const std::set<std::string> locks = names_of(back.locks);
  made.merge(make_mon_groups(*current, back.mon_groups, *machine, out));
  if (!now.mbm_assignments.empty()) assign_counters(*current, by_kernel, made, out);
  remove_left_behind(back.removals, *machine, out);
  for (Difference& difference : differences(current->groups, current->locks, current->io, now)) {
    const bool by_itself = is_mon_group(difference.group) || locks.contains(difference.group) ||
                           (io_is_disabled && difference.group == io_group);
    const bool restored = by_itself ? made.contains(difference.group) : all_restored;
    if (unmade.contains(difference.group) || (restored && adopted.contains(difference.group)))
      continue;
    out.drift.push_back(
        {std::move(difference.group), std::move(difference.text), restored, by_kernel});
  }
  return out;
}

}  // namespace rdtd
