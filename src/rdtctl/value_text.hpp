// The values of schemata for people: rates as a policy has them, where the kernel has numbers.
#pragma once

#include <string>

#include "rdtd/model/capabilities.hpp"
#include "rdtd/model/schemata.hpp"

namespace rdtd {

// A bandwidth as a policy has it: "20%", "800 MiB/s", "2.5 GB/s", "unlimited".
[[nodiscard]] std::string bandwidth_text(const BandwidthInfo& info, DomainId domain,
                                         uint32_t value);
// The kernel's text, but rates with their unit: "f", "20", "2.5 GB/s".
[[nodiscard]] std::string value_text(const Capabilities& capabilities, Resource resource,
                                     DomainId domain, uint32_t value);
// Domains with the same value share an entry: "0-1=f", "0=2 GB/s;1=unlimited".
[[nodiscard]] std::string values_text(const Capabilities& capabilities, Resource resource,
                                      const DomainValues& values);
// All of a group's resources: "L3:0-1=f MB:0-1=2 GB/s".
[[nodiscard]] std::string schemata_text(const Capabilities& capabilities, const Schemata& schemata);
// "4 ways (f), 256 KiB"; without the size if that is not known.
[[nodiscard]] std::string ways_text(Cbm mask, uint64_t bytes);

}  // namespace rdtd
