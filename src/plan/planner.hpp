// Planner: the parts of one make_plan, and the values that they share. plan.cpp has the groups,
// limits.cpp compares the policy with the machine's limits, ways.cpp divides the caches.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placement.hpp"
#include "rdtd/plan/plan.hpp"

namespace rdtd {

// The line of a domain table that applies to a domain, or null.
[[nodiscard]] const DomainAmount* line_for(const AmountTables& tables, Resource resource,
                                           DomainId domain);

// "0-3,8", as the kernel writes lists. Domain ids can be any number that fits.
[[nodiscard]] std::string domain_list(const std::set<DomainId>& domains);

// One domain of one cache.
struct CacheDomain {
  Resource resource;
  const CacheInfo& info;
  DomainId id;
};

using DomainRefusals = std::vector<std::pair<PlacementRefusal, DomainId>>;

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
  void warning(const Location& where, std::string message) {
    diagnostics_.push_back({Severity::warning, where, std::move(message), {}, Cause::policy});
  }
  void make_targets();
  void check_names();
  void check_closids();
  void check_new_groups();
  void check_resources(const AmountTables& tables);
  void check_absent(const CacheInfo& info, const DomainAmount& line);
  void check_domains(Resource resource, const DomainAmount& line, const std::set<DomainId>& known);
  [[nodiscard]] const std::set<DomainId>* domains_of(Resource resource) const;
  void refuse_resource(Resource resource, const Location& where);

  // The groups and partitions that have ways of one domain, in the order of its request.
  struct Parties {
    std::vector<const Partition*> partitions;
    std::vector<const Group*> exclusive;             // after the partitions
    std::vector<std::vector<const Group*>> members;  // of each partition
    std::vector<const Group*> shared;
  };
  [[nodiscard]] Parties parties_of(const CacheDomain& domain) const;
  [[nodiscard]] std::optional<DomainRequest> request_for(const CacheDomain& domain,
                                                         const Parties& parties);
  void place_resource(Resource resource, const CacheInfo& info);
  void place_domain(const CacheDomain& domain, DomainRefusals& refusals);
  void grant(const CacheDomain& domain, const Group* group, Cbm mask);
  [[nodiscard]] std::optional<Party> party(const CacheDomain& domain, const Group& group,
                                           unsigned total);
  [[nodiscard]] std::optional<Party> party(const CacheDomain& domain, const std::string& name,
                                           const DomainAmount& line, unsigned total);
  [[nodiscard]] std::optional<Want> want(const CacheDomain& domain, const DomainAmount& line,
                                         unsigned total);
  [[nodiscard]] Cbm previous_mask(const std::string& directory, Resource resource,
                                  DomainId domain) const;
  // One diagnostic for all domains of which the same is said.
  void report(Resource resource, const DomainRefusals& refusals, Severity severity);

  void set_bandwidth(Resource resource, const BandwidthInfo& info);
  [[nodiscard]] uint32_t no_limit(const std::string& directory, Resource resource, DomainId domain,
                                  uint32_t unlimited) const;
  void refuse_bandwidth(Resource resource, const BandwidthInfo& info, const DomainAmount& line);
  void assign_cpus();
  void check_cpus(const Group& group, std::map<unsigned, const Group*>& holders);
  void warn_of_foreign_groups(Resource resource, const CacheInfo& info);
  void decide_modes();
  [[nodiscard]] bool is_foreign(const std::string& directory) const {
    return directory != root_group && !snapshot_.owned.contains(directory);
  }
  GroupTarget& target(const Group* group) {
    return targets_[group == nullptr ? targets_.size() - 1
                                     : static_cast<size_t>(target_of_.at(group))];
  }

  const Policy& policy_;
  const Capabilities& capabilities_;
  Snapshot snapshot_;  // with the groups that the policy adopts as owned
  std::vector<Diagnostic> diagnostics_;
  std::vector<GroupTarget> targets_;
  std::map<const Group*, size_t> target_of_;
  const Group* default_group_ = nullptr;                           // if the policy has it
  std::map<std::string_view, std::vector<const Group*>> members_;  // of each partition
  std::map<Resource, std::set<DomainId>> domains_;                 // that resctrl offers
};

}  // namespace rdtd
