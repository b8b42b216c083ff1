// The two ends of suggest: the amounts that this machine can give the group, and the result of
// their measurement for people and programs.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "context.hpp"
#include "knee.hpp"
#include "verbs.hpp"

namespace rdtd {

// The amounts of one resource that a group steps through.
struct StepPlan {
  Group group;  // as the policy has it
  Resource resource = Resource::L3;
  std::vector<unsigned> amounts;  // ways or percent, ascending

  // "6 ways", "20%".
  [[nodiscard]] std::string amount_text(unsigned amount) const;
  // The policy of the lease.
  [[nodiscard]] std::string text_of(unsigned amount) const;
  // Less traffic is better if it comes from misses, more if bandwidth limits it.
  [[nodiscard]] Better better() const {
    return is_cache(resource) ? Better::lower : Better::higher;
  }
};

// Those that the policy allows on this machine. Prints why there are none; the error is the exit
// code.
[[nodiscard]] std::expected<StepPlan, int> plan_steps(const Context& context,
                                                      const Planned& planned,
                                                      const verbs::SuggestOptions& options);

void show_suggestion(const Context& context, const Planned& planned, const StepPlan& steps,
                     const std::vector<AmountRuns>& curve);

}  // namespace rdtd
