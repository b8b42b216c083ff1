// `cpus` and `monitor_cpus` of [group.NAME]. They are kept as lists until it is known that no two
// groups have the same CPU: then all of them together are not more than the CPUs that there can be.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "file_reader.hpp"
#include "id_list.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

struct GroupCpus {
  IdList own;                     // `cpus`; empty also if it is wrong
  bool has_own = false;           // whether there is such a key
  std::vector<IdList> monitored;  // in the order of Group::monitor_cpus
};

// "0-3,8", an integer, or an array of integers; empty if it is none of them, which is reported.
[[nodiscard]] IdList read_cpus(const FileReader& in, const toml::key& key, const toml::node& node);
// A table from a monitoring group to its CPUs.
void read_monitor_cpus(const FileReader& in, const toml::key& key, const toml::node& node,
                       Group& group, GroupCpus& out);

// Gives each group the numbers of its CPUs, unless an earlier group has one of them. Returns an
// error for each that does not get its own. `lists`: by group.
[[nodiscard]] std::vector<Diagnostic> divide_cpus(std::vector<Group>& groups,
                                                  const std::map<std::string, GroupCpus>& lists);

}  // namespace rdtd
