#include "rdtd/resctrl/transaction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "rdtd/base/text.hpp"
#include "rdtd/plan/plan.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd::resctrl {

Error Transaction::with_status(Error error) const {
  // The kernel has one such file: it is about the last command of any program.
  if (const auto status = filesystem_.read("info/last_cmd_status"))
    if (const std::string_view text = trim(*status); !text.empty() && text != "ok")
      error.detail = fmt::format("last_cmd_status: {}", text);
  return error;
}

Result<void> Transaction::write(const std::string& file, const std::string& text) {
  auto written = filesystem_.write(file, text);
  if (!written) return std::unexpected(with_status(std::move(written.error())));
  return {};
}

Result<Schemata> Transaction::read_schemata(const std::string& group) const {
  if (group == io_group)
    return read_io(filesystem_, before_.snapshot.groups.at(std::string(root_group)).schemata);
  auto state = read_group(filesystem_, group);
  if (!state) return std::unexpected(state.error());
  return std::move(state->schemata);
}

Result<void> Transaction::write_schemata(const std::string& group, const Schemata& schemata) {
  std::string file = file_of(group, "schemata");
  Result<void> written;
  if (group == io_group) {
    const auto& [resource, masks] = *schemata.begin();  // there is only one
    file = io_file(resource, "io_alloc_cbm");
    written = write(file, format_values(resource, masks) + "\n");
  } else {
    written = write(file, format_schemata(schemata));
  }
  if (!written) return written;
  const auto now = read_schemata(group);
  if (!now) return std::unexpected(now.error());
  for (const auto& [resource, values] : schemata) {
    const auto got = now->find(resource);
    const DomainValues none;
    const DomainValues& read = got == now->end() ? none : got->second;
    for (const auto& [domain, value] : values)
      if (const auto found = read.find(domain); found == read.end() || found->second != value)
        return std::unexpected(Error{
            fmt::format("write '{}:{}' to", to_string(resource), format_values(resource, values)),
            fmt::format("{}/{}", filesystem_.path(), file), 0,
            fmt::format("it reads back '{}'", format_values(resource, read))});
  }
  return {};
}

namespace {

// The kernel's reasons in plain words; its own stay behind them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> lock_reasons = {{
    {"Pseudo-locking not supported",
     "the kernel cannot lock memory into the caches of this processor"},
    {"CDP enabled", "the kernel locks no memory while a cache is divided into code and data"},
    {"Pseudo-locked region in hierarchy", "a cache of the same CPUs has a locked region already"},
    {"Requested region exceeds maximum size", "the region is larger than the kernel can lock"},
    {"Overlaps with other group", "another group can fill these ways"},
}};

}  // namespace

Result<void> Transaction::lock_region(const LockRegion& step) {
  auto locked =
      write(file_of(step.group, "mode"), fmt::format("{}\n", to_string(Mode::pseudo_locksetup)));
  if (locked)
    locked = write(file_of(step.group, "schemata"),
                   format_schemata({{step.resource, {{step.domain, step.mask.bits}}}}));
  if (locked) return {};
  for (const auto& [kernels, plain] : lock_reasons)
    if (locked.error().detail.contains(kernels))
      locked.error().detail = fmt::format("{} ({})", plain, locked.error().detail);
  return locked;
}

// The kernel stops at the first domain that has no free counter: each event has a write of its own.
Result<void> Transaction::assign_counters(const AssignCounters& step) {
  Result<void> result;
  for (const auto& [event, domains] : step.events) {
    const std::string file = mbm_assignments_file(before_.snapshot.mbm_resource);
    auto written =
        write(file_of(step.group, file.c_str()), format_mbm_assignment(event, domains) + "\n");
    if (!written && result) result = std::move(written);
  }
  return result;
}

// A group keeps its CLOSID, so that one may have the highest although lower ones are free.
Result<void> Transaction::set_io_alloc(const SetIoAlloc& step) {
  auto done = write(io_file(step.resource, "io_alloc"), step.enabled ? "1\n" : "0\n");
  if (!done && done.error().code == ENOSPC && done.error().detail.contains(" for io_alloc is used"))
    done.error().detail = fmt::format(
        "a group holds the CLOSID that I/O devices need; 'rdtctl reset' and 'rdtctl "
        "reload' give the groups other ones ({})",
        done.error().detail);
  if (!done) return done;
  if (step.enabled)
    ownership_.own_io();
  else
    ownership_.forget(step.group);
  return {};
}

