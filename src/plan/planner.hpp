// Planner: the parts of one make_plan, and what they share. plan.cpp has the groups and what is
// counted, ways.cpp the caches.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "placement.hpp"
#include "rdtd/plan/plan.hpp"

namespace rdtd {

// The line of a domain table that speaks of a domain, or null.
[[nodiscard]] const DomainAmount* line_for(const AmountTables& tables, Resource resource,
                                           DomainId domain);

class Planner {
 public:
  Planner(const Policy& policy, const Capabilities& capabilities, const Snapshot& snapshot)
      : policy_(policy), capabilities_(capabilities), snapshot_(snapshot) {}
  std::expected<Plan, std::vector<Diagnostic>> run();

 private:
  void error(const Location& where, std::string message, std::string hint = {},
             Cause cause = Cause::policy) {
    diagnostics_.push_back({Severity::error, where, std::move(message), std::move(hint), cause});
  }
  void make_targets();
  void check_names();
  void check_closids();
  void check_resources(const AmountTables& tables);
  void place_resource(Resource resource, const CacheInfo& info);
  void place_domain(Resource resource, const CacheInfo& info, DomainId domain,
                    std::vector<std::pair<Refusal, DomainId>>& refusals);
  std::optional<Party> party(const std::string& name, const DomainAmount& line, Resource resource,
                             const CacheInfo& info, DomainId domain, unsigned total, Cbm previous);
  Cbm previous_mask(const std::string& directory, Resource resource, DomainId domain) const;
  Cbm previous_mask(const Partition& partition, Resource resource, DomainId domain) const;
  void report(Resource resource, std::vector<std::pair<Refusal, DomainId>> refusals,
              Severity severity);
  [[nodiscard]] uint32_t no_limit(const std::string& directory, Resource resource, DomainId domain,
                                  uint32_t unlimited) const;
  void refuse_bandwidth(Resource resource, const BandwidthInfo& info, const DomainAmount& line);
  void set_bandwidth(Resource resource, const BandwidthInfo& info);
  void assign_cpus();
  void warn_of_foreign_groups(Resource resource, const CacheInfo& info);
  void decide_modes();
  bool is_foreign(const std::string& directory) const {
    return directory != root_group && !snapshot_.owned.contains(directory);
  }
  GroupTarget& target(const Group* group) {
    return targets_[group == nullptr ? targets_.size() - 1
                                     : static_cast<size_t>(target_of_.at(group))];
  }

  const Policy& policy_;
  const Capabilities& capabilities_;
  const Snapshot& snapshot_;
  std::vector<Diagnostic> diagnostics_;
  std::vector<GroupTarget> targets_;
  std::map<const Group*, size_t> target_of_;
  const Group* default_group_ = nullptr;  // where the policy speaks of it
};

}  // namespace rdtd
