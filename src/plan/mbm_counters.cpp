// Which counters the groups of a policy lack, and which of these can be assigned.
#include "rdtd/plan/mbm_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <vector>

#include "planner.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

class Assigning {
 public:
  explicit Assigning(const Snapshot& snapshot)
      : owned_(snapshot.owned),
        assignments_(snapshot.mbm_assignments),
        free_(snapshot.free_mbm_counters) {}

  void add(const std::string& directory) {
    const auto group = assignments_.find(directory);
    if (group == assignments_.end() || !owned_.contains(directory)) return;
    AssignCounters step{directory, {}};
    Lack lack{directory, {}, {}};
    // The total before the local bandwidth: it is what rdtctl shows first.
    for (auto& [event, domains] : std::views::reverse(group->second))
      for (auto& [domain, assigned] : domains) {
        if (assigned) continue;
        if (unsigned& left = free_[domain]; left > 0) {
          left--;
          assigned = step.events[event][domain] = true;
        } else {
          lack.domains.insert(domain);
          lack.events.insert(event);
        }
      }
    if (!step.events.empty()) steps_.emplace_back(std::move(step));
    if (!lack.domains.empty()) lacks_.push_back(std::move(lack));
  }

  [[nodiscard]] CounterPlan result() {
    CounterPlan out{std::move(steps_), {}};
    // Once for each set of domains: there can be as many groups that lack some as groups with some.
    std::map<std::set<DomainId>, std::string> who;
    for (const Lack& lack : lacks_) {
      const auto [known, is_new] = who.try_emplace(lack.domains);
      if (is_new) known->second = holders(lack.domains);
      out.missing.emplace(lack.directory, text(lack, known->second));
    }
    return out;
  }

 private:
  struct Lack {
    std::string directory;
    std::set<DomainId> domains;
    std::set<std::string> events;
  };

  // Groups that have a counter in one of the domains, the first ones by name.
  [[nodiscard]] std::string holders(const std::set<DomainId>& in) const {
    constexpr size_t most = 8;
    std::vector<std::string> out;
    for (const auto& [group, events] : assignments_)
      if (std::ranges::any_of(events, [&](const auto& event) {
            return std::ranges::any_of(event.second, [&](const auto& domain) {
              return domain.second && in.contains(domain.first);
            });
          }))
        out.push_back(group_label(group));
    const size_t more = out.size() - std::min(out.size(), most);
    out.resize(out.size() - more);
    return join(out, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
  }

  [[nodiscard]] static std::string text(const Lack& lack, const std::string& holders) {
    const std::vector<std::string> events(lack.events.begin(), lack.events.end());
    return fmt::format(
        "{} '{}' has no counter for {} in domain{} {}: none is free there (assigned "
        "to {})",
        is_mon_group(lack.directory) ? "monitoring group" : "group", group_label(lack.directory),
        join(events, " and "), lack.domains.size() == 1 ? "" : "s", domain_list(lack.domains),
        holders);
  }

  const std::set<std::string>& owned_;
  std::map<std::string, MbmAssignments> assignments_;
  std::map<DomainId, unsigned> free_;
  std::vector<Step> steps_;
  std::vector<Lack> lacks_;
};

}  // namespace

CounterPlan plan_counters(const std::vector<GroupTarget>& targets, const Snapshot& snapshot) {
  Assigning assigning(snapshot);
  if (snapshot.mbm_assignments.empty()) return assigning.result();
  for (const GroupTarget& target : targets) {
    if (target.directory != root_group) assigning.add(target.directory);
    for (const std::string& group : target.mon_groups) assigning.add(group);
  }
  return assigning.result();
}

}  // namespace rdtd
