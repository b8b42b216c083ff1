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

CallError call_error(const Error& error) {
  CallError out{CallError::Kind::KernelRejected, error.text()};
  if (error.code == ENOSPC && error.operation == "make group")
    out.kind = CallError::Kind::OutOfClosids;
  if (error.code == EBUSY) out.kind = CallError::Kind::Busy;
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

std::expected<Manager::Loaded, CallError> Manager::load() const {
  Loaded out;
  const std::vector<PolicyFile> files = find_policy_files(policy_root_);
  for (const PolicyFile& file : files)
    if (file.state == PolicyFile::State::active) out.files.push_back(file.path);
  ParsedPolicy parsed = parse_policy(files);
  const auto invalid = [&](const std::vector<Diagnostic>& diagnostics) {
    const std::string text = format_diagnostics(diagnostics, parsed.policy.sources);
    // Not InvalidPolicy: without an edit, the next attempt may succeed.
    if (std::ranges::find(diagnostics, Cause::machine, &Diagnostic::cause) != diagnostics.end())
      return std::unexpected(CallError{CallError::Kind::KernelRejected, text});
    const auto first = std::ranges::find(diagnostics, Severity::error, &Diagnostic::severity);
    CallError::Kind kind = CallError::Kind::InvalidPolicy;
    if (first->cause == Cause::mount) kind = CallError::Kind::NotSupported;
    if (first->cause == Cause::closids) kind = CallError::Kind::OutOfClosids;
    return std::unexpected(CallError{kind, text, first->where});
  };
  if (has_errors(parsed.diagnostics)) return invalid(parsed.diagnostics);
  auto capabilities = tree_.read_capabilities();
  if (!capabilities) return std::unexpected(call_error(capabilities.error()));
  const auto now = snapshot();
  if (!now) return std::unexpected(call_error(now.error()));
  auto plan = make_plan(parsed.policy, *capabilities, *now);
  if (!plan) return invalid(plan.error());
  (void)look_up_users(parsed.policy, find_user, find_user_group, plan->warnings);
  std::ranges::move(parsed.diagnostics, std::back_inserter(plan->warnings));
  sort_by_place(plan->warnings);
  out.warnings = format_diagnostics(plan->warnings, parsed.policy.sources);
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

std::expected<void, CallError> Manager::put_in_force(Loaded loaded) {
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

std::expected<void, CallError> Manager::load_and_apply() {
  const auto forgotten = forget_vanished_groups();
  auto loaded = forgotten ? load() : std::unexpected(call_error(forgotten.error()));
  auto done = loaded ? put_in_force(std::move(*loaded)) : std::unexpected(loaded.error());
  last_reload_error_ = done ? "" : std::string(trim(done.error().text));
  if (done) last_reload_timestamp_ = now_usec();
  return done;
}

// Every way in which a policy may fail to be put in force, told once.
void Manager::log_failure(const CallError& error, const char* consequence) const {
  Happening happening = Happening::reload_failed;
  if (error.kind == CallError::Kind::OutOfClosids) happening = Happening::out_of_closids;
  if (error.kind == CallError::Kind::NotSupported) happening = Happening::wrong_mount_options;
  if (error.kind == CallError::Kind::KernelRejected || error.kind == CallError::Kind::Busy)
    happening = Happening::kernel_refused;
  log(happening,
      fmt::format("the policy was not applied, {}:\n{}", consequence, last_reload_error_),
      error.where);
}

std::expected<void, CallError> Manager::start() {
  auto done = load_and_apply();
  if (!done) {
    log_failure(done.error(), "nothing was changed");
    return done;
  }
  log(Happening::applied, in_force_);
  observer_.after_reload(true);
  return done;
}

std::expected<void, CallError> Manager::reload() {
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

std::expected<void, CallError> Manager::reset() {
  auto empty = make_table(Policy{});
  if (!empty) return std::unexpected(call_error(empty.error()));
  observer_.before_reload();
  // First the rules, so that nobody is put in a group that is going.
  table_ = std::move(*empty);
  policy_ = Policy{.daemon = policy_.daemon};
  targets_.clear();
  files_.clear();
  drift_.clear();
  trouble_.clear();
  publish_table();
  observer_.rules_changed();
  const auto removed = remove_all();
  last_reload_error_ = removed ? "" : removed.error().text();
  if (removed)
    spdlog::info(
        "every group that rdtd made is removed; no policy is in force until the next reload");
  else
    log(Happening::kernel_refused, removed.error().text());
  observer_.after_reload(removed.has_value());
  if (!removed) return std::unexpected(call_error(removed.error()));
  return {};
}

std::expected<void, CallError> Manager::assign_by_hand(pid_t pid, const std::string& group,
                                                       const Caller& caller) {
  std::vector<std::string> names;
  for (const GroupTarget& target : targets_) names.push_back(group_label(target.directory));
  if (std::ranges::find(names, group) == names.end()) {
    const auto nearest = nearest_name(group, names);
    return std::unexpected(
        CallError{CallError::Kind::NoSuchGroup,
                  fmt::format("there is no group '{}' in the policy in force{}", printable(group),
                              nearest ? fmt::format("; did you mean '{}'?", *nearest) : "")});
  }
  // 0 would be the thread that writes: the daemon's own.
  auto process = pid > 0 ? proc_.open(pid) : std::nullopt;
  if (!process)
    return std::unexpected(
        CallError{CallError::Kind::NoSuchProcess, fmt::format("there is no process {}", pid)});
  if (const pid_t whole = process->read_process(); whole != pid && whole != 0)
    return std::unexpected(CallError{
        CallError::Kind::NoSuchProcess,
        fmt::format(
            "{} is a thread of process {}, and only a whole process is put in a group by hand", pid,
            whole)});
  const auto tasks = tree_.open_tasks(group_directory(group));
  if (!tasks) return std::unexpected(call_error(tasks.error()));
  if (!by_hand_.add(std::move(*process), group, caller.pid == pid))
    return std::unexpected(CallError{
        CallError::Kind::Busy,
        fmt::format("{} processes are in their groups by hand already", HandAssignments::most)});
  const auto moving = proc_.open(pid);
  if (const int error = moving ? assign_all_threads(*moving, tasks->get()) : ESRCH; error != 0) {
    by_hand_.remove(pid);
    store();
    const Error refused{
        fmt::format("put process {} in", pid), fmt::format("group '{}'", group), error, {}};
    return std::unexpected(
        CallError{error == ESRCH ? CallError::Kind::NoSuchProcess : CallError::Kind::KernelRejected,
                  refused.text()});
  }
  store();
  observer_.on_assigned(pid, group, "");
  return {};
}

}  // namespace rdtd