Result<void> Transaction::make(const std::string& group) {
  if (auto made = filesystem_.make(group); !made) {
    Error error = with_status(std::move(made.error()));
    if (error.code == ENOSPC && is_mon_group(group) && before_.capabilities.rmids_per_closid)
      error.detail = fmt::format(
          "each control group has RMIDs of its own here, and those of '{}' are used ({})",
          group_label(control_group_of(group)), error.detail);
    return std::unexpected(std::move(error));
  }
  made_.insert(group);
  const auto inode = inode_of(group);
  if (!inode) return std::unexpected(inode.error());
  if (*inode == 0)
    return std::unexpected(Error{"make group", fmt::format("{}/{}", filesystem_.path(), group),
                                 ENOENT, "another tool removed it at once"});
  ownership_.made(group, *inode);
  return {};
}

// 0: there is no such group.
Result<uint64_t> Transaction::inode_of(const std::string& group) const {
  const size_t slash = group.rfind('/');
  const bool in_root = slash == std::string::npos;
  const auto entries = filesystem_.list(in_root ? "" : group.substr(0, slash));
  if (!entries && entries.error().code != ENOENT) return std::unexpected(entries.error());
  if (!entries) return 0;
  const auto entry = std::ranges::find(*entries, in_root ? group : group.substr(slash + 1),
                                       &Filesystem::Entry::name);
  return entry == entries->end() ? 0 : entry->inode;
}

Result<void> Transaction::remove(const std::string& group) {
  const auto mode_text = filesystem_.read(file_of(group, "mode"));
  if (!mode_text && !is_mon_group(group) && !is_absent(mode_text.error()))
    return std::unexpected(mode_text.error());
  const Mode mode = parse_mode(mode_text.value_or("")).value_or(Mode::shareable);
  const bool locked = mode == Mode::pseudo_locked;
  if (locked && holder_)
    if (const auto holder = holder_(group)) {
      found_open_device_ = true;
      return std::unexpected(
          Error{"remove", fmt::format("pseudo_lock '{}'", group), EBUSY, *holder});
    }
  // The kernel removes the monitoring groups with their control group, and moves the tasks to the
  // root: an undo brings both back.
  std::vector<std::string> going = {group};
  if (!is_mon_group(group)) {
    const auto mon_groups = filesystem_.list(file_of(group, "mon_groups"));
    if (!mon_groups && !is_absent(mon_groups.error())) return std::unexpected(mon_groups.error());
    if (mon_groups)
      for (const Filesystem::Entry& mon : *mon_groups)
        if (mon.is_directory) going.push_back(mon_group_directory(group, mon.name));
  }
  for (const std::string& one : going) {
    // The kernel lets nobody read those of a region: it has none.
    const auto tasks = is_pseudo(mode) ? std::string() : filesystem_.read(file_of(one, "tasks"));
    if (!tasks && !is_absent(tasks.error())) return std::unexpected(tasks.error());
    // Of a group whose name another one has had since, the first.
    tasks_.try_emplace(one, tasks.value_or(""));
    touched_.insert(one);
  }
  auto removed = filesystem_.remove(group);
  if (!removed && !is_absent(removed.error())) {
    // An undo makes again what is in tasks_: it would lock again a region that is still there.
    if (locked && inode_of(group) != Result<uint64_t>(0)) tasks_.erase(group);
    return std::unexpected(with_status(std::move(removed.error())));
  }
  for (const std::string& one : going) ownership_.forget(one);
  return {};
}

uint64_t Transaction::known_inode(const std::string& group) const {
  if (made_.contains(group)) {
    const auto made = ownership_.entries().find(group);
    return made == ownership_.entries().end() ? 0 : made->second.value_or(0);
  }
  const auto before = before_.snapshot.inodes.find(group);
  return before == before_.snapshot.inodes.end() ? 0 : before->second;
}

bool Transaction::is_replaced(const std::string& group) const {
  const uint64_t known = known_inode(group);
  const auto now = known == 0 ? Result<uint64_t>(0) : inode_of(group);
  return now && *now != 0 && *now != known;
}

