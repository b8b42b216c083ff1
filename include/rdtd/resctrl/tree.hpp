// Tree: a mounted resctrl filesystem, or a copy of one, for programs that only look at it.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rdtd/model/machine.hpp"
#include "rdtd/model/counters.hpp"
#include "rdtd/resctrl/kernel.hpp"
#include "rdtd/resctrl/members.hpp"

namespace rdtd {

class Tree {
 public:
  // ENODEV with an explanation if the directory exists but nothing is mounted on it.
  [[nodiscard]] static Result<Tree> open(const std::string& path);

  [[nodiscard]] Result<Capabilities> read_capabilities(const MountOptions& mount) const;
  // All control groups. `owned` is passed through.
  [[nodiscard]] Result<Snapshot> read_snapshot(std::set<std::string> owned) const;
  // As in rdtd/resctrl/counters.hpp.
  [[nodiscard]] Result<std::vector<DomainCounters>> read_counters() const;
  [[nodiscard]] Result<std::vector<pid_t>> read_tasks(const std::string& group) const;
  // As in rdtd/resctrl/members.hpp.
  [[nodiscard]] Result<resctrl::Members> read_members(const std::string& group) const;
  [[nodiscard]] const std::string& path() const { return filesystem_->path(); }
  [[nodiscard]] resctrl::Filesystem& filesystem() const { return *filesystem_; }

 private:
  explicit Tree(std::unique_ptr<resctrl::Filesystem> filesystem)
      : filesystem_(std::move(filesystem)) {}
  std::unique_ptr<resctrl::Filesystem> filesystem_;
};

}  // namespace rdtd
