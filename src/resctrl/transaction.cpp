#include "rdtd/resctrl/transaction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "rdtd/base/text.hpp"
#include "rdtd/plan/plan.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd::resctrl {

namespace {

// The most that the kernel takes in one write: a page, which has 4096 bytes or more
// (atomic_write_len in fs/kernfs/file.c).
constexpr size_t longest_write = 4096;

}  // namespace

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
  return resctrl::read_schemata(filesystem_, group);
}

Result<void> Transaction::write_schemata(const std::string& group, const Schemata& schemata) {
  const bool is_io = group == io_group;
  const std::string file =
      is_io ? io_file(schemata.begin()->first, "io_alloc_cbm") : file_of(group, "schemata");
  for (const Schemata& part : split_schemata(schemata, longest_write)) {
    const auto& [resource, masks] = *part.begin();  // the I/O devices have only one
    const std::string text = is_io ? format_values(resource, masks) + "\n" : format_schemata(part);
    if (auto written = write(file, text); !written) return written;
  }
  const auto now = read_schemata(group);
  if (!now) return std::unexpected(now.error());
  for (const auto& [resource, values] : schemata) {
    const auto got = now->find(resource);
    const DomainValues none;
    const DomainValues& read = got == now->end() ? none : got->second;
    const uint32_t slack = before_.capabilities.slack_of(resource);
    for (const auto& [domain, value] : values)
      if (const auto found = read.find(domain);
          found == read.end() || distance_of(found->second, value) > slack)
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

// The list of very many CPUs apart does not fit; the mask of all that Linux can have does.
Result<void> Transaction::write_cpus(const WriteCpus& step) {
  store_inode(step.group);
  const std::string list = format_cpu_list(step.after) + "\n";
  if (list.size() <= longest_write) return write(file_of(step.group, "cpus_list"), list);
  return write(file_of(step.group, "cpus"), format_cpu_mask(step.after) + "\n");
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
  // Without its inode, it would be another tool's.
  if (const auto known = is_mon_group(group) ? inode_of(group) : Result<uint64_t>(0); !known)
    return std::unexpected(known.error());
  // One of that name that the steps removed, or another one of theirs.
  ownership_.expect_now(group);
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

// Before anything is put in the group: if rdtd is killed then, the name alone proves nothing.
void Transaction::store_inode(const std::string& group) {
  if (made_.contains(group) && !ownership_.is_stored(group)) (void)ownership_.store();
}

Result<void> Transaction::remove(const std::string& group) {
  const auto mode_text = filesystem_.read(file_of(group, "mode"));
  if (!mode_text && !is_mon_group(group) && !is_gone(mode_text.error(), group))
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
    const bool monitors = before_.capabilities.num_rmids.has_value();
    if (!mon_groups && (monitors || !is_absent(mon_groups.error())) &&
        !is_gone(mon_groups.error(), group))
      return std::unexpected(mon_groups.error());
    if (mon_groups)
      for (const Filesystem::Entry& mon : *mon_groups)
        if (mon.is_directory) going.push_back(mon_group_directory(group, mon.name));
  }
  for (const std::string& one : going) {
    // The kernel lets nobody read those of a region: it has none.
    const auto tasks = is_pseudo(mode) ? std::string() : filesystem_.read(file_of(one, "tasks"));
    if (!tasks && !is_gone(tasks.error(), one)) return std::unexpected(tasks.error());
    // Of a group whose name another one has had since, the first.
    tasks_.try_emplace(one, tasks.value_or(""));
    touched_.insert(one);
  }
  auto removed = filesystem_.remove(group);
  if (!removed && !is_gone(removed.error(), group)) {
    // An undo makes again what is in tasks_: it would lock again a region that is still there.
    if (locked && inode_of(group) != Result<uint64_t>(0)) tasks_.erase(group);
    return std::unexpected(with_status(std::move(removed.error())));
  }
  for (const std::string& one : going) ownership_.forget(one);
  return {};
}

std::string Transaction::tasks_before(const std::string& group) const {
  const auto known = tasks_.find(group);
  return known == tasks_.end() ? "" : known->second;
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
      const auto now = self.inode_of(step.group);
      if (now && *now != step.inode)
        return std::unexpected(Error{"take over",
                                     fmt::format("{}/{}", self.filesystem_.path(), step.group),
                                     ENOENT, "another tool removed it, or made it again"});
      self.ownership_.made(step.group, step.inode);
      // It has tasks: after a kill, its name alone would prove nothing.
      (void)self.ownership_.store();
      return {};
    }
    Result<void> operator()(const MakeGroup& step) const { return self.make(step.group); }
    Result<void> operator()(const RemoveGroup& step) const { return self.remove(step.group); }
    Result<void> operator()(const WriteSchemata& step) const {
      return self.write_schemata(step.group, step.after);
    }
    Result<void> operator()(const WriteCpus& step) const { return self.write_cpus(step); }
    Result<void> operator()(const SetMode& step) const {
      return self.write(file_of(step.group, "mode"), fmt::format("{}\n", to_string(step.after)));
    }
    Result<void> operator()(const LockRegion& step) const {
      self.store_inode(step.group);
      return self.lock_region(step);
    }
    Result<void> operator()(const AssignCounters& step) const { return self.assign_counters(step); }
    Result<void> operator()(const SetIoAlloc& step) const { return self.set_io_alloc(step); }
  };
  return std::visit(Visitor{*this}, step);
}

