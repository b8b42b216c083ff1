#include "suggest_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "leases.hpp"
#include "output.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/experiment/statistics.hpp"
#include "stepped_group.hpp"

namespace rdtd {

namespace {

constexpr unsigned coarsest_step = 10;  // percent; finer steps take too long
constexpr size_t widest_bar = 40;

// The policy with the group at this amount, planned on this machine as it is now.
std::expected<Plan, std::vector<Diagnostic>> plan_at(const Context& context, const Planned& planned,
                                                     const StepPlan& steps, unsigned amount) {
  std::vector<PolicyFile> files = find_policy_files(context.root);
  std::ranges::move(lease_files(context), std::back_inserter(files));
  files.push_back(lease_file("suggest", steps.text_of(amount)));
  const ParsedPolicy parsed = parse_policy(files);
  if (has_errors(parsed.diagnostics)) return std::unexpected(parsed.diagnostics);
  return make_plan(parsed.policy, planned.machine.capabilities, planned.machine.snapshot);
}

// All that the machine has; the error is why it has none.
std::expected<std::vector<unsigned>, std::string> amounts_of(const Capabilities& capabilities,
                                                             Resource resource) {
  std::vector<unsigned> out;
  if (is_cache(resource)) {
    const auto cache = capabilities.caches.find(resource);
    if (cache == capabilities.caches.end())
      return std::unexpected("this machine does not divide L3, or divides code and data");
    for (unsigned ways = cache->second.min_ways(); ways <= cache->second.cbm_mask.count(); ways++)
      out.push_back(ways);
    return out;
  }
  const auto bandwidth = capabilities.bandwidths.find(resource);
  if (bandwidth == capabilities.bandwidths.end() ||
      bandwidth->second.unit != BandwidthUnit::percent)
    return std::unexpected("this machine does not limit bandwidth in percent");
  const BandwidthInfo& info = bandwidth->second;
  const unsigned step = std::max(coarsest_step, info.bandwidth_gran);
  for (unsigned percent = std::max(step, info.min_bandwidth); percent < 100; percent += step)
    out.push_back(percent);
  out.push_back(100);
  return out;
}

// The ways that each other group may fill on the domain where they are fewest.
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

std::string bar(const Context& context, double value, double most) {
  const auto length = static_cast<size_t>(std::lround(value / most * widest_bar));
  std::string out;
  for (size_t i = 0; i < length; i++) out += context.utf8 ? "\u2588" : "#";
  return out;
}

std::string rate_text(double bytes_per_second) {
  return fmt::format("{:.1f}", bytes_per_second / (1 << 20));
}

void print_curve(const Context& context, const StepPlan& steps,
                 const std::vector<AmountRuns>& curve) {
  double most = 0;
  for (const AmountRuns& runs : curve) most = std::max(most, experiment::median(runs.values));
  std::vector<std::vector<std::string>> rows;
  for (const AmountRuns& runs : curve) {
    const auto [least, highest] = std::ranges::minmax(runs.values);
    const double middle = experiment::median(runs.values);
    rows.push_back({steps.amount_text(runs.amount), rate_text(middle), rate_text(least),
                    rate_text(highest), bar(context, middle, most)});
  }
  print_table(context,
              {{"AMOUNT", true}, {"MiB/s", true}, {"LEAST", true}, {"MOST", true}, {"CURVE"}},
              rows);
}

// Values that differ by more hide what is looked for.
constexpr double largest_margin = 1.25;

std::string verdict(const StepPlan& steps, const Knee& knee) {
  const std::string& group = steps.group.name.value;
  const double percent = (knee.margin - 1) * 100;
  if (knee.flat && knee.margin > largest_margin)
    return fmt::format(
        "No difference beyond the scatter of {:.0f}%: measure longer with --for, or more often "
        "with "
        "--repeats.",
        percent);
  if (knee.flat && !is_cache(steps.resource))
    return fmt::format("No limit that was measured slows down '{}'.", group);
  if (knee.at_begin && is_cache(steps.resource))
    return fmt::format("More than {} do not reduce the traffic of '{}': ways do not help.",
                       steps.amount_text(knee.amount), group);
  return fmt::format(
      "The smallest amount within {:.0f}% of the best: {}.{}", percent,
      steps.amount_text(knee.amount),
      knee.at_end ? " It is the largest that was measured: more may be better." : "");
}

// What the knee takes from other groups.
std::vector<std::string> cost_lines(const std::map<std::string, unsigned>& now,
                                    const std::map<std::string, unsigned>& then) {
  std::vector<std::string> out;
  for (const auto& [group, ways] : then) {
    const auto before = now.find(group);
    out.push_back(fmt::format("{}: {}{}", group, counted(ways, "way"),
                              before == now.end() || before->second == ways
                                  ? ""
                                  : fmt::format(" (now {})", before->second)));
  }
  return out;
}

JsonValue curve_json(const std::vector<AmountRuns>& curve) {
  JsonValue out = JsonValue::array();
  for (const AmountRuns& runs : curve)
    out.push_back({{"amount", runs.amount},
                   {"median", experiment::median(runs.values)},
                   {"bytes_per_second", runs.values}});
  return out;
}

}  // namespace

std::string StepPlan::amount_text(unsigned amount) const {
  return is_cache(resource) ? counted(amount, "way") : fmt::format("{}%", amount);
}

std::string StepPlan::text_of(unsigned amount) const {
  return stepped_group_text(group, resource, amount_text(amount));
}

std::expected<StepPlan, int> plan_steps(const Context& context, const Planned& planned,
                                        const verbs::SuggestOptions& options) {
  const auto group = std::ranges::find_if(planned.policy.groups, [&](const Group& candidate) {
    return candidate.name.value == options.group;
  });
  if (options.group == "default" || group == planned.policy.groups.end()) {
    note("rdtctl: {}\n", options.group == "default"
                             ? "the default group has what other groups leave: name one of those"
                             : fmt::format("the policy has no group '{}'", options.group));
    return std::unexpected(Exit::failed);
  }
  StepPlan steps{*group, options.bandwidth ? Resource::MB : Resource::L3, {}};
  const auto amounts = amounts_of(planned.machine.capabilities, steps.resource);
  if (!amounts) {
    note("rdtctl: {}\n", amounts.error());
    return std::unexpected(Exit::failed);
  }
  std::vector<Diagnostic> refusal;
  for (const unsigned amount : *amounts) {
    if (amount < options.from || amount > options.to) continue;
    const auto plan = plan_at(context, planned, steps, amount);
    if (plan)
      steps.amounts.push_back(amount);
    else if (refusal.empty())
      refusal = plan.error();
  }
  if (steps.amounts.size() >= 2) return steps;
  note("{}", format_diagnostics(refusal, planned.policy.sources));
  note("rdtctl: fewer than two amounts are possible for group '{}'\n", options.group);
  return std::unexpected(Exit::failed);
}

void show_suggestion(const Context& context, const Planned& planned, const StepPlan& steps,
                     const std::vector<AmountRuns>& curve) {
  const Knee knee = find_knee(curve, steps.better());
  const auto plan = plan_at(context, planned, steps, knee.amount);
  const auto now = ways_of_others(planned.plan, steps);
  const auto then = plan ? ways_of_others(*plan, steps) : now;
  if (context.json != Json::off) {
    print_json(context, {{"group", steps.group.name.value},
                         {"resource", to_string(steps.resource)},
                         {"curve", curve_json(curve)},
                         {"knee", knee.amount},
                         {"flat", knee.flat},
                         {"at_end", knee.at_end},
                         {"policy", steps.text_of(knee.amount)},
                         {"ways_of_others", then}});
    return;
  }
  print_curve(context, steps, curve);
  print("\n{}\n", verdict(steps, knee));
  if (knee.flat || (knee.at_begin && is_cache(steps.resource))) return;
  print("\n[group.{}]\n{} = \"{}\"\n", steps.group.name.value, resource_key(steps.resource),
        steps.amount_text(knee.amount));
  if (!is_cache(steps.resource)) return;
  print("\nWays that the other groups keep then:\n");
  for (const std::string& line : cost_lines(now, then)) print("  {}\n", line);
}

}  // namespace rdtd
