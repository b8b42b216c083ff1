#include "rdtd/daemon/manager.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>

#include "rdtd/base/text.hpp"
#include "rdtd/proc/users.hpp"

namespace rdtd {

namespace {

// What is born while a scan goes on inherits its parent's group, which the scan may not have put right yet.
constexpr int most_passes = 5;

CallError call_error(const Error& error) {
  CallError out{CallError::Kind::KernelRejected, error.text()};
  if (error.code == ENOSPC) out.kind = CallError::Kind::OutOfClosids;
  if (error.code == EBUSY) out.kind = CallError::Kind::Busy;
  return out;
}

std::string asked_line(const GroupTarget& target) {
  std::vector<std::string> parts;
  for (const auto& [resource, domains] : target.asked) {
    std::vector<std::string> values;
    for (const auto& [domain, text] : domains) values.push_back(fmt::format("{}={}", to_string(domain), text));
    parts.push_back(fmt::format("{}:{}", to_string(resource), join(values, ";")));
  }
  return join(parts, " ");
}

uint64_t now_usec() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}

}  // namespace

Users look_up_users(const Policy& policy, std::vector<Diagnostic>& warnings) {
  Users users;
  for (const Rule& rule : policy.rules)
    for (const Condition& condition : rule.conditions) {
      if (condition.kind != ConditionKind::user && condition.kind != ConditionKind::user_group) continue;
      for (const Located<std::string>& name : condition.patterns) {
        if (parse_unsigned<uint32_t>(name.value)) continue;
        const bool user = condition.kind == ConditionKind::user;
        const auto id = user ? find_user(name.value) : find_user_group(name.value);
        if (id)
          (user ? users.users : users.groups)[name.value] = *id;
        else
          warnings.push_back({Severity::warning,
                              name.where,
                              fmt::format("there is no {} '{}' here: nothing matches it until the next reload", user ? "user" : "user group", name.value),
                              {}});
      }
    }
  return users;
}

Manager::Manager(std::string policy_root, Tree tree, Ownership ownership, ProcFs proc)
    : policy_root_(std::move(policy_root)), tree_(std::move(tree)), ownership_(std::move(ownership)), proc_(std::move(proc)) {}

std::expected<Manager::Loaded, CallError> Manager::load() const {
  Loaded out;
  const std::vector<PolicyFile> files = find_policy_files(policy_root_);
  for (const PolicyFile& file : files)
    if (file.state == PolicyFile::State::active) out.files.push_back(file.path);
  ParsedPolicy parsed = parse_policy(files);
  const auto invalid = [&](const std::vector<Diagnostic>& diagnostics) {
    return std::unexpected(CallError{CallError::Kind::InvalidPolicy, format_diagnostics(diagnostics, parsed.policy.sources)});
  };
  if (has_errors(parsed.diagnostics)) return invalid(parsed.diagnostics);
  auto capabilities = tree_.read_capabilities();
  if (!capabilities) return std::unexpected(call_error(capabilities.error()));
  const auto now = snapshot();
  if (!now) return std::unexpected(call_error(now.error()));
  auto plan = make_plan(parsed.policy, *capabilities, *now);
  if (!plan) return invalid(plan.error());
  (void)look_up_users(parsed.policy, plan->warnings);
  std::ranges::move(parsed.diagnostics, std::back_inserter(plan->warnings));
  sort_by_place(plan->warnings);
  out.warnings = format_diagnostics(plan->warnings, parsed.policy.sources);
  out.policy = std::move(parsed.policy);
  out.capabilities = std::move(*capabilities);
  out.plan = std::move(*plan);
  return out;
}

Result<std::shared_ptr<const RuleTable>> Manager::make_table(const Policy& policy) const {
  auto table = std::make_shared<RuleTable>();
  std::vector<Diagnostic> told_already;
  table->rules = RuleSet(policy, look_up_users(policy, told_already));
  for (const std::string& group : table->rules.groups()) {
    auto tasks = tree_.open_tasks(group);
    if (!tasks) return std::unexpected(tasks.error());
    table->tasks.push_back(std::move(*tasks));
  }
  auto root = tree_.open_tasks(std::string(root_group));
  if (!root) return std::unexpected(root.error());
  table->root_tasks = std::move(*root);
  return table;
}

