#include "rdtd/resctrl/tree.hpp"

#include "rdtd/resctrl/counters.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd {

Result<Tree> Tree::open(const std::string& path) {
  auto kernel = resctrl::Kernel::open(path);
  if (!kernel) return std::unexpected(kernel.error());
  return Tree(std::move(*kernel));
}

Result<Capabilities> Tree::read_capabilities(const MountOptions& mount) const {
  const auto root = resctrl::read_group(*filesystem_, "");
  if (!root) return std::unexpected(root.error());
  return resctrl::read_capabilities(*filesystem_, root->schemata, mount);
}

Result<Snapshot> Tree::read_snapshot(std::set<std::string> owned) const {
  auto snapshot = resctrl::read_snapshot(*filesystem_);
  if (snapshot) snapshot->owned = std::move(owned);
  return snapshot;
}

Result<std::vector<DomainCounters>> Tree::read_counters() const {
  return resctrl::read_counters(*filesystem_);
}

Result<std::vector<pid_t>> Tree::read_tasks(const std::string& group) const {
  return resctrl::read_tasks(*filesystem_, group);
}

Result<resctrl::Members> Tree::read_members(const std::string& group) const {
  return resctrl::read_members(*filesystem_, group);
}

}  // namespace rdtd
