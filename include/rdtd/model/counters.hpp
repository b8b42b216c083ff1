// DomainCounters: what resctrl has counted for one group in one domain, by the names of the files
// in mon_data (Documentation/filesystems/resctrl.rst). Nothing is known in advance of which there
// are: processors and kernels differ.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rdtd/model/resource.hpp"

namespace rdtd {

// Why there is no number, in the kernel's words: "Unavailable" for now, "Unassigned" to the group
// (the processor has fewer counters than RMIDs), or "Error".
enum class NoCount { unavailable, unassigned, error };
[[nodiscard]] std::string_view to_string(NoCount reason);

// Most are integers; the energy of a package is a decimal fraction.
using CounterValue = std::variant<uint64_t, double, NoCount>;
// The text of a counter's file. Nothing if it is none of these.
[[nodiscard]] std::optional<CounterValue> parse_counter(std::string_view text);

struct DomainCounters {
  std::string group;  // directory; the figures of a control group include its monitoring groups
  // The resource that is divided into domains: "L3", "MB", "PERF_PKG" (packages), or "sub_L3" (the
  // NUMA nodes that share one L3 domain; its figures are included in those of that domain).
  std::string resource;
  DomainId domain{};
  std::map<std::string, CounterValue> counters;  // "llc_occupancy"
};

// The unit of a counter and the way it counts, from its name.
struct CounterKind {
  enum class Unit { bytes, joules, farads, events };
  Unit unit = Unit::events;
  bool cumulative = true;  // since the group was made; may jump when a monitor id is used again
};
[[nodiscard]] CounterKind kind_of_counter(std::string_view name);

inline constexpr const char* occupancy_counter = "llc_occupancy";
inline constexpr const char* traffic_counter = "mbm_total_bytes";

// Several kinds of domains may count the same traffic. That of L3 is taken, else that of MB, else
// that of the first by name: whether `a` is taken rather than `b`.
[[nodiscard]] bool is_taken_before(std::string_view a, std::string_view b);
// The kind of domains whose traffic is taken: "L3". "" if the control groups have no such counter.
[[nodiscard]] std::string traffic_resource(const std::vector<DomainCounters>& rows);

// Where traffic is counted. Without domains: nowhere, or not known.
struct CountedTraffic {
  std::string resource;  // "L3"
  std::set<DomainId> domains;
};
// "traffic is counted in MB 0, and mb is set in domain 2": no traffic shows what an amount does.
[[nodiscard]] std::string traffic_elsewhere(const CountedTraffic& traffic,
                                            const std::set<DomainId>& mb_domains);

}  // namespace rdtd
