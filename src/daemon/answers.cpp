#include "rdtd/daemon/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "log.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/daemon/assignments.hpp"
#include "rdtd/resctrl/counters.hpp"
#include "rdtd/rules/explain.hpp"

namespace rdtd {

namespace {

// A process may have any number of threads; an explanation shows so many.
constexpr size_t max_threads_shown = 1000;

struct NamedThread {
  pid_t tid;
  std::string name;
};

// The threads that each rule decides about.
using ThreadsByRule = std::map<size_t, std::vector<std::string>>;

ThreadsByRule threads_by_rule(const RuleSet& rules, ProcessFacts facts,
                              const std::vector<NamedThread>& threads) {
  ThreadsByRule out;
  MatchMemo memo;
  for (const NamedThread& thread : threads) {
    facts.thread = thread.name;
    const Decision decision = rules.match(facts, &memo);
    if (decision.kind != Decision::Kind::unmatched)
      out[decision.rule].push_back(std::to_string(thread.tid));
  }
  return out;
}

// Whether the rule leads to the default group for now, because its own cannot be had.
bool leads_elsewhere(const RuleTable& table, const CompiledRule& rule) {
  return !rule.leaves && table.places[rule.destination].own_only;
}

// `shown`: of how many threads, if not of all.
std::string matching_threads(const ThreadsByRule& threads, size_t rule,
                             std::optional<size_t> shown) {
  const auto matching = threads.find(rule);
  const std::string of = shown ? fmt::format(" of the first {}", *shown) : "";
  return matching == threads.end()
             ? fmt::format(", and matches none{}", of)
             : fmt::format(", and matches {}{}", join(matching->second, ", "), of);
}

// Directories of the groups that are defined in files which every user may read.
std::set<std::string> groups_for_all(const InForce& in_force) {
  std::set<std::string> files, out;
  for (const PolicyFile& file : in_force.files)
    if (file.for_all) files.insert(file.path);
  for (const Group& group : in_force.policy.groups)
    if (files.contains(group.name.where.file.text())) out.insert(group_directory(group.name.value));
  return out;
}

GroupStatus status_of(const GroupTarget& target) {
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
           resource.is_bitmap() ? to_string(Cbm{value}) : std::to_string(value)});
  status.mode = to_string(target.state.mode);
  status.cpus = format_cpu_list(target.state.cpus);
  return status;
}

}  // namespace

std::expected<std::vector<DomainCounters>, Refusal> Answers::counters() {
  // Reading them takes several files of each group and domain: everybody who asks at the same time
  // gets the same values.
  const auto begin = core_.system.now();
  if (const auto& known = counters_.at(begin)) return *known;
  auto counters = resctrl::read_counters(core_.system.resctrl);
  if (!counters)
    return std::unexpected(Refusal{Refusal::Kind::kernel_rejected, counters.error().text()});
  if (counters->empty())
    return std::unexpected(
        Refusal{Refusal::Kind::not_supported,
                "this machine's resctrl does not monitor: no directory of info ends in _MON"});
  return counters_.keep(std::move(*counters), begin, core_.system.now());
}

void Answers::watch_assignments(bool on) {
  watched_ = on;
  apply_watch();
}

// The classifier reports assignments while somebody subscribes or the log shows them.
void Answers::apply_watch() { core_.observer.watch_assignments(watched_ || logs_assignments()); }

bool Answers::degraded() const {
  const bool drifted = !std::ranges::all_of(core_.state.drift, &Drift::restored);
  return !core_.state.last_reload.error.empty() || !core_.problems.empty() ||
         !core_.state.events_available || drifted;
}

std::string Answers::status_line() {
  const std::string line =
      fmt::format("{}, {}, {} assigned", counted(in_force().groups.size(), "group"),
                  counted(in_force().table->rules.rules().size(), "rule"),
                  counted(properties().assigned(), "thread"));
  const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  if (!core_.state.last_reload.error.empty())
    return fmt::format("{}; last reload failed{}: {}", line,
                       core_.state.put_off.is_reload() ? ", it is tried again" : "",
                       first_line(core_.state.last_reload.public_error));
  if (const auto problems = core_.problems.texts(false); !problems.empty())
    return fmt::format("{}; {}", line, first_line(problems.front()));
  for (const Drift& drift : core_.state.drift)
    if (!drift.restored) return fmt::format("{}; {}", line, drift.text);
  return line;
}

