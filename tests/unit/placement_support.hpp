// Policies and layouts in short form, for the tests of placement.
#pragma once

#include <string>

#include "support.hpp"

namespace rdtd::test {

// A policy and the layout that it leads to, or the errors.
struct PolicyAndLayout {
  std::string policy;
  std::string layout;
};

inline CacheInfo& l3(Capabilities& capabilities) { return capabilities.caches.at(Resource::L3); }

// The tables of a policy.
inline std::string group(const std::string& name, const std::string& l3,
                         const std::string& more = "") {
  return "[group." + name + "]\n" + (l3.empty() ? "" : "l3 = \"" + l3 + "\"\n") + more;
}
inline std::string exclusive(const std::string& name, const std::string& l3) {
  return group(name, l3, "exclusive = true\n");
}
inline std::string partition(const std::string& name, const std::string& l3) {
  return "[partition." + name + "]\nl3 = \"" + l3 + "\"\n";
}
inline std::string member(const std::string& name, const std::string& of,
                          const std::string& l3 = "") {
  return group(name, l3, "partition = \"" + of + "\"\n");
}

// "a 0-3, default 4-7": who has which ways, or the errors.
inline std::string layout(const std::string& policy, const Capabilities& capabilities,
                          const Snapshot& snapshot) {
  const ParsedPolicy parsed = parse(policy);
  const auto plan = make_plan(parsed.policy, capabilities, snapshot);
  if (!plan) return format_diagnostics(plan.error(), parsed.policy.sources);
  std::string out;
  for (const GroupTarget& target : plan->groups)
    out += (out.empty() ? "" : ", ") + group_label(target.directory) + " " +
           way_list(Cbm{target.state.schemata.at(Resource::L3).at(DomainId{0})});
  return out;
}

}  // namespace rdtd::test