Result<void> Transaction::carry_out_one(const Step& step) {
  const std::string& group = group_of(step);
  const bool is_first = !touched_.contains(group);
  if (is_first && group != root_group && group != io_group &&
      !std::holds_alternative<AdoptGroup>(step) && !std::holds_alternative<MakeGroup>(step) &&
      is_replaced(group)) {
    if (!std::holds_alternative<RemoveGroup>(step))
      return std::unexpected(Error{"change", fmt::format("{}/{}", filesystem_.path(), group),
                                   ENOENT, "another tool made one of that name"});
    ownership_.forget(group);
    return {};
  }
  // An undo leaves counters, and must not bring back what others changed in their group.
  if (!std::holds_alternative<AssignCounters>(step)) touched_.insert(group);
  struct Visitor {
    Transaction& self;
    Result<void> operator()(const AdoptGroup& step) const {
      self.ownership_.made(step.group, step.inode);
      return {};
    }
    Result<void> operator()(const MakeGroup& step) const { return self.make(step.group); }
    Result<void> operator()(const RemoveGroup& step) const { return self.remove(step.group); }
    Result<void> operator()(const WriteSchemata& step) const {
      return self.write_schemata(step.group, step.after);
    }
    Result<void> operator()(const WriteCpus& step) const {
      return self.write(file_of(step.group, "cpus_list"), format_cpu_list(step.after) + "\n");
    }
    Result<void> operator()(const SetMode& step) const {
      return self.write(file_of(step.group, "mode"), fmt::format("{}\n", to_string(step.after)));
    }
    Result<void> operator()(const LockRegion& step) const { return self.lock_region(step); }
    Result<void> operator()(const AssignCounters& step) const { return self.assign_counters(step); }
    Result<void> operator()(const SetIoAlloc& step) const { return self.set_io_alloc(step); }
  };
  return std::visit(Visitor{*this}, step);
}

Result<void> Transaction::carry_out(std::span<const Step> steps) {
  if (steps.empty()) return {};
  std::vector<std::string>& expected = expected_;
  for (const Step& step : steps)
    if (std::holds_alternative<AdoptGroup>(step) || std::holds_alternative<MakeGroup>(step) ||
        (std::holds_alternative<WriteSchemata>(step) && group_of(step) == root_group) ||
        (std::holds_alternative<SetIoAlloc>(step) && std::get<SetIoAlloc>(step).enabled))
      expected.push_back(group_of(step));
  known_ = ownership_.entries();
  if (auto recorded = ownership_.expect(expected); !recorded) {
    unrecorded_ = recorded.error();
    recorded.error().detail = "nothing was changed";
    return recorded;
  }
  for (const Step& step : steps) {
    const auto done = carry_out_one(step);
    if (done) continue;
    Error error = done.error();
    const bool found_open_device = found_open_device_;
    const auto problems = undo();
    found_open_device_ = found_open_device && problems.empty();
    undone_ = problems.empty();
    const std::string end =
        problems.empty() ? "everything is as it was" : "not restored: " + join(problems, "; ");
    error.detail += (error.detail.empty() ? "" : "; ") + end;
    return std::unexpected(std::move(error));
  }
  // The groups exist; a record that cannot be written now is written later.
  (void)ownership_.store();
  return {};
}

bool Transaction::io_enabled() const {
  const auto now = read_schemata(std::string(io_group));
  return !now || !now->empty();  // what cannot be read now is kept
}

// A name that stays in the record without a group would make rdtd take another tool's group of that
// name for its own.
void Transaction::forget_what_was_not_made(bool restored) {
  for (const std::string& group : expected_) {
    if (group == io_group) {
      if (!io_enabled()) ownership_.forget(group);
      continue;
    }
    const auto inode = group == root_group ? Result<uint64_t>(0) : inode_of(group);
    const auto known = known_.find(group);
    // One that was there, whatever the steps took it for. What cannot be listed now still is.
    if (known != known_.end() && known->second && !made_.contains(group) &&
        (!inode || *inode == *known->second)) {
      ownership_.made(group, *known->second);
      continue;
    }
    // What cannot be listed now is kept: it was made.
    const bool listed = group == root_group || inode != Result<uint64_t>(0);
    const bool exists =
        group == root_group ? known_.contains(group) || !restored : made_.contains(group) && listed;
    if (!exists) ownership_.forget(group);
  }
  (void)ownership_.store();
}

void Transaction::put_tasks_back(const std::string& group, std::vector<std::string>& problems) {
  const auto known = tasks_.find(group);
  if (known == tasks_.end()) return;
  const auto tasks = filesystem_.open_tasks(group);
  if (!tasks) return problems.push_back(tasks.error().text());
  int failed = 0;
  for (const std::string_view line : split(known->second, '\n'))
    if (const auto tid = parse_unsigned<uint32_t>(line); tid && *tid != 0)
      if (const int error = (*tasks)->add(static_cast<pid_t>(*tid)); error != 0 && error != ESRCH)
        failed = error;
  if (failed != 0)
    problems.push_back(
        Error{"put its tasks back in", fmt::format("group '{}'", group), failed, {}}.text());
}