std::expected<CheckResult, Refusal> Answers::check() {
  const auto loaded = core_.applier.load({.files = core_.system.policy_files()}, in_force());
  if (!loaded) return std::unexpected(loaded.error());
  const Prepared& prepared = loaded->prepared;
  return CheckResult{format_diagnostics(prepared.warnings, prepared.policy.sources),
                     format_diagnostics(prepared.warnings, {})};
}

std::expected<PlanSummary, Refusal> Answers::plan() {
  Applier::Request request{.files = core_.system.policy_files()};
  if (const auto fitted = loads_.fit_leases(request); !fitted)
    return std::unexpected(fitted.error());
  const auto loaded = core_.applier.load(request, in_force());
  if (!loaded) return std::unexpected(loaded.error());
  const Plan& plan = loaded->prepared.plan;
  PlanSummary out{{}, plan_summary(plan)};
  for (const auto* steps : parts(plan.changes))
    for (const Step& step : *steps)
      out.steps.push_back(
          {std::string(kind_of(step)), group_label(group_of(step)), format_step(step)});
  return out;
}

std::optional<uid_t> Answers::owner_of(pid_t pid) {
  const auto process = core_.system.processes.open(pid);
  const auto status = process ? (*process)->read_status() : std::unexpected(process.error());
  return status ? std::optional(status->identity.owner()) : std::nullopt;
}

std::optional<uid_t> Answers::effective_user_of(pid_t pid) {
  const auto process = core_.system.processes.open(pid);
  const auto user = process ? (*process)->owner() : std::unexpected(process.error());
  return user ? std::optional(*user) : std::nullopt;
}

std::expected<Explanation, Refusal> Answers::explain(pid_t pid, std::optional<uid_t> owner) {
  const auto process = core_.system.processes.open(pid);
  if (!process) return std::unexpected(cannot_examine(pid, process.error()));
  const auto whole = core_.system.processes.process_of(pid);
  if (!whole) return std::unexpected(cannot_examine(pid, whole.error()));
  if (*whole != pid)
    return std::unexpected(
        Refusal{Refusal::Kind::no_such_process,
                fmt::format("{} is a thread of process {}: rdtctl explain {} shows what is decided "
                            "about its threads",
                            pid, *whole, *whole)});
  const auto status = (*process)->read_status();
  if (!status) return std::unexpected(cannot_examine(pid, status.error()));
  const RuleSet& rules = in_force().table->rules;
  ProcessFacts facts{.identity = status->identity};
  if (const uid_t own = status->identity.owner(); owner && (*owner != own || own == UINT32_MAX))
    return std::unexpected(Refusal{Refusal::Kind::not_permitted,
                                   fmt::format("process {} belongs to another user", pid)});
  // A process can delay who reads its command line: only the rules' needs justify that.
  const bool manual = core_.manual.group_of(pid).has_value();
  for (const Fact fact : all_facts) {
    if (facts.has(fact)) continue;
    if (fact != Fact::name && (manual || !rules.reads(fact))) continue;
    const auto read = (*process)->read(fact, facts);
    if (!read) return std::unexpected(cannot_examine(pid, read.error()));
  }
  Explanation out{.name = *facts.name, .trials = {}, .threads = {}};
  const auto listed = (*process)->threads();
  if (!listed) return std::unexpected(cannot_examine(pid, listed.error()));
  std::vector<pid_t> tids = *listed;
  const auto shown =
      tids.size() > max_threads_shown ? std::optional(max_threads_shown) : std::nullopt;
  if (shown) tids.resize(*shown);
  if (auto group = core_.manual.group_of(pid)) {
    out.trials.push_back({"manual assignment", std::move(*group), true, {}});
  } else {
    std::vector<NamedThread> threads;
    if (rules.has_thread_rules())
      for (const pid_t tid : tids)
        if (auto name = (*process)->read_thread_name(tid))
          threads.push_back({tid, std::move(*name)});
    const ThreadsByRule decided = threads_by_rule(rules, facts, threads);
    for (RuleTrial& trial : rdtd::explain(rules, facts, !owner)) {
      const CompiledRule& rule = rules.rules()[trial.rule];
      if (!trial.matched && rule.per_thread)
        trial.reason += matching_threads(decided, trial.rule, shown);
      const bool elsewhere = leads_elsewhere(*in_force().table, rule);
      if (trial.matched && elsewhere) trial.reason = "its own group cannot be had now";
      out.trials.push_back({rule.where.text(),
                            elsewhere ? group_label(std::string(root_group))
                                      : rules.destination_of(trial.rule).label(),
                            trial.matched, std::move(trial.reason)});
    }
  }
  for (const pid_t tid : tids)
    if (const auto group = (*process)->read_thread_group(tid))
      out.threads.emplace_back(static_cast<uint32_t>(tid), group_label(*group));
  return out;
}

