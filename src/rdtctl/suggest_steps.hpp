// The amounts that suggest can give a group on this machine, and what each costs other groups.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <vector>

#include "context.hpp"
#include "verbs.hpp"

namespace rdtd {

// The amounts of one resource that a group steps through.
struct StepPlan {
  Group group;  // as the policy has it
  Resource resource = Resource::L3;
  unsigned present = 0;           // the amount that the policy gives it
  std::vector<unsigned> amounts;  // ways or percent, ascending
  // The ways that each other group may fill on the domain where they are fewest, now and with each
  // amount; none for bandwidth.
  std::map<std::string, unsigned> others;
  std::map<unsigned, std::map<std::string, unsigned>> others_at;

  // The policy of the lease.
  [[nodiscard]] std::string text_of(unsigned amount) const;
};

// "[group.NAME]" with this amount of the resource on all domains: it amends the group, which keeps
// all other settings.
[[nodiscard]] std::string stepped_group_text(const std::string& group, Resource resource,
                                             const std::string& amount);

// All that the machine can give a group; the error is why it has none.
[[nodiscard]] std::expected<std::vector<unsigned>, std::string> amounts_of(
    const Capabilities& capabilities, Resource resource);

// Those that the policy allows on this machine. Prints why there are none; the error is the exit
// code.
[[nodiscard]] std::expected<StepPlan, int> plan_steps(const Context& context,
                                                      const Planned& planned,
                                                      const verbs::SuggestOptions& options);

}  // namespace rdtd
