// Transaction: carries out steps over a Filesystem, all of them or none. If a step fails, the
// groups that the steps touched are brought back to the state that they had before, as far as the
// kernel permits; the error names everything that could not be restored. It decides nothing: the
// caller says which steps, and holds the lock of resctrl meanwhile. A group that another tool,
// which ignores that lock, has removed and made again is that tool's: nothing of it is changed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rdtd/model/machine.hpp"
#include "rdtd/plan/step.hpp"
#include "rdtd/plan/transition.hpp"
#include "rdtd/resctrl/filesystem.hpp"
#include "rdtd/resctrl/ownership.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd::resctrl {

class Transaction {
 public:
  // Why the device of a pseudo-locked region must be taken for open; nothing if it is not.
  using DeviceHolder = std::function<std::optional<std::string>(const std::string& lock)>;
  // `before`: the machine that the steps were planned for. `holder` is asked just before a region
  // goes: the kernel would leak one that is in use.
  Transaction(Filesystem& filesystem, Ownership& ownership, const Machine& before,
              DeviceHolder holder = {})
      : filesystem_(filesystem),
        ownership_(ownership),
        before_(before),
        holder_(std::move(holder)) {}

  // Each schemata that is written is read back: a value that the kernel took otherwise is a
  // failure. The error ends in "everything is as it was" or names what is not.
  [[nodiscard]] Result<void> carry_out(std::span<const Step> steps);
  // Brings all that carry_out has done back, for a caller that fails afterwards. Sentences about
  // what could not be restored; none if everything is as it was.
  [[nodiscard]] std::vector<std::string> undo();
  // A group that was removed and made again by an undo is another directory: files of it that are
  // open elsewhere are dead.
  [[nodiscard]] bool made_groups_again() const { return made_again_; }
  // Why the record could not be written, if that was the failure: then nothing was changed.
  [[nodiscard]] const std::optional<Error>& unrecorded() const { return unrecorded_; }
  // The group of the step that failed, and why, with what could not be restored.
  struct Failed {
    std::string group;
    Error error;
    bool existed = false;  // before the steps
  };
  [[nodiscard]] const std::optional<Failed>& failed() const { return failed_; }
  // The text of a group's `tasks` before the steps removed the group; "" for other groups.
  [[nodiscard]] std::string tasks_before(const std::string& group) const;
  // Whether the failure left everything as it was.
  [[nodiscard]] bool undone() const { return undone_; }
  // Whether it failed since a region that goes must be taken for open. Then all is as it was.
  [[nodiscard]] bool found_open_device() const { return found_open_device_; }

 private:
  [[nodiscard]] Result<void> carry_out_one(const Step& step);
  [[nodiscard]] bool existed(const std::string& group) const;
  // Of the group that a name stands for; 0: not known.
  [[nodiscard]] uint64_t known_inode(const std::string& group) const;
  [[nodiscard]] bool is_replaced(const std::string& group) const;
  void leave_replaced(const Snapshot& now, std::vector<std::string>& problems);
  [[nodiscard]] Result<void> make(const std::string& group);
  void store_inode(const std::string& group);
  [[nodiscard]] Result<uint64_t> inode_of(const std::string& group) const {
    return resctrl::inode_of(filesystem_, group);
  }
  [[nodiscard]] bool is_gone(const Error& error, const std::string& group) const {
    return resctrl::is_gone(filesystem_, error, group, known_inode(group));
  }
  [[nodiscard]] Result<void> remove(const std::string& group);
  [[nodiscard]] Result<void> lock_region(const LockRegion& step);
  [[nodiscard]] Result<void> write_cpus(const WriteCpus& step);
  [[nodiscard]] Result<void> assign_counters(const AssignCounters& step);
  [[nodiscard]] Result<void> set_io_alloc(const SetIoAlloc& step);
  [[nodiscard]] Result<void> write(const std::string& file, const std::string& text);
  [[nodiscard]] Result<void> write_schemata(const std::string& group, const Schemata& schemata);
  [[nodiscard]] Result<Schemata> read_schemata(const std::string& group) const;
  [[nodiscard]] GroupState as_left(const std::string& group, const GroupState& before) const;
  [[nodiscard]] CpuSet cpus_as_left(const std::string& group, CpuSet cpus,
                                    const Snapshot& now) const;
  [[nodiscard]] bool changed_mon_groups(const std::string& control) const;
  void take_unread(Snapshot& now, std::vector<std::string>& problems) const;
  [[nodiscard]] Steps way_back(const Snapshot& now, std::vector<std::string>& problems) const;
  void forget_what_was_not_made(bool restored);
  [[nodiscard]] bool io_enabled() const;
  [[nodiscard]] bool touched_has(const CpuSet& cpus, const Snapshot& now) const;
  [[nodiscard]] std::map<std::string, CpuSet> mon_cpus_before(const Snapshot& now) const;
  void put_tasks_back(const std::string& group, std::vector<std::string>& problems);
  [[nodiscard]] Error with_status(Error error) const;

  Filesystem& filesystem_;
  Ownership& ownership_;
  const Machine& before_;
  DeviceHolder holder_;
  // Groups that the steps adopt or make, the root if they write it, and the I/O devices if they
  // enable io_alloc.
  std::vector<std::string> expected_;
  Ownership::Entries known_;  // in the record before
  std::vector<Step> tried_;   // also the one that failed
  std::set<std::string> touched_;
  std::set<std::string> made_;
  std::map<std::string, std::string> tasks_;  // of the groups that were removed
  std::optional<Error> unrecorded_;
  std::optional<Failed> failed_;
  bool found_open_device_ = false;
  bool undone_ = false;
  bool made_again_ = false;
};

// Gives the default group everything, if rdtd has set it, and removes every group that rdtd made. A
// group that cannot be removed stays in the record and does not keep the others.
[[nodiscard]] Result<void> remove_owned_groups(Filesystem& filesystem, Ownership& ownership,
                                               Machine machine,
                                               const Transaction::DeviceHolder& holder);

}  // namespace rdtd::resctrl
