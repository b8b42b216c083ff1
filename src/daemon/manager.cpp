#include "rdtd/daemon/manager.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>

#include "log.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/proc/users.hpp"

namespace rdtd {

namespace {

Refusal refusal_of(const Error& error) {
  Refusal out{Refusal::Kind::kernel_rejected, error.text()};
  if (error.code == ENOSPC && error.operation == "make group")
    out.kind = Refusal::Kind::out_of_closids;
  if (error.code == EBUSY) out.kind = Refusal::Kind::busy;
  return out;
}

uint64_t now_usec() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

std::string matched_text(const std::map<std::string, size_t>& matched) {
  std::vector<std::string> parts;
  for (const auto& [group, processes] : matched)
    parts.push_back(fmt::format("{} {}", group, processes));
  return parts.empty() ? "no process matches" : fmt::format("processes: {}", join(parts, ", "));
}

}  // namespace

Manager::Manager(std::string policy_root, Tree tree, Ownership ownership, Directory state,
                 ProcFs proc)
    : policy_root_(std::move(policy_root)),
      tree_(std::move(tree)),
      ownership_(std::move(ownership)),
      proc_(std::move(proc)),
      by_hand_(std::move(state)) {
  if (const auto loaded = by_hand_.load(proc_); !loaded)
    spdlog::warn("{}; what was assigned by hand is left to the rules", loaded.error().text());
  auto empty = std::make_shared<RuleTable>();
  empty->by_hand = &by_hand_;
  table_ = std::move(empty);
}

std::expected<Manager::Loaded, Refusal> Manager::load() const {
  Loaded out;
  const std::vector<PolicyFile> files = find_policy_files(policy_root_);
  for (const PolicyFile& file : files)
    if (file.state == PolicyFile::State::active) out.files.push_back(file.path);
  ParsedPolicy parsed = parse_policy(files);
  const auto invalid = [&](const std::vector<Diagnostic>& diagnostics) {
    const auto first = std::ranges::find(diagnostics, Severity::error, &Diagnostic::severity);
    Refusal::Kind kind = Refusal::Kind::invalid_policy;
    if (first->cause == Cause::mount) kind = Refusal::Kind::not_supported;
    if (first->cause == Cause::closids) kind = Refusal::Kind::out_of_closids;
    return std::unexpected(Refusal{kind, format_diagnostics(diagnostics, parsed.policy.sources),
                                   first->where, format_diagnostics(diagnostics, {})});
  };
  if (has_errors(parsed.diagnostics)) return invalid(parsed.diagnostics);
  auto capabilities = tree_.read_capabilities();
  if (!capabilities) return std::unexpected(refusal_of(capabilities.error()));
  const auto now = snapshot();
  if (!now) return std::unexpected(refusal_of(now.error()));
  auto plan = make_plan(parsed.policy, *capabilities, *now);
  if (!plan) return invalid(plan.error());
  (void)look_up_users(parsed.policy, find_user, find_user_group, plan->warnings);
  std::ranges::move(parsed.diagnostics, std::back_inserter(plan->warnings));
  sort_by_place(plan->warnings);
  out.warnings = format_diagnostics(plan->warnings, parsed.policy.sources);
  out.public_warnings = format_diagnostics(plan->warnings, {});
  out.policy = std::move(parsed.policy);
  out.capabilities = std::move(*capabilities);
  out.plan = std::move(*plan);
  return out;
}

Result<std::shared_ptr<const RuleTable>> Manager::make_table(const Policy& policy) {
  auto table = std::make_shared<RuleTable>();
  table->by_hand = &by_hand_;
  std::vector<Diagnostic> told_already;
  table->rules = RuleSet(policy, look_up_users(policy, find_user, find_user_group, told_already));
  for (const std::string& group : table->rules.groups()) {
    auto tasks = tree_.open_tasks(group);
    if (!tasks) return std::unexpected(tasks.error());
    table->tasks.push_back(std::move(*tasks));
    table->counters.push_back(&counters_[group]);
  }
  auto root = tree_.open_tasks(std::string(root_group));
  if (!root) return std::unexpected(root.error());
  table->root_tasks = std::move(*root);
  return table;
}

// The steps of a policy that could not be put in force are undone. A group that was removed for
// them and made again is another directory, and empty.
Refusal Manager::undone(Error error, const std::vector<Step>& steps) {
  if (std::ranges::count(steps, StepKind::remove, &Step::kind) > 0) {
    renew_table();
    (void)scan_until_quiet(AssignMode::move, nullptr);
  }
  return refusal_of(error);
}

// Opens the `tasks` files again, for groups that were removed and made again under the same name.
void Manager::renew_table() {
  auto table = make_table(policy_);
  if (!table) return spdlog::warn("{}", table.error().text());
  table_ = std::move(*table);
  publish_table();
  renew_held();
}

// What somebody put in a group by hand is there again after the group was made anew, and forgotten
// with its group.
void Manager::renew_held() {
  if (targets_.empty()) return;  // no policy has been in force yet
  for (const auto& [pid, group] : by_hand_.all()) {
    const auto process = proc_.open(pid);
    const std::string directory = group_directory(group);
    if (std::ranges::find(targets_, directory, &GroupTarget::directory) == targets_.end()) {
      spdlog::info(
          "process {} was put in group '{}' by hand; the policy has no such group any more, and "
          "the rules decide",
          pid, group);
      by_hand_.remove(pid);
    } else if (process && process->read_thread_group(pid) != directory) {
      const auto tasks = tree_.open_tasks(directory);
      if (const int error = tasks ? assign_all_threads(*process, tasks->get()) : tasks.error().code;
          error != 0)
        spdlog::warn("cannot put process {} in group '{}' again: {}", pid, group,
                     std::strerror(error));
    }
  }
  store();
}

Result<void> Manager::remove_all() {
  by_hand_.clear();
  store();
  return remove_owned_groups(tree_, ownership_);
}

void Manager::publish_table() {
  if (classifier_ != nullptr && !classifier_->publish(table_))
    spdlog::warn("the classifier has not taken the new rules within 2 s");
}

// Groups that nobody is in any more. One that stays does no harm; the next reconcile tries again.
void Manager::remove_groups(const std::vector<Step>& removals) {
  for (const Step& removal : removals)
    if (const auto removed = tree_.apply({&removal, 1}, ownership_); !removed)
      spdlog::warn("{}", removed.error().text());
}

std::expected<void, Refusal> Manager::put_in_force(Loaded loaded) {
  const std::vector<Step>& steps = loaded.plan.steps;
  if (const auto applied = tree_.apply(steps, ownership_); !applied)
    return std::unexpected(undone(applied.error(), steps));
  auto table = make_table(loaded.policy);
  if (!table) {
    std::vector<Step> back;
    for (const Step& step : steps) back.insert(back.begin(), inverse(step));
    Error error = table.error();
    if (const auto applied = tree_.apply(back, ownership_); !applied)
      error.detail += "; nor put back what was there: " + applied.error().text();
    return std::unexpected(undone(error, steps));
  }
  // From here on the new policy is in force.
  const std::shared_ptr<const RuleTable> previous = std::exchange(table_, std::move(*table));
  policy_ = std::move(loaded.policy);
  capabilities_ = std::move(loaded.capabilities);
  targets_ = std::move(loaded.plan.groups);
  groups_.reset();
  files_ = std::move(loaded.files);
  drift_.clear();
  trouble_.clear();
  publish_table();
  observer_.rules_changed();
  renew_held();
  const ScanResult scanned = scan_until_quiet(AssignMode::move, &previous->rules);
  remove_groups(loaded.plan.removals);
  if (policy_.groups.empty() && policy_.partitions.empty())
    if (const auto forgotten = ownership_.remove(std::string(root_group)); !forgotten)
      spdlog::warn("{}", forgotten.error().text());
  if (!loaded.warnings.empty()) spdlog::warn("{}", trim(loaded.warnings));
  in_force_ = fmt::format(
      "policy in force: {} groups, {} rules, {} steps; {}, {} threads moved, {} released",
      targets_.size(), policy_.rules.size(), steps.size() + loaded.plan.removals.size(),
      matched_text(scanned.matched), scanned.moved, scanned.released);
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

std::expected<void, Refusal> Manager::load_and_apply() {
  const auto forgotten = forget_vanished_groups();
  auto loaded = forgotten ? load() : std::unexpected(refusal_of(forgotten.error()));
  auto done = loaded ? put_in_force(std::move(*loaded)) : std::unexpected(loaded.error());
  last_reload_error_ = done ? "" : std::string(trim(done.error().text));
  last_reload_error_public_ = done ? "" : std::string(trim(done.error().text_for(false)));
  if (done) last_reload_timestamp_ = now_usec();
  return done;
}

// Every way in which a policy may fail to be put in force, told once.
void Manager::log_failure(const Refusal& error, const char* consequence) const {
  Happening happening = Happening::reload_failed;
  if (error.kind == Refusal::Kind::out_of_closids) happening = Happening::out_of_closids;
  if (error.kind == Refusal::Kind::not_supported) happening = Happening::wrong_mount_options;
  if (error.kind == Refusal::Kind::kernel_rejected || error.kind == Refusal::Kind::busy)
    happening = Happening::kernel_refused;
  log(happening,
      fmt::format("the policy was not applied, {}:\n{}", consequence, last_reload_error_),
      error.where);
}

std::expected<void, Refusal> Manager::start() {
  auto done = load_and_apply();
  if (!done) {
    log_failure(done.error(), "nothing was changed");
    return done;
  }
  log(Happening::applied, in_force_);
  observer_.after_reload(true);
  return done;
}

std::expected<void, Refusal> Manager::reload() {
  observer_.before_reload();
  auto done = load_and_apply();
  if (done)
    log(Happening::reloaded, in_force_);
  else
    log_failure(done.error(), "the old one stays in force");
  observer_.after_reload(done.has_value());
  return done;
}

void Manager::store() {
  if (const auto stored = by_hand_.store(); !stored) spdlog::warn("{}", stored.error().text());
}

std::expected<void, Refusal> Manager::reset() {
  auto empty = make_table(Policy{});
  if (!empty) return std::unexpected(refusal_of(empty.error()));
  observer_.before_reload();
  // First the rules, so that nobody is put in a group that is going.
  table_ = std::move(*empty);
  policy_ = Policy{.daemon = policy_.daemon};
  targets_.clear();
  groups_.reset();
  files_.clear();
  drift_.clear();
  trouble_.clear();
  publish_table();
  observer_.rules_changed();
  const auto removed = remove_all();
  last_reload_error_ = removed ? "" : removed.error().text();
  last_reload_error_public_ = last_reload_error_;
  if (removed)
    spdlog::info(
        "every group that rdtd made is removed; no policy is in force until the next reload");
  else
    log(Happening::kernel_refused, removed.error().text());
  observer_.after_reload(removed.has_value());
  if (!removed) return std::unexpected(refusal_of(removed.error()));
  return {};
}

class Manager::OpenedAssign final : public PreparedAssign {
 public:
  OpenedAssign(Manager& manager, Details details, Process process, std::string group,
               bool for_next_program)
      : PreparedAssign(std::move(details)),
        manager_(manager),
        process_(std::move(process)),
        group_(std::move(group)),
        for_next_program_(for_next_program) {}

  std::expected<void, Refusal> run() override {
    return manager_.assign_process(std::move(process_), group_, for_next_program_);
  }

 private:
  Manager& manager_;
  Process process_;
  std::string group_;
  bool for_next_program_;
};

std::expected<std::shared_ptr<PreparedAssign>, Refusal> Manager::prepare_assign(
    pid_t pid, const std::string& group, const Caller& caller) {
  if (list_groups()->find(group) == nullptr) {
    std::vector<std::string> names;
    for (const GroupStatus& known : list_groups()->all()) names.push_back(known.name);
    const auto nearest = nearest_name(group, names);
    return std::unexpected(
        Refusal{Refusal::Kind::no_such_group,
                fmt::format("there is no group '{}' in the policy in force{}", printable(group),
                            nearest ? fmt::format("; did you mean '{}'?", *nearest) : "")});
  }
  // 0 would be the thread that writes: the daemon's own.
  auto process = pid > 0 ? proc_.open(pid) : std::nullopt;
  if (!process)
    return std::unexpected(
        Refusal{Refusal::Kind::no_such_process, fmt::format("there is no process {}", pid)});
  if (const pid_t whole = process->read_process(); whole != pid && whole != 0)
    return std::unexpected(Refusal{
        Refusal::Kind::no_such_process,
        fmt::format(
            "{} is a thread of process {}, and only a whole process is put in a group by hand", pid,
            whole)});
  ProcessFacts facts;
  process->read(Fact::identity, facts);
  PreparedAssign::Details details = {
      {"pid", std::to_string(pid)}, {"uid", std::to_string(facts.identity->uid)}, {"group", group}};
  return std::make_shared<OpenedAssign>(*this, std::move(details), std::move(*process), group,
                                        caller.pid == pid);
}

std::expected<void, Refusal> Manager::assign_process(Process process, const std::string& group,
                                                     bool for_next_program) {
  const pid_t pid = process.pid();
  const auto gone = [&] {
    return std::unexpected(
        Refusal{Refusal::Kind::no_such_process, fmt::format("there is no process {}", pid)});
  };
  if (!process.read_name()) return gone();
  const auto tasks = tree_.open_tasks(group_directory(group));
  if (!tasks) return std::unexpected(refusal_of(tasks.error()));
  const auto moving = proc_.open(pid);
  if (!moving || !process.read_name()) return gone();
  if (!by_hand_.add(std::move(process), group, for_next_program))
    return std::unexpected(Refusal{
        Refusal::Kind::busy,
        fmt::format("{} processes are in their groups by hand already", HandAssignments::most)});
  if (const int error = assign_all_threads(*moving, tasks->get()); error != 0) {
    by_hand_.remove(pid);
    store();
    const Error refused{
        fmt::format("put process {} in", pid), fmt::format("group '{}'", group), error, {}};
    return std::unexpected(
        Refusal{error == ESRCH ? Refusal::Kind::no_such_process : Refusal::Kind::kernel_rejected,
                refused.text()});
  }
  store();
  observer_.on_assigned(pid, group, "");
  return {};
}

}  // namespace rdtd
