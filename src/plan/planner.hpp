// Planner: the parts of one make_plan, and the values that they share. plan.cpp has the groups,
// limits.cpp compares the policy with the machine's limits, mon_groups.cpp has the monitoring
// groups, foreign_groups.cpp what is said of other tools' groups, ways.cpp divides the caches,
// idle_ways.cpp warns of ways that nobody fills, joined_ways.cpp of exclusive ways that the
// hardware joins with another, locks.cpp has the pseudo-locked regions, io.cpp the I/O devices,
// controls.cpp the controls without a word, node_limits.cpp the limits of a whole node.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placement.hpp"
#include "rdtd/model/machine.hpp"
#include "rdtd/plan/plan.hpp"

namespace rdtd {

// The line of a resource's table that holds for the domain. Or null.
[[nodiscard]] const DomainAmount* line_for(const AmountTables& tables, Resource resource,
                                           DomainId domain);

// The line for a part of a cache (L3CODE): its own, else that of the whole cache (L3). Or null.
[[nodiscard]] const DomainAmount* cache_line(const AmountTables& tables, Resource part,
                                             DomainId domain);

// " (a, b)", or nothing; of very many names, the first ones.
[[nodiscard]] std::string names_asked(const std::vector<std::string>& groups);

// "1 is the default group's, 2 taken by groups that rdtd did not make (x, y)": CLOSIDs or RMIDs.
// `others`: their directories.
[[nodiscard]] std::string taken_by(const std::vector<std::string>& others,
                                   std::string_view first = "the default group's");

inline constexpr std::string_view left_out_here = "not available on this machine, left out: ";

// One kind of cache of the machine.
struct Cache {
  Resource resource;            // L3 or L2
  std::vector<Resource> parts;  // as `schemata` has it: L3, or with CDP L3CODE and L3DATA
  const CacheInfo& info;        // the same for both parts
};

// One domain of one cache.
struct CacheDomain {
  const Cache& cache;
  DomainId id;
};

// The owner of the masks that a party of a request stands for.
struct Slot {
  const Group* group = nullptr;
  std::span<const Resource> parts;
  const DomainAmount* line = nullptr;    // null: no amount
  const Partition* partition = nullptr;  // whose, if of no group
};

// A request, and for each of its parties whose it is.
struct PlannedRequest {
  DomainRequest request;
  std::vector<Slot> exclusive;
  std::vector<std::vector<Slot>> members;  // of each exclusive party
  std::vector<Slot> shared;
};

// "'redis'" or "partition 'batch'".
[[nodiscard]] std::string exclusive_name(const PlannedRequest& planned, size_t index);

// Messages about domains, each text once: a large policy may have very many.
using DomainRefusals = std::map<PlacementRefusal, std::set<DomainId>>;

// About a placement that was granted.
struct PlacementWarnings {
  DomainRefusals devices;       // fill exclusive ways too
  DomainRefusals joined;        // to an exclusive way that the processor does not keep apart
  DomainRefusals idle;          // ways that nobody fills
  DomainRefusals idle_for_now;  // if the groups did not keep their places, somebody would
};

class Planner {
 public:
  Planner(const Policy& policy, const Capabilities& capabilities, const Snapshot& snapshot,
          PlanFor plan_for)
      : policy_(policy), capabilities_(capabilities), snapshot_(snapshot), plan_for_(plan_for) {}
  std::expected<Plan, std::vector<Diagnostic>> run();
  std::vector<Diagnostic> follow_others(std::vector<GroupTarget>& targets, const IoTarget& io);

 private:
  void error(const Location& where, std::string message, std::string hint = {},
             Cause cause = Cause::policy) {
    diagnostics_.push_back({Severity::error, where, std::move(message), std::move(hint), cause});
  }
  void warning(const Location& where, std::string message) {
    diagnostics_.push_back({Severity::warning, where, std::move(message), {}, Cause::policy});
  }
  // Reports something that this machine does not have: as an error, or only as a warning if the
  // policy says so.
  void unsupported(const Location& where, std::string message, std::string hint = {},
                   Cause cause = Cause::policy) {
    if (policy_.daemon.unsupported == OnUnsupported::refuse)
      return error(where, std::move(message), std::move(hint), cause);
    diagnostics_.push_back({Severity::warning, where, std::string(left_out_here) + message,
                            std::move(hint), Cause::policy});
  }
  void make_targets();
  // Why no control group can have a monitoring group; null: it can.
  [[nodiscard]] const char* why_unmonitored() const;
  void find_mon_groups();
  [[nodiscard]] std::vector<std::string> others_with_rmids() const;
  void keep_mon_groups(const std::string& control, const Located<std::string>& monitor,
                       size_t needed);
  void check_names();
  void check_mon_group_names();
  void check_closids();
  void check_rmids();
  void check_rmids_of_closids();
  void check_new_groups();
  void check_amounts(const AmountTables& tables);
  void check_resources(const AmountTables& tables);
  void check_absent(const Cache& cache, const DomainAmount& line);
  void check_absent(Resource resource, const DomainAmount& line);
  void check_domains(Resource resource, const DomainAmount& line, const std::set<DomainId>& known);
  [[nodiscard]] const std::set<DomainId>* domains_of(Resource resource) const;
  [[nodiscard]] CpuSet offline_cpus() const;

