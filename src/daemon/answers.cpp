// Manager's answers to those who ask on D-Bus.
#include <fmt/format.h>

#include <algorithm>

#include "log.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/daemon/manager.hpp"

namespace rdtd {

namespace {

// Which threads a rule for single threads decides about.
std::string matching_threads(const RuleSet& rules, const Process& process, ProcessFacts facts,
                             size_t rule) {
  std::vector<std::string> matching;
  for (const pid_t tid : process.threads()) {
    facts.thread = process.read_thread_name(tid);
    const Decision decision = decide(rules, process, facts);
    if (decision.kind == Decision::Kind::matched && decision.rule == rule)
      matching.push_back(std::to_string(tid));
  }
  return matching.empty() ? ", and matches none"
                          : fmt::format(", and matches {}", join(matching, ", "));
}

}  // namespace

std::expected<std::vector<DomainCounters>, CallError> Manager::counters() {
  if (!capabilities_.num_rmids)
    return std::unexpected(
        CallError{CallError::Kind::NotSupported,
                  "this machine's resctrl does not monitor: there is no info/L3_MON"});
  auto counters = tree_.read_counters();
  if (!counters)
    return std::unexpected(CallError{CallError::Kind::KernelRejected, counters.error().text()});
  return std::move(*counters);
}

void Manager::watch_assignments(bool on) {
  watched_ = on;
  apply_watch();
}

// The classifier tells of assignments while somebody subscribes or the log wants them.
void Manager::apply_watch() {
  if (classifier_ != nullptr) classifier_->watch_assignments(watched_ || logs_assignments());
}

std::string Manager::log_level() { return syslog_level(); }

bool Manager::set_log_level(const std::string& level) {
  const bool known = set_syslog_level(level);
  apply_watch();
  return known;
}

std::string Manager::log_target() { return rdtd::log_target(); }

bool Manager::cgroup_matters(const std::string& path) const {
  return table_->rules.speaks_of_cgroup(path);
}

std::string Manager::status_line() {
  const ManagerProperties now = properties();
  const std::string line = fmt::format("{} groups, {} rules, {} threads assigned", targets_.size(),
                                       policy_.rules.size(), now.assigned());
  if (!last_reload_error_.empty())
    return fmt::format("{}; last reload failed: {}", line,
                       last_reload_error_.substr(0, last_reload_error_.find('\n')));
  if (!trouble_.empty())
    return fmt::format("{}; {}", line, trouble_.substr(0, trouble_.find('\n')));
  return line;
}

std::expected<std::string, CallError> Manager::check() {
  auto loaded = load();
  if (!loaded) return std::unexpected(loaded.error());
  return loaded->warnings;
}

std::expected<PlanSummary, CallError> Manager::plan() {
  const auto loaded = load();
  if (!loaded) return std::unexpected(loaded.error());
  PlanSummary out{{}, plan_summary(loaded->plan)};
  for (const auto* steps : {&loaded->plan.steps, &loaded->plan.removals})
    for (const Step& step : *steps)
      out.steps.push_back(
          {std::string(to_string(step.kind)), group_label(step.group), format_step(step)});
  return out;
}

std::expected<Explanation, CallError> Manager::explain(pid_t pid, const Caller& caller) {
  const auto process = proc_.open(pid);
  if (!process)
    return std::unexpected(
        CallError{CallError::Kind::NoSuchProcess, fmt::format("there is no process {}", pid)});
  ProcessFacts facts;
  for (const Fact fact : all_facts) process->read(fact, facts);
  const bool may_know = caller.uid == 0 || caller.uid == facts.identity->uid;
  Explanation out{.name = *facts.name, .trials = {}, .threads = {}};
  const RuleSet& rules = table_->rules;
  if (auto group = by_hand_.group_of(pid)) {
    out.trials.push_back({"by hand", std::move(*group), true, {}});
  } else {
    for (RuleTrial& trial : rules.explain(facts, may_know)) {
      const CompiledRule& rule = rules.rules()[trial.rule];
      if (!trial.matched && rule.per_thread)
        trial.reason += matching_threads(rules, *process, facts, trial.rule);
      out.trials.push_back({rule.where.text(), group_label(rules.group_of(trial.rule)),
                            trial.matched, std::move(trial.reason)});
    }
  }
  for (const pid_t tid : process->threads())
    if (const auto group = process->read_thread_group(tid))
      out.threads.emplace_back(static_cast<uint32_t>(tid), group_label(*group));
  return out;
}

std::vector<GroupStatus> Manager::list_groups() {
  std::vector<GroupStatus> out;
  for (const GroupTarget& target : targets_) {
    GroupStatus status;
    status.name = group_label(target.directory);
    status.description = target.description;
    for (const auto& [resource, domains] : target.asked)
      for (const auto& [domain, text] : domains)
        status.asked.push_back(
            {std::string(to_string(resource)), static_cast<uint32_t>(domain), text});
    for (const auto& [resource, values] : target.state.schemata)
      for (const auto& [domain, value] : values)
        status.granted.push_back(
            {std::string(to_string(resource)), static_cast<uint32_t>(domain),
             is_cache(resource) ? to_string(Cbm{value}) : std::to_string(value)});
    status.mode = to_string(target.state.mode);
    status.cpus = format_cpu_list(target.state.cpus);
    for (const Rule& rule : policy_.rules)
      if (rule.group.value == status.name) status.rules.push_back(rule.where.text());
    out.push_back(std::move(status));
  }
  return out;
}

size_t Manager::tasks_in(const std::string& group) {
  return tree_.read_tasks(group_directory(group)).value_or(std::vector<pid_t>{}).size();
}

ManagerProperties Manager::properties() {
  ManagerProperties out;
  // What was put back is no trouble any more.
  const bool drifted = !std::ranges::all_of(drift_, &Drift::put_back);
  out.state = last_reload_error_.empty() && trouble_.empty() && events_available_ && !drifted
                  ? "running"
                  : "degraded";
  if (!last_reload_error_.empty()) out.problems.push_back("the last reload failed");
  if (!events_available_) out.problems.push_back("the kernel sends no process events");
  if (!trouble_.empty()) out.problems.push_back(trouble_);
  for (const Drift& drift : drift_)
    if (!drift.put_back) out.problems.push_back(drift.text);
  out.config_files = files_;
  out.last_reload_error = last_reload_error_;
  out.last_reload_timestamp = last_reload_timestamp_;
  out.drift = drift_.size();
  for (const auto& [group, counter] : counters_) {
    out.assignments.push_back({group_label(group), "moved", counter.moved});
    out.assignments.push_back({group_label(group), "refused", counter.refused});
  }
  if (classifier_ != nullptr) {
    const Classifier::Counters counters = classifier_->counters();
    out.events_seen = counters.events_seen;
    out.event_overruns = counters.event_overruns;
  }
  return out;
}

}  // namespace rdtd
