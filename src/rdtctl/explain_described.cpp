// explain without the daemon: the rules of the policy files, tried on a process that is described
// on the command line.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "explain_text.hpp"
#include "no_policy.hpp"
#include "output.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/proc/users.hpp"
#include "rdtd/rules/explain.hpp"
#include "rdtd/rules/users.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// Users of another machine are compared as the policy writes them. An exit status if there is no
// such user here.
std::optional<int> add_ids(const Context& context, ProcessDescription& process) {
  for (const ConditionKind kind : {ConditionKind::user, ConditionKind::user_group}) {
    const auto given = process.values.find(kind);
    if (given == process.values.end()) continue;
    const bool is_user = kind == ConditionKind::user;
    auto id = parse_unsigned<uint32_t>(given->second);
    if (!id && !context.elsewhere) {
      const auto found =
          is_user ? proc::find_user(given->second) : proc::find_user_group(given->second);
      if (found && !*found) {
        note("rdtctl: there is no {} '{}' here\n", is_user ? "user" : "user group",
             printable(given->second));
        return Exit::failed;
      }
      if (found) id = *found;
    }
    if (id) process.ids.emplace(kind, *id);
  }
  return std::nullopt;
}

std::string option_of(ConditionKind kind) {
  std::string name(to_string(kind));
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

// The units are derived from the cgroup, and explain takes either.
std::string in_place_of_units(const ProcessDescription& process) {
  for (const ConditionKind kind : {ConditionKind::unit, ConditionKind::user_unit})
    if (process.values.contains(kind)) return fmt::format(" in place of {}", option_of(kind));
  return {};
}

std::string reason(const RuleTrial& trial, const ProcessDescription& process) {
  if (!trial.needs) return trial.reason;
  const bool by_other_form = process.values.contains(*trial.needs);
  return fmt::format("not known: give {}{}", option_of(*trial.needs),
                     by_other_form ? " as the rule does, by name or by number"
                     : trial.needs == ConditionKind::cgroup ? in_place_of_units(process)
                                                            : "");
}

// The rule that decides: whether it is known, and whether there is one.
struct Outcome {
  std::set<std::string> needs;  // options, before the rule that matches
  std::string group;            // empty: no rule matches
};

Outcome outcome_of(const RuleSet& rules, const std::vector<RuleTrial>& trials) {
  Outcome out;
  for (const RuleTrial& trial : trials) {
    if (trial.needs) out.needs.insert(option_of(*trial.needs));
    if (trial.matched) out.group = rules.destination_of(trial.rule).label();
  }
  if (out.needs.contains(option_of(ConditionKind::cgroup)))
    for (const ConditionKind kind : {ConditionKind::unit, ConditionKind::user_unit})
      out.needs.erase(option_of(kind));
  return out;
}

// Units are derived from the cgroup, and taken away where both are given. Returns why they do not
// fit together.
std::string unit_outside_cgroup(ProcessDescription& process) {
  const auto cgroup = process.values.find(ConditionKind::cgroup);
  if (cgroup == process.values.end()) return {};
  const CgroupUnits derived = units_of_cgroup(cgroup->second);
  for (const auto& [kind, units] : {std::pair(ConditionKind::unit, &derived.system),
                                    std::pair(ConditionKind::user_unit, &derived.user)}) {
    const auto unit = process.values.find(kind);
    if (unit == process.values.end()) continue;
    if (std::ranges::find(*units, std::string_view(unit->second)) == units->end())
      return fmt::format("cgroup '{}' is not in unit '{}'", cgroup->second, unit->second);
    process.values.erase(unit);
  }
  return {};
}

// Where systemd puts a service whose unit file names no slice. Nothing of an instance of a
// template, which has a slice of its template, and of a description that says more about the
// cgroup.
std::optional<std::string> usual_cgroup(const ProcessDescription& process) {
  const auto unit = process.values.find(ConditionKind::unit);
  if (unit == process.values.end() || !unit->second.ends_with(".service") ||
      unit->second.contains('@'))
    return std::nullopt;
  for (const ConditionKind kind : {ConditionKind::cgroup, ConditionKind::user_unit,
                                   ConditionKind::pod, ConditionKind::container})
    if (process.values.contains(kind)) return std::nullopt;
  return "/system.slice/" + unit->second;
}

std::string outcome_text(const Outcome& outcome, const ProcessDescription& process) {
  const bool has_cgroup = outcome.needs.contains(option_of(ConditionKind::cgroup));
  if (!outcome.needs.empty())
    return fmt::format("not decided: give {}{}",
                       join(std::vector(outcome.needs.begin(), outcome.needs.end()), ", "),
                       has_cgroup ? in_place_of_units(process) : "");
  if (outcome.group == leave_group) return "stays where it is";
  return outcome.group.empty() ? "no rule matches: it stays in the group that it started in"
                               : "in group " + outcome.group;
}

JsonValue to_json(const RuleSet& rules, const std::vector<RuleTrial>& trials,
                  const ProcessDescription& process,
                  const std::optional<std::string>& assumed_cgroup) {
  JsonValue rows = JsonValue::array();
  for (const RuleTrial& trial : trials) {
    JsonValue entry = {{"rule", rules.rules()[trial.rule].where.text()},
                       {"group", rules.destination_of(trial.rule).label()}};
    if (!trial.needs) entry["matched"] = trial.matched;
    entry["reason"] = reason(trial, process);
    rows.push_back(std::move(entry));
  }
  const Outcome outcome = outcome_of(rules, trials);
  JsonValue out = {{"rules", rows}, {"decided", outcome.needs.empty()}, {"needs", outcome.needs}};
  if (outcome.needs.empty() && !outcome.group.empty()) out["group"] = outcome.group;
  if (assumed_cgroup) out["assumed_cgroup"] = *assumed_cgroup;
  return out;
}

}  // namespace