// Whether one of these CPUs belongs now to one of the groups that the steps touched.
bool Transaction::touched_has(const CpuSet& cpus, const Snapshot& now) const {
  return std::ranges::any_of(touched_, [&](const std::string& group) {
    const auto state = now.groups.find(group);
    const auto mon = now.mon_cpus.find(group);
    const CpuSet none;
    const CpuSet& theirs = state != now.groups.end()   ? state->second.cpus
                           : mon != now.mon_cpus.end() ? mon->second
                                                       : none;
    return std::ranges::any_of(cpus, [&](unsigned cpu) { return theirs.contains(cpu); });
  });
}

// The monitoring groups whose CPUs the steps changed, with those of before.
std::map<std::string, CpuSet> Transaction::mon_cpus_before(const Snapshot& now) const {
  std::map<std::string, CpuSet> out;
  for (const auto& [group, cpus] : before_.snapshot.mon_cpus) {
    const auto has = now.mon_cpus.find(group);
    const CpuSet lost = has == now.mon_cpus.end() ? cpus : without(cpus, has->second);
    const std::string control(control_group_of(group));
    if (now.mon_groups.contains(group) && !lost.empty() &&
        (touched_.contains(control) || touched_has(lost, now)))
      out[group] = cpus;
  }
  for (const std::string& group : touched_)
    if (now.mon_groups.contains(group) && !made_.contains(group)) {
      const auto had = before_.snapshot.mon_cpus.find(group);
      out[group] = had == before_.snapshot.mon_cpus.end() ? CpuSet{} : had->second;
    }
  return out;
}

// The steps from what is there now to the state before.
Steps Transaction::way_back(const Snapshot& now, std::vector<std::string>& problems) const {
  std::vector<WantedGroup> wanted;
  std::map<std::string, CpuSet> mon_groups = mon_cpus_before(now);
  std::set<std::string> leaving;
  std::vector<LockRegion> locks;
  for (const std::string& group : touched_) {
    if (group == io_group) {
      if (before_.snapshot.io.empty())
        leaving.insert(group);
      else
        wanted.push_back({group, {Mode::shareable, before_.snapshot.io, {}}});
      continue;
    }
    const auto before = before_.snapshot.groups.find(group);
    const bool exists = now.groups.contains(group) || now.mon_groups.contains(group);
    if (before_.snapshot.mon_groups.contains(group)) {
      if (const auto had = before_.snapshot.mon_cpus.find(group); tasks_.contains(group))
        mon_groups[group] = had == before_.snapshot.mon_cpus.end() ? CpuSet{} : had->second;
    } else if (before == before_.snapshot.groups.end()) {
      // A group that was not there before and that this did not make is another tool's.
      if (exists && made_.contains(group)) leaving.insert(group);
    } else if (is_pseudo(before->second.mode)) {
      // The steps removed it, and may have made a new one of that name.
      if (exists && made_.contains(group)) leaving.insert(group);
      if (tasks_.contains(group) && before->second.mode == Mode::pseudo_locked)
        for (const auto& [resource, values] : before->second.schemata)
          for (const auto& [domain, mask] : values)
            locks.push_back({group, resource, domain, Cbm{mask}});
    } else if (exists || tasks_.contains(group)) {
      wanted.push_back({group, before->second});
    } else {
      problems.push_back(
          fmt::format("group '{}': another tool removed it meanwhile", group_label(group)));
    }
  }
  // CPUs that a touched group took from another one go back to that one.
  for (const auto& [group, state] : before_.snapshot.groups) {
    const auto has = now.groups.find(group);
    if (touched_.contains(group) || has == now.groups.end() || group == root_group) continue;
    if (touched_has(without(state.cpus, has->second.cpus), now))
      wanted.push_back({group, {has->second.mode, {}, state.cpus}});
  }
  return transition(before_.capabilities, now, wanted, mon_groups, leaving, locks);
}

// Groups that another tool removed and made again while the steps were carried out.
void Transaction::leave_replaced(const Snapshot& now, std::vector<std::string>& problems) {
  std::set<std::string> replaced;
  for (const std::string& group : touched_) {
    const auto found = now.inodes.find(group);
    const uint64_t known = known_inode(group);
    if (found == now.inodes.end() || known == 0 || found->second == known) continue;
    replaced.insert(group);
    problems.push_back(
        fmt::format("group '{}': another tool made one of that name", group_label(group)));
  }
  // With the monitoring groups in them.
  const auto is_theirs = [&](const std::string& group) {
    return replaced.contains(group) || replaced.contains(std::string(control_group_of(group)));
  };
  std::erase_if(touched_, is_theirs);
  std::erase_if(tasks_, [&](const auto& tasks) { return is_theirs(tasks.first); });
}

