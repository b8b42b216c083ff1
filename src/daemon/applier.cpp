#include "rdtd/daemon/applier.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <ranges>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/members.hpp"

namespace rdtd {

namespace {

// How long one load looks for what the kernel takes: nothing else happens meanwhile, and with n
// refused parts it plans and undoes up to 2n times.
constexpr std::chrono::seconds longest_search{2};

// Of the control groups among `names`, those that have devices.
std::map<std::string, std::set<unsigned>> devices_in(const resctrl::Filesystem& filesystem,
                                                     const std::set<std::string>& names) {
  std::map<std::string, std::set<unsigned>> out;
  for (const std::string& name : names) {
    if (name == root_group || name == io_group || is_mon_group(name)) continue;
    const auto members = resctrl::read_members(filesystem, name);
    if (members && !members->iommu_groups.empty()) out.emplace(name, members->iommu_groups);
  }
  return out;
}

// Whether a group comes, goes or becomes rdtd's.
bool changes_groups(const Steps& changes) {
  const auto of_groups = [](const Step& step) {
    return std::holds_alternative<AdoptGroup>(step) || std::holds_alternative<MakeGroup>(step) ||
           std::holds_alternative<RemoveGroup>(step);
  };
  return std::ranges::any_of(changes.steps, of_groups) || !changes.removals.empty() ||
         !changes.mon_groups.empty() || !changes.locks.empty();
}

// Whether all of its files could be opened.
bool is_whole(const RuleTable& table) {
  return std::ranges::all_of(table.tasks, [](const auto& open) { return open.second != nullptr; });
}

std::vector<std::string> adopted_by(const std::vector<Step>& steps) {
  std::vector<std::string> out;
  for (const Step& step : steps)
    if (std::holds_alternative<AdoptGroup>(step)) out.push_back(group_label(group_of(step)));
  return out;
}

// Takes away the steps of groups of which the same is wanted as before, and of monitoring groups
// that then have no group, or not its CPUs.
void leave_unchanged(const InForce& before, const Snapshot& now, Plan& plan) {
  std::set<std::string> unchanged;
  for (const GroupTarget& target : plan.groups) {
    const auto known = std::ranges::find(before.groups, target.directory, &GroupTarget::directory);
    if (known != before.groups.end() && known->state == target.state)
      unchanged.insert(target.directory);
  }
  for (const Step& step : plan.changes.steps)
    if (std::holds_alternative<AdoptGroup>(step)) unchanged.erase(group_of(step));
  std::erase_if(plan.changes.steps,
                [&](const Step& step) { return unchanged.contains(group_of(step)); });
  std::erase_if(plan.changes.mon_groups, [&](const Step& step) {
    const std::string group(control_group_of(group_of(step)));
    return unchanged.contains(group) &&
           (!now.groups.contains(group) || std::holds_alternative<WriteCpus>(step));
  });
}

bool leaves_others(const Applier::Request& request, const InForce& before) {
  return !request.restores && before.policy.daemon.drift == OnDrift::report;
}

// The state that was put in force, as one value.
std::shared_ptr<const InForce> in_force_of(Applier::Loaded loaded, Applier::Request request,
                                           std::shared_ptr<const RuleTable> table) {
  auto [policy, plan, warnings, text_warnings, missing] = std::move(loaded.prepared);
  // A policy can have very many rules, and the table has them in another form.
  std::erase_if(policy.rules, [](const Rule& rule) { return !rule.monitor; });
  policy.rules.shrink_to_fit();
  auto in_force = std::make_shared<InForce>();
  in_force->policy = std::move(policy);
  in_force->users = std::move(loaded.users);
  in_force->groups = std::move(plan.groups);
  in_force->locks = std::move(plan.locks);
  in_force->io = std::move(plan.io);
  in_force->capabilities = std::move(loaded.machine.capabilities);
  in_force->obstacles = obstacles(loaded.machine.snapshot);
  in_force->files = std::move(request.files);
  in_force->leases = std::move(request.leases);
  in_force->missing = std::move(missing);
  in_force->table = std::move(table);
  in_force->warnings = std::move(warnings);
  in_force->text_warnings = std::move(text_warnings);
  return in_force;
}

}  // namespace

Refusal refusal(const Error& error) {
  Refusal out{.kind = Refusal::Kind::kernel_rejected, .text = error.text()};
  if (error.code == ENOSPC && error.operation == "make group")
    out.kind = Refusal::Kind::out_of_closids;
  if (error.code == EBUSY) out.kind = Refusal::Kind::busy;
  return out;
}

Refusal Applier::refusal(const Rejected& rejected) const {
  const auto first =
      std::ranges::find(rejected.diagnostics, Severity::error, &Diagnostic::severity);
  Refusal out{.kind = Refusal::Kind::invalid_policy,
              .text = format_diagnostics(rejected.diagnostics, rejected.sources),
              .where = first->where};
  if (first->cause == Cause::mount) out.kind = Refusal::Kind::not_supported;
  if (first->cause == Cause::closids) out.kind = Refusal::Kind::out_of_closids;
  if (rejected.machine_is_cause && out.kind == Refusal::Kind::invalid_policy)
    out.kind = Refusal::Kind::busy;
  // Without an edit, the next attempt may succeed.
  if (std::ranges::find(rejected.diagnostics, Cause::machine, &Diagnostic::cause) !=
      rejected.diagnostics.end())
    out.kind = Refusal::Kind::busy;
  out.public_text = format_diagnostics(rejected.diagnostics, {});
  return out;
}

Result<Machine> Applier::read_machine() {
  auto machine = system_.read_machine();
  if (!machine) return machine;
  // Once every group is limited, none shows it any more.
  for (auto& [resource, info] : machine->capabilities.bandwidths)
    for (auto& [domain, unlimited] : info.unlimited)
      unlimited = unlimited_[resource] = std::max(unlimited_[resource], unlimited);
  if (!std::exchange(settled_, true))
    for (const std::string& group :
         executor_.ownership().settle(machine->snapshot, system_.resctrl))
      spdlog::warn(
          "rdtd was killed before it had made or taken over group '{}', which is in use now: it is "
          "another tool's",
          group_label(group));
  if (!unrecordable_.empty() && executor_.ownership().store()) unrecordable_.clear();
  machine->snapshot.unrecordable = unrecordable_;
  machine->snapshot.owned = executor_.ownership().owned(machine->snapshot);
  last_owned_ = machine->snapshot.owned;
  tables_.note_others(machine->snapshot);
  refused_.leave_alone(machine->snapshot);
  return machine;
}

// Of the regions that the steps undo.
std::map<std::string, std::string> Applier::holders_of(const std::vector<Step>& steps,
                                                       const Snapshot& now) const {
  std::map<std::string, std::string> out;
  for (const Step& step : steps) {
    const auto group = now.groups.find(group_of(step));
    if (!std::holds_alternative<RemoveGroup>(step) || group == now.groups.end() ||
        group->second.mode != Mode::pseudo_locked)
      continue;
    if (auto holder = system_.device_holder(group->first))
      out.emplace(group->first, *std::move(holder));
  }
  return out;
}

void Applier::find_busy_locks(Machine& machine, const std::vector<LockTarget>& locks) {
  Snapshot& now = machine.snapshot;
  for (const std::string& name : now.own_locks()) {
    const auto target = std::ranges::find(
        locks, name,
        [](const LockTarget& lock) -> const std::string& { return lock.region.group; });
    // Without its ways a region is of no use: it may be locked again.
    const bool lost = now.groups.at(name).schemata.empty();
    if (target == locks.end() && !lost)
      now.busy_locks.emplace(name, "");
    else if (lost || !stands(target->region, now))
      if (auto holder = system_.device_holder(name)) now.busy_locks.emplace(name, *holder);
  }
}

std::expected<Applier::Applied, Refusal> Applier::apply(Request request, const InForce& before) {
  const auto begin = system_.now();
  failure_ = {};
  auto applied = apply_around_others(request, before);
  const bool searches = request.fit == Fit::what_the_kernel_takes;
  // Each turn knows of one refusal more, and asks again for none that was refused before.
  while (!applied && searches && note_refused(before)) {
    failure_.out_of_time = system_.now() - begin >= longest_search;
    if (failure_.out_of_time) break;
    request.fit = Fit::what_fits;
    applied = apply_around_others(request, before);
  }
  return applied;
}

// Whether the next plan may be had: it goes without the refused part, but not without one that is
// in force. That a part of the default group was left out shows only there. At the start, where
// nothing is in force, a part is asked for twice: what failed once has its limits at once.
bool Applier::note_refused(const InForce& before) {
  if (!failure_.refused) return false;
  const auto& [group, error, existed] = *failure_.refused;
  const bool in_force = before.find(group) != nullptr || (before.io && group == io_group) ||
                        std::ranges::any_of(before.locks, [&](const LockTarget& lock) {
                          return lock.region.group == group;
                        });
  const bool once_more = before.is_nothing() && !failure_.made_again;
  return (!in_force || refused_.contains(group)) &&
         refused_.add(group, error.text(), existed, system_.now(), once_more) &&
         !failure_.made_again;
}

std::expected<Applier::Applied, Refusal> Applier::apply_around_others(Request request,
                                                                      const InForce& before) {
  const bool could_record = unrecordable_.empty();
  auto applied = apply_once(request, before);
  // Groups that exist need no record.
  const bool less_fits = request.fit != Fit::whole && could_record && !unrecordable_.empty();
  // Another plan may fit: the device was opened since, or the second look for who has it open is
  // not over yet, or another tool removed a group.
  const bool changed = failure_.found_open_device || failure_.tree_changed;
  // Or what others changed was in the way of what the kernel was to do.
  const bool in_the_way =
      !applied && !less_fits && !changed && failure_.in_conflict && leaves_others(request, before);
  if (!applied && (less_fits || ((changed || in_the_way) && !failure_.made_again))) {
    request.restores = request.restores || in_the_way;
    applied = apply_once(std::move(request), before);
  }
  return applied;
}

std::expected<Applier::Applied, Refusal> Applier::apply_once(Request request,
                                                             const InForce& before) {
  failure_ = {.not_undone = failure_.not_undone};
  auto loaded = load(request, before);
  if (!loaded) return std::unexpected(loaded.error());
  if (leaves_others(request, before))
    leave_unchanged(before, loaded->machine.snapshot, loaded->prepared.plan);
  // Before the devices are there: udev looks as soon as they are.
  auto access = loaded->prepared.policy.locks;
  const std::vector<PolicyFile> leases = request.leases;
  auto stored = system_.store_device_access(access);
  if (const std::string name = access.empty() ? "" : access.front().name.value; !stored)
    failure_.refused = {name, stored.error(), loaded->machine.snapshot.groups.contains(name)};
  if (!stored) return std::unexpected(rdtd::refusal(stored.error()));
  const std::map<std::string, std::string> left_out = loaded->machine.snapshot.refused;
  auto controls_before = values_before(loaded->prepared.plan, loaded->machine.capabilities,
                                       loaded->machine.snapshot, controls_before_);
  auto applied = carry_out_load(std::move(*loaded), std::move(request), before);
  if (applied) {
    refused_.keep_only(left_out);
    controls_before_ = std::move(controls_before);
    access_ = std::move(access);
    remember_places(*applied->in_force, leases);
  } else if (access_) {
    (void)system_.store_device_access(*access_);
  }
  return applied;
}

// Under leases, groups of the files may lie elsewhere: then only what the files changed is new.
void Applier::remember_places(const InForce& in_force, const std::vector<PolicyFile>& leases) {
  if (!may_displace(leases)) places_.clear();
  std::set<std::string> of_leases;
  for (const Group& group : in_force.policy.groups)
    if (std::ranges::find(leases, group.name.where.file.text(), &PolicyFile::path) != leases.end())
      of_leases.insert(group_directory(group.name.value));
  const auto remember = [&](const GroupTarget& group) {
    if (of_leases.contains(group.directory)) return;
    for (const auto& [resource, masks] : group.state.schemata)
      for (const auto& [domain, mask] : masks) {
        if (!is_cache(resource)) continue;
        uint32_t& place = places_[group.directory][resource][domain];
        if (Cbm{place}.count() != Cbm{mask}.count()) place = mask;
      }
  };
  std::ranges::for_each(in_force.groups, remember);
  if (in_force.io) remember(*in_force.io);
}

Result<std::shared_ptr<const RuleTable>> Applier::table_for(const Loaded& loaded,
                                                            const InForce& before,
                                                            TableMaker::LeaveOut what,
                                                            std::vector<Error>& unopened) {
  const Prepared& prepared = loaded.prepared;
  if (!loaded.same_rules)
    return tables_.make(std::make_shared<const RuleSet>(prepared.policy, loaded.users),
                        prepared.plan.groups, {}, what, unopened);
  if (before.taken.empty() && !changes_groups(prepared.plan.changes) && is_whole(*before.table))
    return before.table;
  return tables_.make(before.table->rule_set, prepared.plan.groups, {}, what, unopened);
}

void Applier::note_failure(const resctrl::Transaction& transaction, const Error& error) {
  const auto& unrecorded = transaction.unrecorded();
  failure_.made_again = transaction.made_groups_again();
  failure_.found_open_device = transaction.found_open_device();
  failure_.tree_changed = resctrl::is_absent(error) && transaction.undone();
  failure_.in_conflict = error.code == EINVAL || error.code == ENOSPC;
  if (!unrecorded && !transaction.undone()) failure_.not_undone = true;
  failure_.refused = transaction.failed();
  if (unrecorded) unrecordable_ = unrecorded->text();
}

std::expected<Applier::Applied, Refusal> Applier::carry_out_load(Loaded loaded, Request request,
                                                                 const InForce& before) {
  Plan& plan = loaded.prepared.plan;
  resctrl::Transaction transaction(system_.resctrl, executor_.ownership(), loaded.machine,
                                   system_.device_holder);
  std::vector<Step> together = plan.changes.steps;
  std::ranges::copy(plan.changes.locks, std::back_inserter(together));
  if (const auto done = transaction.carry_out(together); !done) {
    note_failure(transaction, done.error());
    return std::unexpected(rdtd::refusal(done.error()));
  }
  log_removals(together, transaction);
  auto unmade = executor_.make_mon_groups(plan.changes.mon_groups, loaded.machine);
  std::vector<Step> apart = plan.changes.mon_groups;  // that were carried out each by itself
  std::erase_if(apart, [&, names = executor_.ownership().names()](const Step& step) {
    return unmade.contains(group_of(step)) && !names.contains(group_of(step));
  });
  std::map<std::string, std::string> without_counters;
  if (!loaded.machine.snapshot.mbm_assignments.empty())
    without_counters = counters_after_steps(plan.groups, apart);
  Policy& policy = loaded.prepared.policy;
  std::vector<Error> unopened;
  const bool is_first = request.fit != Fit::whole && before.is_nothing();
  auto table =
      table_for(loaded, before,
                is_first ? TableMaker::LeaveOut::all : TableMaker::LeaveOut::monitoring, unopened);
  if (!table) {
    Error error = table.error();
    auto problems = executor_.take_back(apart, loaded.machine);
    std::ranges::move(transaction.undo(), std::back_inserter(problems));
    executor_.give_cpus_back(apart, loaded.machine);
    failure_.made_again = transaction.made_groups_again();
    failure_.not_undone = failure_.not_undone || !problems.empty();
    error.detail =
        problems.empty() ? "everything is as it was" : "not restored: " + join(problems, "; ");
    return std::unexpected(rdtd::refusal(error));
  }
  // Also if it had its part already: a later policy may have to give it everything back.
  if (!policy.divides_nothing()) executor_.ownership().own_default_group();
  const size_t steps = plan.changes.size();
  std::vector<std::string> adopted = adopted_by(plan.changes.steps);
  const bool same = before.taken.empty() && !changes_groups(plan.changes) && unmade.empty() &&
                    is_whole(*before.table) && (*table)->rules.decides_as(before.table->rules);
  std::vector<Step> removals = std::move(plan.changes.removals);
  const bool left_others = leaves_others(request, before);
  return Applied{in_force_of(std::move(loaded), std::move(request), std::move(*table)),
                 std::move(unmade),
                 std::move(without_counters),
                 std::move(removals),
                 std::move(adopted),
                 steps,
                 std::move(unopened),
                 left_others,
                 same};
}

// The kernel may have given counters to groups that were just made. If nobody knows to which, all
// may lack some: those that rdtd has not assigned are not what another tool took away.
std::map<std::string, std::string> Applier::counters_after_steps(
    const std::vector<GroupTarget>& groups, std::vector<Step>& steps) {
  const auto now = read_machine();
  if (now) {
    CounterPlan counters = plan_counters(groups, now->snapshot);
    std::ranges::copy(counters.steps, std::back_inserter(steps));
    return executor_.assign_counters(std::move(counters), *now);
  }
  std::map<std::string, std::string> out;
  const auto add = [&](const std::string& group) {
    out.emplace(group, fmt::format("{} '{}' may lack counters: {}",
                                   is_mon_group(group) ? "monitoring group" : "group",
                                   group_label(group), now.error().text()));
  };
  for (const GroupTarget& target : groups) {
    if (target.directory != root_group) add(target.directory);
    std::ranges::for_each(target.mon_groups, add);
  }
  return out;
}

Result<void> Applier::remove_all() {
  places_.clear();
  auto machine = read_machine();
  if (!machine) machine = read_machine();  // nobody tries again later
  if (!machine) return std::unexpected(machine.error());
  machine->snapshot.controls_before = controls_before_;
  std::vector<GroupTarget> default_group(1);
  restore_controls(default_group, machine->snapshot);
  const Schemata& before = default_group.front().state.schemata;
  // The groups go, whether or not that can be written.
  Result<void> restored;
  if (!before.empty())
    restored = executor_.carry_out({WriteSchemata{std::string(root_group), {}, before}}, *machine);
  if (restored) controls_before_.clear();
  const auto devices = devices_in(system_.resctrl, executor_.ownership().owned(machine->snapshot));
  auto removed = resctrl::remove_owned_groups(system_.resctrl, executor_.ownership(),
                                              std::move(*machine), system_.device_holder);
  for (const auto& [group, iommu_groups] : devices)
    if (!executor_.ownership().names().contains(group)) log_removal(group, iommu_groups);
  return removed ? std::move(restored) : std::move(removed);
}

void Applier::release_default_group() {
  executor_.ownership().forget(std::string(root_group));
  (void)executor_.ownership().store();
}

}  // namespace rdtd
