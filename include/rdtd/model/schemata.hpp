// Schemata: the text of a group's `schemata` as a value: resource, domain, number. For a cache the
// number is the bits of a CBM, for MB and SMBA the bandwidth in the unit of the mount, for other
// controls what control.hpp says. Source: Documentation/filesystems/resctrl.rst.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/model/resource.hpp"

namespace rdtd {

using DomainValues = std::map<DomainId, uint32_t>;
using Schemata = std::map<Resource, DomainValues>;

// Reads what any kernel writes: padding, leading zeros and order do not count. A row that is
// neither one of the constants of Resource nor in `others` is left out, as is one of `others` that
// is not made of numbers, so that a newer kernel's further lines do no harm.
[[nodiscard]] Result<Schemata> parse_schemata(std::string_view text,
                                              const std::set<Resource>& others = {});
// The names of all rows of a `schemata`, in their order.
[[nodiscard]] std::vector<std::string_view> row_names(std::string_view text);
// "0=f;1=ff0", hexadecimal for a cache.
[[nodiscard]] std::string format_values(Resource resource, const DomainValues& values);
// A line each, "L3:0=f;1=ff0\n", as the kernel wants them written.
[[nodiscard]] std::string format_schemata(const Schemata& schemata);
// In parts whose text has at most `longest` bytes. The kernel takes a row with only some of the
// domains.
[[nodiscard]] std::vector<Schemata> split_schemata(const Schemata& schemata, size_t longest);

// For people: domains with the same value share an entry, by ids as in a policy's domain table,
// "0-7=fff0;8,10=f". The first gives a list of entries, for a caller that breaks lines.
[[nodiscard]] std::vector<std::string> merged_domains(
    const std::map<DomainId, std::string>& values);
[[nodiscard]] std::string format_values_merged(Resource resource, const DomainValues& values);
// All of a group's resources on one line: "L3:0-1=f MB:0=10;1=20".
[[nodiscard]] std::string schemata_line(const Schemata& schemata);

}  // namespace rdtd