  void check_refused();
  void check_locks();
  void check_caches_of_locks();
  [[nodiscard]] bool can_lock(const PseudoLock& lock);
  void check_new_regions();
  [[nodiscard]] Schemata regions_that_stay() const;
  [[nodiscard]] bool can_make_group(const CacheDomain& domain, Cbm locked) const;
  void find_busy_locks();
  [[nodiscard]] const PseudoLock* lock_in(const CacheDomain& domain) const;
  [[nodiscard]] std::optional<Cbm> locked_now(const CacheDomain& domain,
                                              const PseudoLock& lock) const;
  [[nodiscard]] std::vector<Cbm> lock_places(const CacheDomain& domain, const PseudoLock& lock,
                                             const Want& wanted) const;
  [[nodiscard]] std::optional<PlacementRefusal> lock_refusal(const CacheDomain& domain,
                                                             const PseudoLock& lock,
                                                             const Want& wanted) const;
  [[nodiscard]] std::vector<PlacementRefusal> explain_lock(const CacheDomain& domain,
                                                           const PseudoLock& lock,
                                                           const Want& wanted,
                                                           DomainRequest request) const;
  [[nodiscard]] std::expected<DomainPlacement, std::vector<PlacementRefusal>> place_with_lock(
      const CacheDomain& domain, const PseudoLock& lock, DomainRequest request);
  void add_lock_target(const CacheDomain& domain, const PseudoLock& lock, Cbm mask);
  void refuse_resource(Resource resource, const Located<Amount>& amount);
  void refuse_resource(std::string_view key, std::string_view name, const Location& where,
                       std::string hint = {});
  [[nodiscard]] MountOptions options_in_use() const;

  void check_io();
  [[nodiscard]] bool others_enabled_io() const;
  [[nodiscard]] bool io_holds_closid() const { return io_ != nullptr || others_enabled_io(); }
  [[nodiscard]] Cbm ways_of_devices(const CacheDomain& domain) const;
  [[nodiscard]] bool add_io(const CacheDomain& domain, PlannedRequest& out);
  [[nodiscard]] const Schemata* schemata_now(const Group& group) const;

  // The groups and partitions that have ways of one domain, in the order of its request.
  struct Parties {
    std::vector<const Partition*> partitions;
    std::vector<const Group*> exclusive;             // after the partitions
    std::vector<std::vector<const Group*>> members;  // of each partition
    std::vector<const Group*> shared;                // without the default group
    const Group* last = nullptr;                     // the default group, if it shares
  };
  [[nodiscard]] Parties parties_of(const CacheDomain& domain) const;
  [[nodiscard]] std::optional<PlannedRequest> request_for(const CacheDomain& domain);
  [[nodiscard]] bool add_exclusive(const CacheDomain& domain, const Parties& parties,
                                   PlannedRequest& out);
  [[nodiscard]] bool add_members(const CacheDomain& domain, const Group& group, size_t first,
                                 size_t count, PlannedRequest& out);
  [[nodiscard]] bool add_shared(const CacheDomain& domain, const Group& group, PlannedRequest& out);
  void place_cache(const Cache& cache);
  void refuse_without_ways(const Cache& cache);
  void place_domain(const CacheDomain& domain, DomainRefusals& refusals,
                    PlacementWarnings& warnings);
  void note_devices(const CacheDomain& domain, const PlannedRequest& planned,
                    const DomainPlacement& placement, DomainRefusals& warnings);
  void note_joined(const CacheDomain& domain, const PlannedRequest& planned,
                   const DomainPlacement& placement, DomainRefusals& warnings) const;
  void note_idle(const CacheDomain& domain, const PlannedRequest& planned,
                 const DomainPlacement& placement, PlacementWarnings& warnings) const;
  void grant(const CacheDomain& domain, const Slot& slot, Cbm mask);
  [[nodiscard]] std::optional<Party> party(const CacheDomain& domain, const Slot& slot,
                                           const Located<std::string>& name, unsigned total);
  [[nodiscard]] std::optional<Want> want(const CacheDomain& domain, const DomainAmount& line,
                                         unsigned total);
  [[nodiscard]] Cbm previous_mask(const CacheDomain& domain, const Slot& slot) const;
  // One diagnostic for all domains of which the same is said.
  void report(Resource resource, const DomainRefusals& refusals, Severity severity,
              const std::string& hint = {});