std::shared_ptr<const GroupList> Answers::list_groups() {
  if (listed_ == core_.state.in_force) return group_list_;
  std::map<std::string, std::vector<Location>> rules;  // by group
  const RuleSet& compiled = in_force().table->rules;
  for (size_t i = 0; i < compiled.rules().size(); i++)
    rules[group_label(compiled.group_of(i))].push_back(compiled.rules()[i].where);
  const std::set<std::string> for_all = groups_for_all(in_force());
  std::vector<GroupStatus> out;
  for (const GroupTarget& target : in_force().groups) {
    GroupStatus& status = out.emplace_back(status_of(target));
    status.description_for_all = for_all.contains(target.directory);
    if (const auto named = rules.find(status.name); named != rules.end())
      status.rules = named->second;
  }
  listed_ = core_.state.in_force;
  group_list_ = std::make_shared<const GroupList>(std::move(out));
  return group_list_;
}

std::vector<RuleStatus> Answers::list_rules() {
  std::vector<RuleStatus> out;
  const RuleSet& rules = in_force().table->rules;
  for (size_t i = 0; i < rules.rules().size(); i++) {
    const auto count = core_.state.processes_by_rule.find(i);
    const size_t processes = count == core_.state.processes_by_rule.end() ? 0 : count->second;
    out.push_back({rules.rules()[i].where.text(), group_label(rules.group_of(i)),
                   static_cast<uint32_t>(processes)});
  }
  return out;
}

size_t Answers::tasks_in(const std::string& group) {
  return resctrl::read_tasks(core_.system.resctrl, group_directory(group))
      .value_or(std::vector<pid_t>{})
      .size();
}

std::vector<std::string> Answers::problems(bool for_root) const {
  std::vector<std::string> out = core_.problems.texts(for_root);
  if (!core_.state.last_reload.error.empty())
    out.insert(out.begin(), fmt::format("{}{}", failed_reload,
                                        core_.state.put_off.is_reload()
                                            ? ": it is tried again, after growing pauses"
                                            : ""));
  if (!core_.state.events_available) out.push_back("the kernel sends no process events");
  for (const Drift& drift : core_.state.drift)
    if (!drift.restored) out.push_back(drift.text);
  return out;
}

ManagerProperties Answers::properties() {
  ManagerProperties out;
  out.state = degraded() ? "degraded" : "running";
  for (const PolicyFile& file : in_force().files)
    if (file.state == PolicyFile::State::active) out.config_files.push_back(file.path);
  out.problems = problems(true);
  out.problems_public = problems(false);
  out.last_reload_error = core_.state.last_reload.error;
  out.last_reload_error_public = core_.state.last_reload.public_error;
  out.last_reload_timestamp = core_.state.last_reload.timestamp;
  out.drift = core_.state.drift.size();
  for (const auto& [group, counter] : core_.applier.tables().counters()) {
    out.assignments.push_back({group_label(group), "moved", counter->moved});
    out.assignments.push_back({group_label(group), "refused", counter->refused});
  }
  core_.observer.count_events();
  out.events_seen = core_.state.events_seen;
  out.event_overruns = core_.state.event_overruns;
  if (const auto& job = core_.jobs.running()) {
    out.job = fmt::format("{}: {}", job->name, to_string(job->stage));
    out.job_timestamp = job->since;
  }
  return out;
}

std::vector<LeaseStatus> Answers::list_leases(const Caller& caller) {
  std::vector<LeaseStatus> out;
  for (const Leases::Lease& lease : core_.leases.all()) {
    LeaseStatus& status = out.emplace_back(lease.name, lease.uid, lease.since);
    const std::string place = lease_file(lease.name, {}).path;
    for (const Group& group : in_force().policy.groups)
      if (group.name.where.file == place || group.amended_by == place)
        status.groups.push_back(group.name.value);
    if (caller.root() || caller.uid == lease.uid) status.policy = lease.policy;
  }
  return out;
}

}  // namespace rdtd