// The steps of a policy that could not be put in force are undone. A group that was removed for them and made again is
// another directory, and empty.
CallError Manager::undone(Error error, const std::vector<Step>& steps) {
  if (std::ranges::count(steps, StepKind::remove, &Step::kind) > 0) {
    renew_table();
    (void)scan_until_quiet(AssignMode::move, nullptr);
  }
  return call_error(error);
}

// Opens the `tasks` files again, for groups that were removed and made again under the same name.
void Manager::renew_table() {
  auto table = make_table(policy_);
  if (!table) return spdlog::warn("{}", table.error().text());
  table_ = std::move(*table);
  publish_table();
}

void Manager::publish_table() {
  if (classifier_ != nullptr && !classifier_->publish(table_)) spdlog::warn("the classifier has not taken the new rules within 2 s");
}

// Groups that nobody is in any more. One that stays does no harm; the next reconcile tries again.
void Manager::remove_groups(const std::vector<Step>& removals) {
  for (const Step& removal : removals)
    if (const auto removed = tree_.apply({&removal, 1}, ownership_); !removed) spdlog::warn("{}", removed.error().text());
}

std::expected<void, CallError> Manager::put_in_force(Loaded loaded) {
  const std::vector<Step>& steps = loaded.plan.steps;
  if (const auto applied = tree_.apply(steps, ownership_); !applied) return std::unexpected(undone(applied.error(), steps));
  auto table = make_table(loaded.policy);
  if (!table) {
    std::vector<Step> back;
    for (const Step& step : steps) back.insert(back.begin(), inverse(step));
    Error error = table.error();
    if (const auto applied = tree_.apply(back, ownership_); !applied) error.detail += "; nor put back what was there: " + applied.error().text();
    return std::unexpected(undone(error, steps));
  }
  // From here on the new policy is in force.
  const std::shared_ptr<const RuleTable> previous = std::exchange(table_, std::move(*table));
  policy_ = std::move(loaded.policy);
  capabilities_ = std::move(loaded.capabilities);
  targets_ = std::move(loaded.plan.groups);
  files_ = std::move(loaded.files);
  publish_table();
  observer_.rules_changed();
  const ScanResult scanned = scan_until_quiet(AssignMode::move, &previous->rules);
  remove_groups(loaded.plan.removals);
  if (policy_.groups.empty() && policy_.partitions.empty())
    if (const auto forgotten = ownership_.remove(std::string(root_group)); !forgotten) spdlog::warn("{}", forgotten.error().text());
  if (!loaded.warnings.empty()) spdlog::warn("{}", trim(loaded.warnings));
  spdlog::info("policy in force: {} groups, {} rules, {} steps; {} processes match, {} threads moved, {} released", targets_.size(), policy_.rules.size(),
               steps.size() + loaded.plan.removals.size(), scanned.matched, scanned.moved, scanned.released);
  return {};
}

// A group that somebody removed is not rdtd's any more, whoever makes the next of that name.
Result<void> Manager::forget_vanished_groups() {
  const auto now = snapshot();
  if (!now) return std::unexpected(now.error());
  const std::set<std::string> owned = ownership_.groups();
  for (const std::string& group : owned)
    if (!now->groups.contains(group))
      if (auto forgotten = ownership_.remove(group); !forgotten) return forgotten;
  return {};
}

std::expected<void, CallError> Manager::load_and_apply() {
  const auto forgotten = forget_vanished_groups();
  auto loaded = forgotten ? load() : std::unexpected(call_error(forgotten.error()));
  auto done = loaded ? put_in_force(std::move(*loaded)) : std::unexpected(loaded.error());
  last_reload_error_ = done ? "" : std::string(trim(done.error().text));
  if (done) last_reload_timestamp_ = now_usec();
  return done;
}

std::expected<void, CallError> Manager::start() {
  auto done = load_and_apply();
  if (done)
    observer_.after_reload(true);
  else
    spdlog::error("the policy was not applied, nothing was changed:\n{}", last_reload_error_);
  return done;
}

std::expected<void, CallError> Manager::reload() {
  observer_.before_reload();
  auto done = load_and_apply();
  if (!done) spdlog::error("the policy was not applied, the old one stays in force:\n{}", last_reload_error_);
  observer_.after_reload(done.has_value());
  return done;
}