  void set_bandwidth(Resource resource, const BandwidthInfo& info);
  void warn_of_narrow_range(const Located<Amount>& amount, const BandwidthInfo& info, uint32_t most,
                            uint32_t unlimited);
  void warn_of_no_limit(Resource resource, const DomainAmount& line, uint32_t unlimited);
  [[nodiscard]] uint32_t no_limit(const std::string& directory, Resource resource, DomainId domain,
                                  uint32_t unlimited) const;
  void refuse_bandwidth(Resource resource, const BandwidthInfo& info, const DomainAmount& line);
  void set_controls();
  void set_control(const Group& group, const std::string& name, const AmountTable& table);
  [[nodiscard]] const std::pair<const Resource, Control>* find_control(
      const std::string& name) const;
  [[nodiscard]] bool is_cap_a_control() const;
  void warn_of_floor_above_cap(const Group& group);
  void lift_cap(GroupTarget& of);
  void bound_by_nodes();
  [[nodiscard]] bool limits_node(const std::pair<const Resource, Control>& row,
                                 const Resource& bounded) const;
  void refuse_range_above(const DomainAmount& line, const BandwidthInfo& info, uint32_t limit);
  void bound(const Group& group, const std::pair<const Resource, Control>& row,
             const Resource& bounded);
  void refuse_control(const std::string& name, const Location& where);
  void assign_cpus();
  // By group that rdtd did not make.
  [[nodiscard]] std::map<std::string, CpuSet> cpus_of_others() const;
  [[nodiscard]] CpuSet checked_cpus(const Located<CpuSet>& asked);
  void assign_monitor_cpus(const Group& group);
  void warn_of_cpus_counted_by_others(const Group& group);
  void warn_of_foreign_groups(const Cache& cache);
  void warn_of_wider_default(const Cache& cache);
  void warn_of_unreadable_groups();
  [[nodiscard]] std::string why_guard_is_idle() const;
  void warn_of_idle_guard();
  [[nodiscard]] bool is_alone_in_partition(const GroupTarget& group) const;
  void decide_modes();
  // Groups that rdtd did not make; of those that cannot be read as a whole, what could be read.
  [[nodiscard]] std::map<std::string_view, const GroupState*> foreign_groups() const;
  [[nodiscard]] bool is_foreign(const std::string& directory) const {
    return directory != root_group && !snapshot_.owned.contains(directory);
  }
  GroupTarget& target(const Group* group) {
    if (group != nullptr && group == io_) return *io_target_;
    return targets_[group == nullptr ? targets_.size() - 1
                                     : static_cast<size_t>(target_of_.at(group))];
  }
  GroupTarget& target(const Slot& slot) {
    if (slot.partition == nullptr) return target(slot.group);
    return partition_targets_[static_cast<size_t>(slot.partition - policy_.partitions.data())];
  }

  const Policy& policy_;
  const Capabilities& capabilities_;
  Snapshot snapshot_;  // with the groups that are adopted as owned
  PlanFor plan_for_;
  std::vector<Diagnostic> diagnostics_;
  std::vector<GroupTarget> targets_;
  std::map<const Group*, size_t> target_of_;
  std::vector<PartitionTarget> partition_targets_;                 // in the order of the policy
  const Group* default_group_ = nullptr;                           // if the policy has it
  std::map<std::string_view, std::vector<const Group*>> members_;  // of each partition
  std::map<Resource, std::set<DomainId>> domains_;                 // that resctrl offers
  std::vector<Cache> caches_;
  std::vector<const PseudoLock*> locks_;  // of the policy, those that this machine can have
  std::map<const PseudoLock*, LockTarget> lock_targets_;
  const Group* io_ = nullptr;  // of the policy, if this machine can have it
  IoTarget io_target_;
  std::vector<MissingPart> missing_;
  std::map<std::string, Location> mon_groups_;  // that rules name: directories, where first
};

}  // namespace rdtd
