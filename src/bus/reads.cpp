#include "rdtd/bus/reads.hpp"

namespace rdtd {

GroupList::GroupList(std::vector<GroupStatus> groups) : groups_(std::move(groups)) {
  for (size_t i = 0; i < groups_.size(); i++) by_name_.emplace(groups_[i].name, i);
}

const GroupStatus* GroupList::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &groups_[found->second];
}

uint64_t ManagerProperties::assigned() const {
  uint64_t sum = 0;
  for (const AssignmentCount& count : assignments)
    if (count.result == "moved") sum += count.threads;
  return sum;
}

}  // namespace rdtd