Placed Manager::placed_by(const RuleSet& rules) const {
  Placed placed;
  for (const std::string& group : rules.groups()) placed.push_back(tree_.read_tasks(group).value_or(std::vector<pid_t>{}));
  return placed;
}

// What an old rule put where it still is and no new rule speaks of is let go, thread by thread.
size_t Manager::release(pid_t pid, const RuleSet& previous, const Placed& held) const {
  const auto process = proc_.open(pid);
  if (!process) return 0;
  size_t released = 0;
  const bool per_thread = previous.has_thread_rules() || table_->rules.has_thread_rules();
  ProcessFacts facts;
  for (const pid_t tid : process->threads()) {
    if (std::ranges::none_of(held, [&](const auto& group) { return std::ranges::binary_search(group, tid); })) continue;
    if (per_thread) facts.thread = process->read_thread_name(tid);
    const Decision old_one = decide(previous, *process, facts);
    if (old_one.kind != Decision::Kind::matched || !std::ranges::binary_search(held[previous.rules()[old_one.rule].group], tid)) continue;
    if (decide(table_->rules, *process, facts).kind == Decision::Kind::matched) continue;
    if (add_task(table_->root_tasks.get(), tid) == 0) released++;
  }
  return released;
}

Manager::ScanResult Manager::scan_once(AssignMode mode, const RuleSet* previous) {
  ScanResult result;
  const Placed placed = placed_by(table_->rules);
  const Placed held = previous == nullptr ? Placed{} : placed_by(*previous);
  if (placed.empty() && held.empty()) return result;
  for (const pid_t pid : proc_.processes()) {
    const Assignment assignment = assign(*table_, proc_, pid, OtherThreads::now, &placed, mode);
    result.moved += assignment.moved;
    if (assignment.kind == Assignment::Kind::in_group) result.matched++;
    if (assignment.kind == Assignment::Kind::refused) result.refused++;
    if (!held.empty()) result.released += release(pid, *previous, held);
  }
  return result;
}

Manager::ScanResult Manager::scan_until_quiet(AssignMode mode, const RuleSet* previous) {
  ScanResult total = scan_once(mode, previous);
  bool quiet = total.moved + total.released + total.refused == 0;
  for (int pass = 1; pass < most_passes && !quiet && mode == AssignMode::move; pass++) {
    if (total.refused > 0) renew_table();
    const ScanResult next = scan_once(mode, previous);
    quiet = next.moved + next.released + next.refused == 0;
    total = {next.matched, total.moved + next.moved, next.refused, total.released + next.released};
  }
  if (mode == AssignMode::move) assigned_ += total.moved;
  if (total.refused > 0) spdlog::warn("the kernel refused to move {} processes", total.refused);
  return total;
}

void Manager::scan(const char* why) {
  const ScanResult result = scan_until_quiet(AssignMode::move, nullptr);
  spdlog::info("looked at all processes because {}: {} match, {} threads moved", why, result.matched, result.moved);
}

void Manager::classify(const std::vector<pid_t>& processes) {
  for (const pid_t pid : processes) assigned_ += assign(*table_, proc_, pid, OtherThreads::now, nullptr, AssignMode::move).moved;
}

void Manager::drift(const std::string& what) {
  drift_++;
  spdlog::warn("{}", what);
  observer_.on_drift(what);
}

// The steps back to what the policy in force came to. A machine that has changed, by a domain that came or went, is planned
// anew where the policy allows.
Result<Steps> Manager::drifted() {
  const auto capabilities = tree_.read_capabilities();
  if (!capabilities) return std::unexpected(capabilities.error());
  const auto now = snapshot();
  if (!now) return std::unexpected(now.error());
  if (*capabilities != capabilities_) {
    auto plan = make_plan(policy_, *capabilities, *now);
    if (plan) {
      capabilities_ = *capabilities;
      targets_ = std::move(plan->groups);
    } else {
      spdlog::warn("the machine has changed, and the policy in force does not fit it:\n{}", trim(format_diagnostics(plan.error(), policy_.sources)));
    }
  }
  return steps_to(targets_, capabilities_, *now);
}

