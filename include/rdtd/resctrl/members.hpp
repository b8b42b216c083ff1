// The members of a group, as its file `tasks` lists them: threads, and IOMMU groups on kernels that
// put devices into groups ("iommu_group:5" beside the thread ids; CONFIG_RESCTRL_IOMMU of NVIDIA's
// kernels).
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd::resctrl {

struct Members {
  std::vector<pid_t> tasks;  // thread ids, sorted
  std::set<unsigned> iommu_groups;
};

[[nodiscard]] Members parse_members(std::string_view tasks);
[[nodiscard]] Result<Members> read_members(const Filesystem& filesystem, const std::string& group);

// The word that the kernel takes and shows for an IOMMU group: "iommu_group:5".
[[nodiscard]] std::string iommu_group_word(unsigned iommu_group);
// "IOMMU group 5", "IOMMU groups 5,7"; empty if there is none.
[[nodiscard]] std::string iommu_groups_text(const std::set<unsigned>& iommu_groups);

}  // namespace rdtd::resctrl
