// DomainCounters: what resctrl has counted for one group on one L3 domain, by the names of the
// files in mon_data (Documentation/filesystems/resctrl.rst). A counter that the kernel cannot tell
// now, "Unavailable", is absent, not zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rdtd/model/resource.hpp"

namespace rdtd {

struct DomainCounters {
  std::string
      group;  // directory of the control group; its figures include those of its monitoring groups
  std::string mon_group;  // empty: the control group itself
  DomainId domain{};
  std::optional<uint64_t> llc_occupancy;  // bytes in the cache now
  std::optional<uint64_t>
      mbm_total_bytes;  // since the group was made; may jump when a monitor id is used again
  std::optional<uint64_t> mbm_local_bytes;  // the part of them that this domain's own memory served
};

}  // namespace rdtd
