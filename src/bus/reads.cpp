#include "rdtd/bus/reads.hpp"

#include <map>

#include "rdtd/base/text.hpp"
#include "rdtd/model/schemata.hpp"

namespace rdtd {

GroupList::GroupList(std::vector<GroupStatus> groups) : groups_(std::move(groups)) {
  for (size_t i = 0; i < groups_.size(); i++) by_name_.emplace(groups_[i].name, i);
}

const GroupStatus* GroupList::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &groups_[found->second];
}

std::string shares_line(const std::vector<Share>& shares) {
  std::map<std::string, std::map<DomainId, std::string>> resources;
  for (const Share& share : shares) resources[share.resource][DomainId{share.domain}] = share.text;
  std::vector<std::string> parts;
  for (const auto& [resource, domains] : resources)
    parts.push_back(resource + ":" + join(merged_domains(domains), ";"));
  return join(parts, " ");
}

uint64_t ManagerProperties::assigned() const {
  uint64_t sum = 0;
  for (const AssignmentCount& count : assignments)
    if (count.result == "moved") sum += count.threads;
  return sum;
}

}  // namespace rdtd
