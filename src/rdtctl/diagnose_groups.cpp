// The findings of doctor about the groups of resctrl, and about the CLOSIDs and RMIDs that they
// hold.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "diagnose_parts.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd {

namespace {

using enum Finding::Kind;

// How to get what a group of another tool holds: by the removal of one that is not in use. With the
// other ones, tasks and devices would lose their limits.
std::string how_to_free(const MachineFacts& facts, const std::vector<std::string>& groups,
                        std::string_view kind) {
  const auto unused = std::ranges::find_if(
      groups, [&](const std::string& name) { return !facts.used.contains(name); });
  if (unused == groups.end())
    return fmt::format(
        "each of the {} of others is in use, by tasks, CPUs or devices: ask who made them; rmdir "
        "{}/NAME removes one",
        kind, facts.mount_point);
  return fmt::format("remove {} of others that nobody needs, for example: rmdir {}/{}", kind,
                     facts.mount_point, *unused);
}

std::string in_brackets(const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format(" ({})", first_names(names));
}

}  // namespace

void check_names(const MachineFacts& facts, std::vector<Finding>& out) {
  for (const std::string& name : facts.policy_groups)
    if (facts.foreign_regions.contains(name))
      out.push_back({problem,
                     fmt::format("group '{}' exists in resctrl as a pseudo-locked region, which "
                                 "rdtd did not create",
                                 name),
                     "rename the group in the policy"});
    else if (std::ranges::find(facts.foreign_groups, name) != facts.foreign_groups.end())
      out.push_back(
          {problem, fmt::format("group '{}' exists in resctrl, but rdtd did not create it", name),
           fmt::format("if nobody needs it: rmdir {}/{}; otherwise rename the group in the policy, "
                       "or take it over: once with rdtctl adopt {}, always with adopt = true",
                       facts.mount_point, name, name)});
}

Finding count_closids(const MachineFacts& facts) {
  if (!facts.num_closids)
    return {fine, "there is only the default group: resctrl divides nothing here that rdtd knows",
            ""};
  const size_t not_ours = 1 + facts.foreign_groups.size() + (facts.io_holds_closid ? 1 : 0);
  const size_t free_for_us = *facts.num_closids - std::min<size_t>(*facts.num_closids, not_ours);
  const std::string taken = fmt::format(
      "of {} CLOSIDs, the default group uses 1, {}rdtd {}, others {}{}", *facts.num_closids,
      facts.io_holds_closid ? "I/O devices (io_alloc) 1, " : "", facts.own_groups.size(),
      facts.foreign_groups.size(), in_brackets(facts.foreign_groups));
  const auto cure = [&] {
    return how_to_free(facts, facts.foreign_groups, "groups") +
           "; pqos leaves COS groups behind, which only rmdir removes";
  };
  const size_t groups = facts.policy_groups.size();
  const bool none_left = facts.own_groups.size() >= free_for_us && !facts.foreign_groups.empty();
  if (groups <= free_for_us)
    return {none_left ? warning : fine, none_left ? "no CLOSID is free: " + taken : taken,
            none_left ? cure() : ""};
  return {problem,
          fmt::format("no CLOSID is free: the policy has {} group{}, but rdtd can create {}; {}",
                      groups, groups == 1 ? "" : "s", free_for_us, taken),
          facts.foreign_groups.empty() ? "use fewer groups" : cure()};
}

// Control groups and monitoring groups hold one each.
void count_rmids(const MachineFacts& facts, std::vector<Finding>& out) {
  if (!facts.num_rmids) return;
  const auto& others = facts.foreign_rmids;
  const size_t not_ours = 1 + others.size();
  const size_t free_for_us = *facts.num_rmids - std::min<size_t>(*facts.num_rmids, not_ours);
  const std::string taken =
      fmt::format("of {} RMIDs, the default group uses 1, rdtd {}, others {}{}", *facts.num_rmids,
                  facts.own_rmids, others.size(), in_brackets(others));
  const auto cure = [&]() -> std::string {
    if (others.empty()) return "use fewer groups and monitoring groups";
    std::vector<std::string> monitoring;
    std::ranges::copy_if(others, std::back_inserter(monitoring), is_mon_group);
    // An empty control group, if only those are not in use.
    const auto is_used = [&](const std::string& name) { return facts.used.contains(name); };
    const bool of_control = std::ranges::all_of(monitoring, is_used) &&
                            (monitoring.empty() || !std::ranges::all_of(others, is_used));
    return of_control ? how_to_free(facts, others, "groups")
                      : how_to_free(facts, monitoring, "monitoring groups");
  };
  const bool none_left = facts.own_rmids >= free_for_us && !others.empty();
  if (facts.rmids_needed > free_for_us)
    out.push_back({problem,
                   fmt::format("no RMID is free: the policy needs {}, but rdtd can have {}; {}",
                               facts.rmids_needed, free_for_us, taken),
                   cure()});
  else
    out.push_back({none_left ? warning : fine, none_left ? "no RMID is free: " + taken : taken,
                   none_left ? cure() : ""});
}

}  // namespace rdtd
