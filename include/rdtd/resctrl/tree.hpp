// Tree: a mounted resctrl filesystem, or a copy of one, behind one root descriptor. The only code
// that reads or writes it. It touches no group but those that it is told to; which ones those may
// be is the planner's business. Formats: Documentation/filesystems/resctrl.rst.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rdtd/base/directory.hpp"
#include "rdtd/model/capabilities.hpp"
#include "rdtd/model/counters.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/plan/plan.hpp"
#include "rdtd/resctrl/kernel.hpp"
#include "rdtd/resctrl/ownership.hpp"

namespace rdtd {

class Tree {
 public:
  // ENODEV with an explanation where the folder is there but nothing is mounted on it.
  [[nodiscard]] static Result<Tree> open(const std::string& path);

  [[nodiscard]] Result<Capabilities> read_capabilities() const;
  // All control groups. `owned` is passed through.
  [[nodiscard]] Result<Snapshot> read_snapshot(std::set<std::string> owned) const;
  // Of all control and monitoring groups, by name, then domain. Empty where resctrl does not
  // monitor.
  [[nodiscard]] Result<std::vector<DomainCounters>> read_counters() const;
  // Thread ids, sorted.
  [[nodiscard]] Result<std::vector<pid_t>> read_tasks(const std::string& group) const;

  // Carries out the steps under the exclusive lock of the mount point, reading every schemata back.
  // On a failure it undoes what it did, in reverse order, and the error says whether that
  // succeeded. A group that it makes is in the ownership record before it exists.
  [[nodiscard]] Result<void> apply(std::span<const Step> steps, Ownership& ownership) const;

  // A group's `tasks`, for writing. The descriptor stays that of this group even when another of
  // its name is made.
  [[nodiscard]] Result<UniqueFd> open_tasks(const std::string& group) const;

  [[nodiscard]] const std::string& path() const { return root_.path(); }

 private:
  Tree(Directory root, std::unique_ptr<resctrl::Filesystem> filesystem)
      : root_(std::move(root)), filesystem_(std::move(filesystem)) {}
  [[nodiscard]] Result<void> carry_out(const Step& step, Ownership& ownership) const;
  [[nodiscard]] Result<void> restore(const std::string& group, const GroupState& state) const;
  [[nodiscard]] Result<void> write(const std::string& file, const std::string& text) const;
  [[nodiscard]] Result<void> write_schemata(const std::string& group,
                                            const Schemata& schemata) const;
  [[nodiscard]] Result<GroupState> read_group(const std::string& group) const;
  [[nodiscard]] Error with_status(Error error) const;

  Directory root_;
  std::unique_ptr<resctrl::Filesystem> filesystem_;
};

// One thread into the group whose `tasks` this is. Returns 0 or errno: ESRCH, it is gone.
[[nodiscard]] int add_task(int tasks_fd, pid_t tid);

// Gives the default group all there is and removes every group that the record names. A group that
// cannot be removed is left in the record, and does not keep the others.
[[nodiscard]] Result<void> remove_owned_groups(const Tree& tree, Ownership& ownership);

}  // namespace rdtd
