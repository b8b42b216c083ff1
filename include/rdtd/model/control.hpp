// Control: what info/ says of a row of `schemata` that has no word of its own in the model:
// MB_HLIM, L3_MAX, MBMIN. There are two descriptions. The generic one is a directory
// info/RESOURCE/resource_schemata/CONTROL with a file for each property
// (Documentation/filesystems/resctrl.rst of the kernels that have it); the other is info/CONTROL
// with files as MB or L3 have them. A property that no file states is not known, and the kernel
// decides.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "rdtd/model/resource.hpp"

namespace rdtd {

struct Control {
  std::string unit;  // in the kernel's words: "percent", "all", "MBps"; empty: not known
  std::optional<uint32_t> minimum, maximum;  // of the numbers in `schemata`
  // The kernel rounds to a multiple of it.
  unsigned granularity = 1;
  // A number times `scale`, divided by `resolution`, is an amount in the unit.
  uint32_t scale = 1, resolution = 1;
  std::string scope;     // what a domain is: "L3", "NODE"; empty: not known
  std::string resource;  // what it controls: "MB" for MB_HLIM and GMB; empty: not known
  std::optional<unsigned> num_closids;  // if it has fewer
  bool sparse = false;                  // a bit mask may have gaps
  unsigned min_bits = 0;                // the fewest ways that a bit mask may have
  std::set<DomainId> domains;
  bool operator==(const Control&) const = default;
};

// "percent, from 0 to 100, in steps of 5"; "a number" if nothing is known.
[[nodiscard]] std::string describe(const Resource& name, const Control& control);
// The bytes per second of a unit of bandwidth; 0 if it is none.
[[nodiscard]] uint64_t rate_of_unit(const Control& control);
// The numbers that stand for 100%, if the unit is a share of something.
[[nodiscard]] std::optional<uint32_t> whole_of(const Control& control);

}  // namespace rdtd