int verbs::explain_described(const Context& context, ProcessDescription process) {
  const std::vector<PolicyFile> files = find_policy_files(context.root);
  (void)report_no_policy(context.root, files);
  const auto parsed = parse_or_report(context, files);
  if (!parsed) return parsed.error();
  std::vector<Diagnostic> warnings;
  const Users users = context.elsewhere
                          ? Users{}
                          : look_up_users(parsed->policy, proc::user_database(), {}, warnings);
  for (const ConditionKind kind : {ConditionKind::unit, ConditionKind::user_unit})
    if (const auto given = process.values.find(kind); given != process.values.end())
      given->second = complete_unit_name(given->second);
  if (const std::string why = unit_outside_cgroup(process); !why.empty()) {
    note("rdtctl: {}\n", why);
    return Exit::usage;
  }
  process.knows_users = !context.elsewhere && !users.unanswered;
  if (const auto failed = add_ids(context, process)) return *failed;
  const RuleSet rules(parsed->policy, users);
  std::vector<RuleTrial> trials = rdtd::explain(rules, process);
  const auto needs_cgroup = [](const RuleTrial& trial) {
    return trial.needs == ConditionKind::cgroup;
  };
  const auto assumed =
      std::ranges::any_of(trials, needs_cgroup) ? usual_cgroup(process) : std::nullopt;
  if (assumed) {
    process.values.erase(ConditionKind::unit);  // derived from the cgroup
    process.values[ConditionKind::cgroup] = *assumed;
    trials = rdtd::explain(rules, process);
  }
  if (context.json != Json::off) {
    print_json(context, to_json(rules, trials, process, assumed));
    return Exit::ok;
  }
  if (assumed)
    print("If its cgroup is {}, as without Slice= in its unit file:\n", printable(*assumed));
  for (const RuleTrial& trial : trials)
    print("{}  {}\n", rules.rules()[trial.rule].where.text(),
          trial.matched ? "matches  " + destination_text(rules.destination_of(trial.rule).label())
                        : (trial.needs ? "" : "no: ") + printable(reason(trial, process)));
  print("{}\n", outcome_text(outcome_of(rules, trials), process));
  return Exit::ok;
}

}  // namespace rdtd