// What is there now is read, since the step that failed may have been carried out in part.
std::vector<std::string> Transaction::undo() {
  std::vector<std::string> problems;
  auto now = read_snapshot(filesystem_);
  if (!now) {
    for (const std::string& group : touched_)
      problems.push_back(fmt::format("group '{}': {}", group_label(group), now.error().text()));
    forget_what_was_not_made(false);
    return problems;
  }
  now->owned = before_.snapshot.owned;
  leave_replaced(*now, problems);
  const Steps back = way_back(*now, problems);
  std::vector<std::string> replaced;  // groups whose name the steps gave to another one
  for (const auto& [group, tasks] : tasks_)
    if (const auto found = now->groups.find(group);
        made_.contains(group) && found != now->groups.end() && !is_pseudo(found->second.mode))
      replaced.push_back(group);
  std::set<std::string> lost;  // groups that could not be made again: their other steps are void
  const auto attempt = [&](const Step& step) {
    if (lost.contains(group_of(step))) return;
    const bool makes = std::holds_alternative<MakeGroup>(step);
    if (const auto done = carry_out_one(step); !done) {
      // A monitoring group that another tool has removed meanwhile.
      if (std::holds_alternative<WriteCpus>(step) && is_absent(done.error()) &&
          is_mon_group(group_of(step)))
        return;
      problems.push_back(
          fmt::format("group '{}': {}", group_label(group_of(step)), done.error().text()));
      if (makes) lost.insert(group_of(step));
    } else if (makes) {
      made_again_ = true;
      if (!known_.contains(group_of(step))) ownership_.forget(group_of(step));  // another tool's
      put_tasks_back(group_of(step), problems);
    }
  };
  // Monitoring groups last: their RMIDs may be those of groups that go. Of a region that goes and
  // comes, so may the CLOSID.
  for (const auto* part : {&back.steps, &back.removals, &back.locks})
    std::ranges::for_each(*part, attempt);
  for (const std::string& group : replaced) {
    made_again_ = true;
    put_tasks_back(group, problems);
  }
  std::ranges::for_each(back.mon_groups, attempt);
  forget_what_was_not_made(problems.empty());
  return problems;
}

Result<void> remove_owned_groups(Filesystem& filesystem, Ownership& ownership, Machine machine,
                                 const Transaction::DeviceHolder& holder) {
  (void)ownership.settle(machine.snapshot, filesystem);
  machine.snapshot.owned = ownership.owned(machine.snapshot);
  for (const std::string& name : machine.snapshot.own_locks())
    if (auto why = holder(name)) machine.snapshot.busy_locks.emplace(name, *std::move(why));
  const auto plan = make_plan(Policy{}, machine.capabilities, machine.snapshot);
  if (!plan)
    return std::unexpected(
        Error{"plan the removal of all groups", "", 0, format_diagnostics(plan.error(), {})});
  Result<void> result =
      Transaction(filesystem, ownership, machine, holder).carry_out(plan->changes.steps);
  // A group that cannot be removed stays as the steps left it.
  if (auto now = read_snapshot(filesystem)) {
    machine.snapshot.groups = std::move(now->groups);
    machine.snapshot.mon_groups = std::move(now->mon_groups);
    machine.snapshot.mon_cpus = std::move(now->mon_cpus);
    machine.snapshot.inodes = std::move(now->inodes);
    machine.snapshot.owned = ownership.owned(machine.snapshot);
  }
  for (const Step& removal : plan->changes.removals) {
    if (!machine.snapshot.owned.contains(group_of(removal))) continue;  // another tool's since
    auto removed = Transaction(filesystem, ownership, machine).carry_out({&removal, 1});
    if (removed || !result) continue;
    removed.error().detail.clear();  // it is about this one step
    result = std::move(removed);
  }
  const std::map<std::string, std::string>& busy = machine.snapshot.busy_locks;
  for (const auto& [name, why] : busy)
    if (result)
      result = std::unexpected(Error{"remove", fmt::format("pseudo_lock '{}'", name), EBUSY, why});
  if (!result) return result;
  for (const std::string& group : ownership.names()) ownership.forget(group);
  return ownership.store();
}

}  // namespace rdtd::resctrl
