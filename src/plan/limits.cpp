// The limits of the machine: what its resctrl divides, how many groups it can have, and which CPUs.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "bandwidth.hpp"
#include "planner.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/footprint.hpp"

namespace rdtd {

namespace {

std::string cpus(const CpuSet& list) {
  return fmt::format("CPU{} {}", list.size() == 1 ? "" : "s", format_cpu_list(list));
}

std::string only_default(const std::string& group) {
  return fmt::format(
      "group '{}': resctrl divides nothing here, so that there is only the default group", group);
}

}  // namespace

void Planner::check_names() {
  for (const Group& group : policy_.groups) {
    const std::string directory = group_directory(group.name.value);
    if (!is_taken(directory, snapshot_)) continue;
    const auto taken = snapshot_.groups.find(directory);
    if (taken != snapshot_.groups.end() && is_pseudo(taken->second.mode))
      error(
          group.name.where,
          fmt::format("group '{}' is pseudo-locked: rdtd does not take it over", group.name.value),
          "choose another name, or remove that group");
    else
      error(group.name.where,
            fmt::format("group '{}' exists in resctrl already and rdtd did not make it",
                        group.name.value),
            fmt::format("choose another name, remove that group, or take it over: once with "
                        "rdtctl adopt {}, always with adopt = true",
                        group.name.value));
  }
}

std::string names_asked(const std::vector<std::string>& groups) {
  constexpr size_t most = 64;  // more than a person writes
  if (groups.empty()) return {};
  return fmt::format(" ({})", groups.size() > most ? first_names(groups) : join(groups, ", "));
}

std::string taken_by(const std::vector<std::string>& others, std::string_view first) {
  if (others.empty()) return fmt::format("1 is {}", first);
  const auto monitoring = std::ranges::count_if(others, is_mon_group);
  std::string who = monitoring == 0 ? "group" : "monitoring group";
  who = others.size() == 1 ? "a " + who : who + "s";
  if (monitoring > 0 && std::cmp_less(monitoring, others.size())) who = "groups and " + who;
  std::vector<std::string> labels;
  for (const std::string& directory : others) labels.push_back(group_label(directory));
  return fmt::format("1 is {}, {} taken by {} that rdtd did not make ({})", first, others.size(),
                     who, first_names(labels));
}

// Two groups may have had monitoring groups of one name.
static void count_in_default_group(Policy& policy, std::vector<MonitorCpus> monitors) {
  if (monitors.empty()) return;
  auto group = std::ranges::find_if(policy.groups,
                                    [](const Group& one) { return one.name.value == "default"; });
  if (group == policy.groups.end()) {
    policy.groups.emplace_back().name = {"default", monitors.front().group.where};
    group = std::prev(policy.groups.end());
  }
  std::map<std::string, size_t> known;
  for (const MonitorCpus& monitor : group->monitor_cpus)
    known.emplace(monitor.group.value, known.size());
  for (MonitorCpus& monitor : monitors)
    if (const auto [same, is_new] = known.emplace(monitor.group.value, known.size()); is_new)
      group->monitor_cpus.push_back(std::move(monitor));
    else
      group->monitor_cpus[same->second].cpus.value.merge(monitor.cpus.value);
}

std::vector<Diagnostic> leave_out_groups(Policy& policy, const Capabilities& capabilities) {
  std::vector<Diagnostic> out;
  if (!capabilities.divides_nothing() || policy.daemon.unsupported == OnUnsupported::refuse)
    return out;
  std::vector<MonitorCpus> monitors;
  std::erase_if(policy.groups, [&](Group& group) {
    if (group.name.value == "default") return false;
    std::ranges::move(group.monitor_cpus, std::back_inserter(monitors));
    out.push_back({Severity::warning,
                   group.name.where,
                   std::string(left_out_here) + only_default(group.name.value),
                   {},
                   Cause::policy});
    return true;
  });
  for (Rule& rule : policy.rules)
    if (!rule.leaves()) rule.group.value = "default";
  count_in_default_group(policy, std::move(monitors));
  return out;
}

void Planner::check_closids() {
  if (capabilities_.divides_nothing()) {
    for (const Group& group : policy_.groups)
      if (&group != default_group_) return error(group.name.where, only_default(group.name.value));
    return;
  }
  std::vector<std::string> asked, others = snapshot_.closid_holders();
  std::erase_if(others, [&](const std::string& name) { return !is_foreign(name); });
  const Location* last = nullptr;
  for (const Group& group : policy_.groups) {
    if (&group == default_group_) continue;
    asked.push_back(group.name.value);
    last = &group.name.where;
  }
  std::string locking;
  if (!locks_.empty()) {
    locking =
        fmt::format(", 1 is needed while pseudo_lock '{}' is locked", locks_.front()->name.value);
    if (last == nullptr) last = &locks_.front()->name.where;
  }
  const std::string devices = io_holds_closid() ? ", I/O devices (io_alloc) hold one" : "";
  if (last == nullptr && io_ != nullptr) last = &io_->name.where;
  const size_t needed =
      asked.size() + others.size() + 1 + (locking.empty() ? 0 : 1) + (devices.empty() ? 0 : 1);
  if (last != nullptr && needed > capabilities_.num_closids())
    error(*last,
          fmt::format("{} asked for{}, {} here: {}{}{}", counted(asked.size(), "group"),
                      names_asked(asked), counted(capabilities_.num_closids(), "CLOSID"),
                      taken_by(others), devices, locking),
          {}, Cause::closids);
}

// The kernel gives a new group the lowest run of the ways that no exclusive group and no
// pseudo-locked region holds, and refuses to create the group if these are fewer than min_cbm_bits.
// rdtd can drop the exclusive mode of its own groups meanwhile, but not that of others.
void Planner::check_new_groups() {
  const auto is_new = [&](const Group& group) {
    return !snapshot_.groups.contains(group_directory(group.name.value));
  };
  const auto group = std::ranges::find_if(policy_.groups, is_new);
  if (group == policy_.groups.end()) return;
  if (!snapshot_.unrecordable.empty())
    return error(
        group->name.where,
        fmt::format("group '{}' cannot be made now: {}", group->name.value, snapshot_.unrecordable),
        {}, Cause::machine);
  for (const auto& [resource, parts, info] : caches_) {
    if (info.sparse_masks) continue;
    DomainRefusals refusals;
    for (const auto& [domain, bytes] : info.way_bytes) {
      Cbm free = info.cbm_mask;
      std::vector<std::string> holders;
      for (const auto& [name, state] : foreign_groups()) {
        if (state->mode == Mode::shareable) continue;
        free = free.without(footprint(state->schemata, resource, domain));
        holders.push_back(fmt::format("'{}'", name));
      }
      if (holders.empty() || free.empty() || first_run(free).count() >= info.min_ways()) continue;
      refusals[{group->name.where,
                fmt::format("group '{}' cannot be created: the kernel gives a new group the lowest "
                            "ways that are free in ",
                            group->name.value),
                fmt::format(", and below the exclusive groups that rdtd did not make ({}) these "
                            "are fewer than the {} ways of a mask (min_cbm_bits)",
                            first_names(holders), info.min_ways())}]
          .insert(domain);
    }
    report(resource, refusals, Severity::error);
  }
}

// The domains of a resource, or null if resctrl does not offer it.
const std::set<DomainId>* Planner::domains_of(Resource resource) const {
  auto found = domains_.find(resource);
  // With CDP the kernel offers code and data of a cache, and the policy may speak of both at once.
  if (const auto parts = resources_of_cache(resource);
      found == domains_.end() && !parts.empty() && resource == parts.front())
    found = domains_.find(parts[1]);
  return found == domains_.end() ? nullptr : &found->second;
}

void Planner::refuse_resource(Resource resource, const Located<Amount>& amount) {
  const Location& where = amount.where;
  const std::string key = resource_key(resource);
  const auto parts = resources_of_cache(resource);
  if (is_cache(resource) && resource != parts.front() && domains_.contains(parts.front())) {
    MountOptions options = options_in_use();
    (parts.front() == Resource::L3 ? options.cdp : options.cdpl2) = true;
    return unsupported(
        where,
        fmt::format("'{}': resctrl is mounted without '{}', so code and data share {}", key,
                    parts.front() == Resource::L3 ? "cdp" : "cdpl2", to_string(parts.front())),
        fmt::format("if the processor has {} (Arm: if the kernel was built with {}): {}",
                    parts.front() == Resource::L3 ? "cdp_l3" : "cdp_l2", needed_for_cdp_on_arm,
                    how_to_mount(options)),
        Cause::mount);
  }
  // Each processor of Intel that throttles by percent and counts in an L3 can also divide that L3.
  const auto bandwidth = capabilities_.bandwidths.find(Resource::MB);
  const bool turned_off = is_cache(resource) && parts.front() == Resource::L3 &&
                          capabilities_.caches.empty() && capabilities_.shared_rmids() &&
                          bandwidth != capabilities_.bandwidths.end() &&
                          bandwidth->second.unit == BandwidthUnit::percent;
  // openEuler's kernel with the mount option caPbm.
  const std::string of_ways = fmt::format("{}PBM", to_string(resource));
  if (find_control(of_ways) != nullptr) {
    const auto* mask = std::get_if<Cbm>(&amount.value.value);
    return refuse_resource(
        key, to_string(resource), where,
        mask != nullptr
            ? fmt::format("write control = {{ {} = \"0x{}\" }}", of_ways, to_string(*mask))
            : fmt::format("write control = {{ {} = \"MASK\" }}, with a bit "
                          "for each way, as in \"0xf\" for four",
                          of_ways));
  }
  const MountOptions mounted = options_in_use();
  if (resource == Resource::MB && capabilities_.rmids_per_closid && (mounted.cdp || mounted.cdpl2))
    return refuse_resource(key, to_string(resource), where,
                           fmt::format("with cdp, MPAM has no MB: mount resctrl without {}",
                                       !mounted.cdpl2 ? "cdp"
                                       : mounted.cdp  ? "cdp and cdpl2"
                                                      : "cdpl2"));
  refuse_resource(key, to_string(resource), where,
                  turned_off ? "on Skylake-SP and Cascade Lake, the kernel needs rdt=l3cat on its "
                               "command line to offer it"
                             : "");
}

void Planner::refuse_resource(std::string_view key, std::string_view name, const Location& where,
                              std::string hint) {
  std::vector<std::string> offered;
  for (const auto& [other, ids] : domains_) offered.emplace_back(to_string(other));
  if (hint.empty() && policy_.daemon.unsupported == OnUnsupported::refuse)
    hint = "remove it; for machines of several kinds write unsupported = \"skip\" in [daemon]";
  unsupported(where,
              fmt::format("'{}': resctrl offers no {} here; it offers {}", key, name,
                          offered.empty() ? "nothing" : join(offered, ", ")),
              std::move(hint));
}

// The options that resctrl must be mounted with to offer what it does.
MountOptions Planner::options_in_use() const {
  MountOptions out;
  out.cdp = domains_.contains(Resource::L3CODE);
  out.cdpl2 = domains_.contains(Resource::L2CODE);
  for (const auto& [resource, info] : capabilities_.bandwidths)
    out.mba_MBps = out.mba_MBps || info.unit == BandwidthUnit::mbps;
  return out;
}

// Reports an amount that no domain of the cache can grant, also if its domain is not there now.
void Planner::check_absent(const Cache& cache, const DomainAmount& line) {
  const CacheInfo& info = cache.info;
  const Amount& amount = line.amount.value;
  const auto* named = std::get_if<Cbm>(&amount.value);
  const auto* ways = std::get_if<WayCount>(&amount.value);
  const unsigned least = info.min_ways();
  if (info.cbm_mask.empty()) return;  // which is said already
  const auto count = named != nullptr  ? std::optional(named->count())
                     : ways != nullptr ? std::optional(ways->count)
                                       : std::nullopt;
  if (named != nullptr && !named->without(info.cbm_mask).empty())
    error(line.amount.where, fmt::format("'{}' is out of range: the mask is 0x{}", amount.text,
                                         to_string(info.cbm_mask)));
  else if (named != nullptr && !named->contiguous() && !info.sparse_masks)
    error(line.amount.where, fmt::format("'{}' has gaps; masks must be contiguous", amount.text),
          fmt::format("write \"{} ways\"", named->count()));
  else if (ways != nullptr && ways->count > info.cbm_mask.count())
    error(line.amount.where, fmt::format("'{}' does not fit: there {} {}", amount.text,
                                         info.cbm_mask.count() == 1 ? "is" : "are",
                                         counted(info.cbm_mask.count(), "way")));
  else if (count && *count < least)
    error(line.amount.where,
          fmt::format("'{}' is too little: a mask of {} has at least {} ways (min_cbm_bits)",
                      amount.text, to_string(cache.resource), least));
}

void Planner::check_absent(Resource resource, const DomainAmount& line) {
  for (const Cache& cache : caches_)
    if (!resources_of_cache(resource).empty() &&
        cache.resource == resources_of_cache(resource).front())
      check_absent(cache, line);
  if (const auto rates = capabilities_.bandwidths.find(resource);
      rates != capabilities_.bandwidths.end()) {
    const Amount& amount = form_for(line, rates->second).value;
    if (!bandwidth_value(amount, rates->second, UINT32_MAX))
      refuse_bandwidth(resource, rates->second, line);
  }
}

// Of those that the machine can have; empty if that is not known.
CpuSet Planner::offline_cpus() const {
  CpuSet out = snapshot_.possible_cpus.value_or(CpuSet{});
  for (const unsigned cpu : snapshot_.online_cpus()) out.erase(cpu);
  return out;
}

// resctrl does not list a domain that has no CPU online, so its id is unknown.
void Planner::check_domains(Resource resource, const DomainAmount& line,
                            const std::set<DomainId>& known) {
  std::set<DomainId> unknown;
  std::ranges::set_difference(*line.domains, known, std::inserter(unknown, unknown.end()));
  if (unknown.empty()) return;
  const bool one = unknown.size() == 1;
  const std::string domains =
      fmt::format("{} domain{} {}", to_string(resource), one ? "" : "s", domain_list(unknown));
  const CpuSet offline = offline_cpus();
  if (offline.empty())
    return unsupported(line.domains_where, "unknown " + domains,
                       fmt::format("this machine has {}", domain_list(known)));
  check_absent(resource, line);
  warning(line.domains_where,
          fmt::format("there {} no {} while {} {} offline; the amount applies once {} there",
                      one ? "is" : "are", domains, cpus(offline),
                      offline.size() == 1 ? "is" : "are", one ? "it is" : "they are"));
}

void Planner::check_resources(const AmountTables& tables) {
  for (const auto& [resource, table] : tables) {
    if (table.empty() || (resource == Resource::MB && is_cap_a_control())) continue;
    const std::set<DomainId>* known = domains_of(resource);
    if (known == nullptr) {
      refuse_resource(resource, table.front().amount);
      continue;
    }
    for (const DomainAmount& line : table)
      if (line.domains) check_domains(resource, line, *known);
  }
}

std::map<std::string_view, const GroupState*> Planner::foreign_groups() const {
  std::map<std::string_view, const GroupState*> out;
  for (const auto* of : {&snapshot_.groups, &snapshot_.half_read})
    for (const auto& [name, state] : *of)
      if (is_foreign(name)) out.emplace(name, &state);
  return out;
}

std::map<std::string, CpuSet> Planner::cpus_of_others() const {
  std::map<std::string, CpuSet> out;
  for (const auto& [name, state] : foreign_groups())
    if (!is_pseudo(state->mode)) out.emplace(name, state->cpus);
  return out;
}

// Those that exist; no other group of the policy has them.
CpuSet Planner::checked_cpus(const Located<CpuSet>& asked) {
  const Location& where = asked.where;
  CpuSet wanted = asked.value;
  if (snapshot_.possible_cpus) {
    const CpuSet missing = without(wanted, *snapshot_.possible_cpus);
    if (!missing.empty())
      unsupported(where, fmt::format("this machine cannot have {}", cpus(missing)),
                  fmt::format("it can have {}", format_cpu_list(*snapshot_.possible_cpus)));
    for (const unsigned cpu : missing) wanted.erase(cpu);
  }
  if (plan_for_ == PlanFor::in_force) return wanted;
  for (const auto& [name, has] : cpus_of_others())
    if (const CpuSet theirs = common(wanted, has); !theirs.empty())
      error(where, fmt::format("{} belong{} to group '{}', which rdtd did not make", cpus(theirs),
                               theirs.size() == 1 ? "s" : "", printable(name)));
  return wanted;
}

// A CPU that is offline joins its group when it comes online: the steps leave it out until then.
void Planner::assign_cpus() {
  CpuSet left = snapshot_.online_cpus();
  for (const auto& [name, has] : cpus_of_others())
    for (const unsigned cpu : has) left.erase(cpu);
  for (const Group& group : policy_.groups) {
    if (!group.cpus) continue;
    target(&group).state.cpus = checked_cpus(*group.cpus);
    for (const unsigned cpu : target(&group).state.cpus) left.erase(cpu);
  }
  targets_.back().state.cpus = left;
  for (const Group& group : policy_.groups) {
    if (&group != default_group_) warn_of_cpus_counted_by_others(group);
    assign_monitor_cpus(group);
  }
}

// The kernel takes a CPU from the monitoring groups of the control group that it leaves.
void Planner::warn_of_cpus_counted_by_others(const Group& group) {
  const CpuSet& has = target(&group).state.cpus;
  const std::string own = group_directory(group.name.value);
  for (const auto& [directory, theirs] : snapshot_.mon_cpus) {
    if (!is_foreign(directory)) continue;
    CpuSet leaving;
    if (control_group_of(directory) == root_group)
      leaving = common(has, theirs);
    else if (control_group_of(directory) == own)
      leaving = without(theirs, has);
    if (!leaving.empty())
      warning(group.cpus ? group.cpus->where : group.name.where,
              fmt::format("monitoring group '{}', which rdtd did not make, loses {}",
                          group_label(directory), cpus(leaving)));
  }
}

void Planner::assign_monitor_cpus(const Group& group) {
  if (why_unmonitored() != nullptr) return;  // which is said already
  const std::string control = group_directory(group.name.value);
  for (const MonitorCpus& monitor : group.monitor_cpus) {
    const std::string directory = mon_group_directory(control, monitor.group.value);
    CpuSet wanted = monitor.cpus.value;
    if (control == root_group)
      wanted = checked_cpus(monitor.cpus);
    else  // the group's own are checked
      std::erase_if(wanted, [&](unsigned cpu) { return !target(&group).state.cpus.contains(cpu); });
    for (const auto& [other, cpus_of_other] : snapshot_.mon_cpus) {
      if (!is_foreign(other) || other == directory || control_group_of(other) != control ||
          plan_for_ == PlanFor::in_force)
        continue;
      const CpuSet theirs = common(wanted, cpus_of_other);
      if (!theirs.empty())
        error(monitor.cpus.where,
              fmt::format("{} belong{} to monitoring group '{}', which rdtd did not make",
                          cpus(theirs), theirs.size() == 1 ? "s" : "", group_label(other)));
    }
    if (!wanted.empty()) target(&group).mon_cpus[directory] = std::move(wanted);
  }
}

}  // namespace rdtd
