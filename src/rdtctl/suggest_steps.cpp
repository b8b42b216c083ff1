#include "suggest_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <iterator>

#include "lease_text.hpp"
#include "leases.hpp"
#include "output.hpp"
#include "print.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/toml_text.hpp"

namespace rdtd {

namespace {

constexpr unsigned coarsest_step = 10;  // percent; finer steps take too long

// Cache is divided where the policy can divide it: most often L3.
Resource resource_of(const Capabilities& capabilities, const verbs::SuggestOptions& options) {
  if (options.bandwidth) return Resource::MB;
  return capabilities.caches.contains(Resource::L3) || !capabilities.caches.contains(Resource::L2)
             ? Resource::L3
             : Resource::L2;
}

std::string no_group_text(const Policy& policy, const std::string& name) {
  std::vector<std::string> names;
  for (const Group& group : policy.groups) names.push_back(group.name.value);
  return fmt::format("the policy has no group '{}'{}", name, nearest_question(name, names));
}

// The policy with the group at this amount, planned on this machine as it is now.
std::expected<Plan, std::vector<Diagnostic>> plan_at(std::vector<PolicyFile> files,
                                                     const Planned& planned, const StepPlan& steps,
                                                     unsigned amount) {
  files.push_back(lease_file("suggest", steps.text_of(amount)));
  const ParsedPolicy parsed = parse_policy(files);
  if (has_errors(parsed.diagnostics)) return std::unexpected(parsed.diagnostics);
  return make_plan(parsed.policy, planned.machine.capabilities, planned.machine.snapshot);
}

std::map<std::string, unsigned> ways_of_others(const Plan& plan, const StepPlan& steps) {
  std::map<std::string, unsigned> out;
  if (!is_cache(steps.resource)) return out;
  for (const GroupTarget& group : plan.groups) {
    const auto masks = group.state.schemata.find(steps.resource);
    if (group.directory == steps.group.name.value || masks == group.state.schemata.end()) continue;
    unsigned fewest = UINT_MAX;
    for (const auto& [domain, mask] : masks->second) fewest = std::min(fewest, Cbm{mask}.count());
    out.emplace(group_label(group.directory), fewest);
  }
  return out;
}

// On the domain where it is smallest.
unsigned present_amount(const Plan& plan, const StepPlan& steps) {
  unsigned out = UINT_MAX;
  for (const GroupTarget& group : plan.groups) {
    const auto values = group.state.schemata.find(steps.resource);
    if (group.directory != steps.group.name.value || values == group.state.schemata.end()) continue;
    for (const auto& [domain, value] : values->second)
      out = std::min(out, is_cache(steps.resource) ? Cbm{value}.count() : value);
  }
  return out;
}

}  // namespace

std::expected<std::vector<unsigned>, std::string> amounts_of(const Capabilities& capabilities,
                                                             Resource resource) {
  std::vector<unsigned> out;
  if (is_cache(resource)) {
    const auto cache = capabilities.caches.find(resource);
    if (cache == capabilities.caches.end())
      return std::unexpected(
          fmt::format("this machine does not divide {0}, or divides code and data of {0}",
                      to_string(resource)));
    for (unsigned ways = cache->second.min_ways(); ways <= cache->second.cbm_mask.count(); ways++)
      out.push_back(ways);
    return out;
  }
  const auto bandwidth = capabilities.bandwidths.find(resource);
  if (bandwidth == capabilities.bandwidths.end())
    return std::unexpected("this machine does not limit memory bandwidth");
  const BandwidthInfo& info = bandwidth->second;
  if (info.unit != BandwidthUnit::percent)
    return std::unexpected(fmt::format(
        "suggest --mb tries percentages, and this machine limits bandwidth in {}: compare single "
        "limits, as in 'rdtctl bench --mb \"8 GB/s\" COMMAND'",
        info.unit == BandwidthUnit::mbps ? "MiB/s (mba_MBps)" : "GB/s"));
  const unsigned step = std::max(coarsest_step, info.bandwidth_gran);
  for (unsigned percent = std::max(step, info.min_bandwidth); percent < 100; percent += step)
    out.push_back(percent);
  out.push_back(100);
  return out;
}

std::string stepped_group_text(const std::string& group, Resource resource,
                               const std::string& amount) {
  return fmt::format("[group.{}]\namend = true\n{} = {}\n", toml_key(group), resource_key(resource),
                     toml_string(amount));
}

std::string StepPlan::text_of(unsigned amount) const {
  return stepped_group_text(group.name.value, resource, amount_text(resource, amount));
}

std::expected<StepPlan, int> plan_steps(const Context& context, const Planned& planned,
                                        const verbs::SuggestOptions& options) {
  const auto group = std::ranges::find_if(planned.policy.groups, [&](const Group& candidate) {
    return candidate.name.value == options.group;
  });
  if (options.group == "default" || group == planned.policy.groups.end()) {
    note("rdtctl: {}\n", no_group_text(planned.policy, options.group));
    return std::unexpected(Exit::failed);
  }
  StepPlan steps{*group, resource_of(planned.machine.capabilities, options), 0, {}, {}, {}};
  steps.present = present_amount(planned.plan, steps);
  const auto amounts = amounts_of(planned.machine.capabilities, steps.resource);
  if (!amounts) {
    note("rdtctl: {}\n", amounts.error());
    return std::unexpected(Exit::failed);
  }
  std::vector<PolicyFile> files = find_policy_files(context.root);
  std::ranges::move(lease_files(context), std::back_inserter(files));
  std::vector<Diagnostic> refusal;
  steps.others = ways_of_others(planned.plan, steps);
  for (const unsigned amount : *amounts) {
    if (amount < options.from || amount > options.to) continue;
    const auto plan = plan_at(files, planned, steps, amount);
    if (plan) {
      steps.amounts.push_back(amount);
      steps.others_at[amount] = ways_of_others(*plan, steps);
    } else if (refusal.empty()) {
      refusal = plan.error();
    }
  }
  if (steps.amounts.size() >= 2) return steps;
  note_diagnostics(context, refusal, planned.policy.sources);
  note("rdtctl: fewer than two amounts are possible for group '{}'\n", options.group);
  return std::unexpected(Exit::failed);
}

}  // namespace rdtd
