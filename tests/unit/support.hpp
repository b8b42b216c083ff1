// What the unit tests share: a policy from text, and machines as values.
#pragma once

#include <string>

#include "rdtd/plan/plan.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd::test {

// A tenth of them under AddressSanitizer, which makes each one much slower: it is there for errors
// of memory, and the build without it judges them all.
constexpr unsigned random_cases(unsigned all) {
#if defined(__has_feature)
  if (__has_feature(address_sanitizer)) return all / 10;
#endif
  return all;
}

// How far apart the cases are that a test takes of all there are: each of them without
// AddressSanitizer.
constexpr unsigned stride(unsigned sanitized) { return random_cases(10) == 10 ? 1 : sanitized; }

inline ParsedPolicy parse(const std::string& text, const std::string& path = "p.toml") {
  return parse_policy(std::vector{PolicyFile{path, PolicyFile::State::active, text, {}}});
}

// Each domain of L3 has `ways` ways of 1 MiB; MB counts percent in steps of 10.
inline Capabilities machine(unsigned ways, unsigned domains, unsigned num_closids = 16) {
  Capabilities out;
  CacheInfo& l3 = out.caches[Resource::L3];
  l3.cbm_mask = Cbm::range(0, ways);
  l3.num_closids = num_closids;
  BandwidthInfo& mb = out.bandwidths[Resource::MB];
  mb.bandwidth_gran = 10;
  mb.min_bandwidth = 10;
  mb.num_closids = 8;
  for (unsigned id = 0; id < domains; id++) {
    l3.way_bytes[DomainId{id}] = 1 << 20;
    mb.unlimited[DomainId{id}] = 100;
  }
  out.num_rmids = 64;
  return out;
}

// Just the default group, with everything, and four CPUs.
inline Snapshot untouched(const Capabilities& capabilities) {
  Snapshot out;
  GroupState& root = out.groups[std::string(root_group)];
  for (const auto& [resource, info] : capabilities.caches)
    for (const auto& [domain, bytes] : info.way_bytes)
      root.schemata[resource][domain] = info.cbm_mask.bits;
  for (const auto& [resource, info] : capabilities.bandwidths)
    for (const auto& [domain, unlimited] : info.unlimited)
      root.schemata[resource][domain] = unlimited;
  root.cpus = {0, 1, 2, 3};
  return out;
}

// A group as somebody made it: "L3:0=f;1=f\nMB:0=100\n", without CPUs.
inline GroupState group_state(const std::string& schemata, Mode mode = Mode::shareable) {
  return {mode, *parse_schemata(schemata), {}};
}

// Why the planner refuses a policy without errors of its own.
inline std::string refusal(const std::string& policy, const Capabilities& capabilities,
                           const Snapshot& now) {
  const auto plan = make_plan(parse(policy).policy, capabilities, now);
  return plan ? "granted" : format_diagnostics(plan.error(), {});
}

// What the plan comes to, as text: the steps or everything that is wrong.
inline std::string plan_text(const std::string& policy, const Capabilities& capabilities,
                             const Snapshot& snapshot) {
  const ParsedPolicy parsed = parse(policy);
  if (has_errors(parsed.diagnostics))
    return format_diagnostics(parsed.diagnostics, parsed.policy.sources);
  const auto plan = make_plan(parsed.policy, capabilities, snapshot);
  if (!plan) return format_diagnostics(plan.error(), parsed.policy.sources);
  return format_diagnostics(plan->warnings, parsed.policy.sources) + format_plan(*plan);
}

// The snapshot once all steps are done.
inline Snapshot after(const std::string& policy, const Capabilities& capabilities,
                      Snapshot snapshot) {
  const auto plan = make_plan(parse(policy).policy, capabilities, snapshot);
  if (!plan) return snapshot;
  Snapshot out;
  for (const auto& [name, state] : snapshot.groups)
    if (!snapshot.owned.contains(name)) out.groups[name] = state;
  out.owned = {std::string(root_group)};
  for (const GroupTarget& target : plan->groups) {
    out.groups[target.directory] = target.state;
    out.owned.insert(target.directory);
    out.mon_groups.insert(target.mon_groups.begin(), target.mon_groups.end());
    for (const auto& [group, cpus] : target.mon_cpus)
      for (const unsigned cpu : cpus)
        if (target.state.cpus.contains(cpu)) out.mon_cpus[group].insert(cpu);
  }
  out.owned.insert(out.mon_groups.begin(), out.mon_groups.end());
  return out;
}

}  // namespace rdtd::test