bool Transaction::existed(const std::string& group) const {
  const Snapshot& before = before_.snapshot;
  return group == io_group ? !before.io.empty() : before.groups.contains(group);
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
  if (auto recorded = ownership_.expect(expected, before_.snapshot.inodes); !recorded) {
    unrecorded_ = recorded.error();
    recorded.error().detail = "nothing was changed";
    return recorded;
  }
  for (const Step& step : steps) {
    tried_.push_back(step);
    const auto done = carry_out_one(step);
    if (done) continue;
    Error error = done.error();
    const bool found_open_device = found_open_device_;
    const auto problems = undo();
    found_open_device_ = found_open_device && problems.empty();
    undone_ = problems.empty();
    const std::string end =
        problems.empty() ? "everything is as it was" : "not restored: " + join(problems, "; ");
    failed_ = {group_of(step), error, existed(group_of(step))};
    error.detail += (error.detail.empty() ? "" : "; ") + end;
    if (!undone_) failed_->error = error;
    return std::unexpected(std::move(error));
  }
  // The groups exist; a record that cannot be written now is written later.
  (void)ownership_.store();
  return {};
}

namespace {

// Reads the groups as they are now; the other parts of the machine stay as they were read.
void read_again(const Filesystem& filesystem, Ownership& ownership, Machine& machine) {
  auto now = read_snapshot(filesystem);
  if (!now) return;
  machine.snapshot.groups = std::move(now->groups);
  machine.snapshot.half_read = std::move(now->half_read);
  machine.snapshot.unreadable = std::move(now->unreadable);
  machine.snapshot.unread = std::move(now->unread);
  machine.snapshot.mon_groups = std::move(now->mon_groups);
  machine.snapshot.mon_cpus = std::move(now->mon_cpus);
  machine.snapshot.inodes = std::move(now->inodes);
  machine.snapshot.owned = ownership.owned(machine.snapshot);
}

// The monitoring groups of rdtd that a reading without a list does not show, and its error. They
// are no other tool's, and no step removes them.
std::map<std::string, Error> unlisted_groups(const Ownership& ownership, const Snapshot& now) {
  std::map<std::string, Error> out;
  for (const auto& [group, inode] : ownership.entries())
    if (now.is_unlisted(group))
      out.emplace(group, now.unread.at(std::string(control_group_of(group))).error);
  return out;
}

Result<void> remove_once(Filesystem& filesystem, Ownership& ownership, Machine& machine,
                         const Transaction::DeviceHolder& holder) {
  machine.snapshot.owned = ownership.owned(machine.snapshot);
  take_half_read(machine.snapshot, machine.snapshot.owned);
  std::map<std::string, Error> unlisted = unlisted_groups(ownership, machine.snapshot);
  for (const std::string& name : machine.snapshot.own_locks())
    if (auto why = holder(name)) machine.snapshot.busy_locks.emplace(name, *std::move(why));
  const auto plan = make_plan(Policy{}, machine.capabilities, machine.snapshot);
  if (!plan)
    return std::unexpected(
        Error{"plan the removal of all groups", "", 0, format_diagnostics(plan.error(), {})});
  Result<void> result =
      Transaction(filesystem, ownership, machine, holder).carry_out(plan->changes.steps);
  // A group that cannot be removed stays as the steps left it.
  read_again(filesystem, ownership, machine);
  unlisted.merge(unlisted_groups(ownership, machine.snapshot));
  for (const Step& removal : plan->changes.removals) {
    if (!machine.snapshot.owned.contains(group_of(removal))) continue;  // another tool's since
    // It may be a region whose mode could not be read before.
    Transaction transaction(filesystem, ownership, machine, holder);
    auto removed = transaction.carry_out({&removal, 1});
    if (removed || !result) continue;
    if (!transaction.found_open_device())
      removed.error().detail.clear();  // it is about this one step
    result = std::move(removed);
  }
  const std::map<std::string, std::string>& busy = machine.snapshot.busy_locks;
  for (const auto& [name, why] : busy)
    if (result)
      result = std::unexpected(Error{"remove", fmt::format("pseudo_lock '{}'", name), EBUSY, why});
  // One whose control group was removed has gone with it.
  for (auto& [group, error] : unlisted)
    if (result && ownership.entries().contains(group)) result = std::unexpected(std::move(error));
  return result;
}

}  // namespace

Result<void> remove_owned_groups(Filesystem& filesystem, Ownership& ownership, Machine machine,
                                 const Transaction::DeviceHolder& holder) {
  (void)ownership.settle(machine.snapshot, filesystem);
  Result<void> result = remove_once(filesystem, ownership, machine, holder);
  // A step that fails undoes what the default group got back before it, and the groups may be gone
  // all the same. Nobody tries again later.
  if (!result) {
    read_again(filesystem, ownership, machine);
    result = remove_once(filesystem, ownership, machine, holder);
  }
  if (!result) return result;
  for (const std::string& group : ownership.names()) ownership.forget(group);
  return ownership.store();
}

}  // namespace rdtd::resctrl
