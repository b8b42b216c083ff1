// The values of schemata for people: rates as a policy has them, where the kernel has numbers.
#pragma once

#include <map>
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
// All of a group's resources: "L3:0-1=f MB:0=2 GB/s;1=unlimited". Domains with the same value share
// an entry.
[[nodiscard]] std::string schemata_text(const Capabilities& capabilities, const Schemata& schemata);
// An amount for people: "4 ways 256 KiB", "20%", "2.5 GB/s". The kernel's text, if the machine does
// not say what a number means.
[[nodiscard]] std::string amount_text(const Capabilities& capabilities, Resource resource,
                                      DomainId domain, uint32_t value);
// One text if all domains of the machine have the same, else "0=4 ways;1=2 ways".
[[nodiscard]] std::string domains_text(const Capabilities& capabilities, Resource resource,
                                       const std::map<DomainId, std::string>& texts);
// "4 ways (f), 256 KiB"; without the size if that is not known.
[[nodiscard]] std::string ways_text(Cbm mask, uint64_t bytes);

}  // namespace rdtd
