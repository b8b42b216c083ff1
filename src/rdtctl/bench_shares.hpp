// The shares that the groups of bench have of the machine: where they differ from the default
// group, and how many ways of the cache each has. Pure functions.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rdtd/experiment/placement.hpp"
#include "rdtd/model/capabilities.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd::bench {

// The part of the machine that the third condition divides.
struct Divided {
  std::optional<unsigned> level;  // of the cache; nothing: it divides none, or that is not known
  std::set<unsigned> domains;     // where it does; empty: in all
  bool operator==(const Divided&) const = default;
};

// The part in which these groups, as group_label() names them, differ from the default group.
// Nothing if they have the same.
[[nodiscard]] std::optional<Divided> divided_by(const Snapshot& snapshot,
                                                const std::set<std::string>& groups);

// That a group with these schemata has of the cache; 0: not known.
[[nodiscard]] unsigned ways_in(const Schemata& schemata, experiment::CacheId cache);
// 0 if the cache is not divided.
[[nodiscard]] unsigned all_ways_of(const Capabilities& capabilities, unsigned level);

// A sentence if the default group may not fill all ways of the cache: who has the others, and how
// to have them alone if `group`, that of the command, does. Nothing if it may.
[[nodiscard]] std::optional<std::string> missing_ways(const Capabilities& capabilities,
                                                      const Snapshot& snapshot,
                                                      experiment::CacheId cache,
                                                      const std::string& group);

// A sentence for each group whose schemata are others after the runs, as after a reload.
[[nodiscard]] std::vector<std::string> changed_groups(const std::map<std::string, Schemata>& before,
                                                      const std::map<std::string, Schemata>& after);

}  // namespace rdtd::bench