void Manager::reconcile() {
  const bool restore = policy_.daemon.drift == OnDrift::restore;
  const auto back = drifted();
  if (!back) {
    spdlog::warn("{}", back.error().text());
  } else {
    for (const Step& step : back->steps)
      drift(fmt::format("{}: {}", restore ? "changed by somebody else, put back" : "changed by somebody else", format_step(step)));
    if (restore && !back->steps.empty()) {
      if (const auto applied = tree_.apply(back->steps, ownership_); !applied) spdlog::error("{}", applied.error().text());
      renew_table();
    }
    remove_groups(back->removals);
  }
  const ScanResult scanned = scan_until_quiet(restore ? AssignMode::move : AssignMode::report, nullptr);
  if (scanned.moved > 0) drift(fmt::format("{} threads were not in the group that the rules name{}", scanned.moved, restore ? ", put back" : ""));
}

Result<void> Manager::remove_all() {
  const auto capabilities = tree_.read_capabilities();
  if (!capabilities) return std::unexpected(capabilities.error());
  const auto now = snapshot();
  if (!now) return std::unexpected(now.error());
  const auto plan = make_plan(Policy{}, *capabilities, *now);
  if (!plan) return std::unexpected(Error{"plan the removal of all groups", "", 0, format_diagnostics(plan.error(), {})});
  if (auto applied = tree_.apply(plan->steps, ownership_); !applied) return applied;
  remove_groups(plan->removals);
  return ownership_.remove(std::string(root_group));
}

bool Manager::cgroup_matters(const std::string& path) const { return table_->rules.speaks_of_cgroup(path); }

std::string Manager::status_line() {
  const ManagerProperties now = properties();
  const std::string line = fmt::format("{} groups, {} rules, {} threads assigned", targets_.size(), policy_.rules.size(), now.assigned);
  if (last_reload_error_.empty()) return line;
  return fmt::format("{}; last reload failed: {}", line, last_reload_error_.substr(0, last_reload_error_.find('\n')));
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
    for (const Step& step : *steps) out.steps.push_back({std::string(to_string(step.kind)), group_label(step.group), format_step(step)});
  return out;
}

std::expected<Explanation, CallError> Manager::explain(pid_t pid, uid_t caller) {
  const auto process = proc_.open(pid);
  if (!process) return std::unexpected(CallError{CallError::Kind::NoSuchProcess, fmt::format("there is no process {}", pid)});
  ProcessFacts facts;
  for (const Fact fact : all_facts) process->read(fact, facts);
  const bool may_know = caller == 0 || caller == facts.identity->uid;
  Explanation out{.name = *facts.name, .trials = {}, .threads = {}};
  const RuleSet& rules = table_->rules;
  for (const RuleTrial& trial : rules.explain(facts, may_know))
    out.trials.push_back({rules.rules()[trial.rule].where.text(), group_label(rules.group_of(trial.rule)), trial.matched, trial.reason});
  for (const pid_t tid : process->threads())
    if (const auto group = process->read_thread_group(tid)) out.threads.emplace_back(static_cast<uint32_t>(tid), group_label(*group));
  return out;
}

std::vector<GroupStatus> Manager::list_groups() {
  std::vector<GroupStatus> out;
  for (const GroupTarget& target : targets_) {
    GroupStatus status;
    status.name = group_label(target.directory);
    status.asked = asked_line(target);
    status.granted = schemata_line(target.state.schemata);
    status.mode = to_string(target.state.mode);
    status.cpus = format_cpu_list(target.state.cpus);
    status.rules = static_cast<uint32_t>(std::ranges::count(policy_.rules, status.name, [](const Rule& rule) { return rule.group.value; }));
    status.tasks = static_cast<uint32_t>(tree_.read_tasks(target.directory).value_or(std::vector<pid_t>{}).size());
    out.push_back(std::move(status));
  }
  return out;
}

ManagerProperties Manager::properties() {
  ManagerProperties out;
  out.state = last_reload_error_.empty() && events_available_ ? "running" : "degraded";
  out.config_files = files_;
  out.last_reload_error = last_reload_error_;
  out.last_reload_timestamp = last_reload_timestamp_;
  out.assigned = assigned_;
  out.drift = drift_;
  if (classifier_ != nullptr) {
    const Classifier::Counters counters = classifier_->counters();
    out.events_seen = counters.events_seen;
    out.event_overruns = counters.event_overruns;
    out.assigned += counters.assigned;
  }
  return out;
}

}  // namespace rdtd
