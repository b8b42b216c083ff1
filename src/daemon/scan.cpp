// Manager's looks at all processes, and at what others have changed.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "log.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/daemon/manager.hpp"

namespace rdtd {

namespace {

// What is born while a scan goes on inherits its parent's group, which the scan may not have put
// right yet.
constexpr int most_passes = 5;

}  // namespace

Placed Manager::placed_by(const RuleSet& rules) const {
  Placed placed;
  for (const std::string& group : rules.groups())
    placed.push_back(tree_.read_tasks(group).value_or(std::vector<pid_t>{}));
  return placed;
}

// What an old rule put where it still is and no new rule speaks of is let go, thread by thread.
size_t Manager::release(pid_t pid, const RuleSet& previous, const Placed& held) const {
  const auto process = proc_.open(pid);
  if (!process || table_->by_hand->hold(pid)) return 0;
  size_t released = 0;
  const bool per_thread = previous.has_thread_rules() || table_->rules.has_thread_rules();
  ProcessFacts facts;
  for (const pid_t tid : process->threads()) {
    if (std::ranges::none_of(
            held, [&](const auto& group) { return std::ranges::binary_search(group, tid); }))
      continue;
    if (per_thread) facts.thread = process->read_thread_name(tid);
    const Decision old_one = decide(previous, *process, facts);
    if (old_one.kind != Decision::Kind::matched ||
        !std::ranges::binary_search(held[previous.rules()[old_one.rule].group], tid))
      continue;
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
    if (assignment.kind == Assignment::Kind::in_group)
      result.matched[group_label(table_->rules.group_of(assignment.rule))]++;
    if (assignment.moved > 0 && mode == AssignMode::move) tell_assigned(pid, assignment);
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
  if (total.refused > 0)
    log(Happening::kernel_refused,
        fmt::format("the kernel refused to move {} processes", total.refused));
  return total;
}

void Manager::scan(const char* why) {
  const ScanResult result = scan_until_quiet(AssignMode::move, nullptr);
  spdlog::debug("looked at all processes because {}: {} threads moved", why, result.moved);
}

void Manager::classify(const std::vector<pid_t>& processes) {
  for (const pid_t pid : processes) {
    const Assignment assignment =
        assign(*table_, proc_, pid, OtherThreads::now, nullptr, AssignMode::move);
    if (assignment.moved > 0) tell_assigned(pid, assignment);
  }
}

void Manager::tell_assigned(pid_t pid, const Assignment& assignment) const {
  if (assignment.kind != Assignment::Kind::in_group) return;
  observer_.on_assigned(pid, group_label(table_->rules.group_of(assignment.rule)),
                        table_->rules.rules()[assignment.rule].where.text());
}

// What stays as it is, look after look, is told once.
void Manager::tell_drift(std::vector<Drift> found) {
  for (const Drift& drift : found) {
    if (!drift.put_back && std::ranges::find(drift_, drift.text, &Drift::text) != drift_.end())
      continue;
    const std::string what = drift.text + (drift.put_back ? "; put back" : "");
    if (drift.group)
      log(Happening::drift, what, {{"RDTD_GROUP", group_label(*drift.group)}});
    else
      log(Happening::drift, what);
    observer_.on_drift(what);
  }
  drift_ = std::move(found);
}

// A machine that has changed, by a domain that came or went, is planned for anew where the policy
// allows.
std::string Manager::follow_machine(const Capabilities& capabilities, const Snapshot& now) {
  auto plan = make_plan(policy_, capabilities, now);
  if (!plan)
    return fmt::format("the machine has changed, and the policy in force does not fit it:\n{}",
                       trim(format_diagnostics(plan.error(), policy_.sources)));
  capabilities_ = capabilities;
  targets_ = std::move(plan->groups);
  spdlog::info("the machine has changed, and the policy in force is planned for it anew");
  groups_.reset();
  observer_.groups_changed();
  return {};
}

// Finds where the groups differ from what the policy in force came to, and puts that right if so
// wanted. Returns what is in the way of that, told where it is new.
std::string Manager::reconcile_groups(bool restore, std::vector<Drift>& found) {
  const auto told = [&](std::string trouble) {
    if (!trouble_.contains(trouble)) spdlog::warn("{}", trouble);
    return trouble;
  };
  const auto capabilities = tree_.read_capabilities();
  if (!capabilities) return told(capabilities.error().text());
  const auto now = snapshot();
  if (!now) return told(now.error().text());
  std::string trouble;
  if (*capabilities != capabilities_) trouble = told(follow_machine(*capabilities, *now));
  if (const GroupState& root = now->groups.at(std::string(root_group));
      !targets_.empty() && leaves_default_group(policy_, *now) && targets_.back().state != root) {
    targets_.back().state = root;
    groups_.reset();
    observer_.groups_changed();
  }
  const Steps back = steps_to(targets_, capabilities_, *now);
  bool put_back = restore && !back.steps.empty();
  if (put_back) {
    if (const auto applied = tree_.apply(back.steps, ownership_); !applied) {
      put_back = false;
      const std::string refused = applied.error().text();
      if (!trouble_.contains(refused)) log(Happening::kernel_refused, refused);
      trouble += (trouble.empty() ? "" : "\n") + refused;
    }
    renew_table();
  }
  remove_groups(back.removals);
  for (Difference& difference : differences(targets_, *now))
    found.push_back({std::move(difference.group), std::move(difference.text), put_back});
  return trouble;
}

void Manager::reconcile() {
  const bool restore = policy_.daemon.drift == OnDrift::restore;
  std::vector<Drift> found;
  std::string trouble = reconcile_groups(restore, found);
  const ScanResult scanned =
      scan_until_quiet(restore ? AssignMode::move : AssignMode::report, nullptr);
  // Without process events this is how processes are found at all.
  if (scanned.moved > 0 && events_available_)
    found.push_back(
        {{},
         fmt::format(
             "{} not in the group that the rules name",
             scanned.moved == 1 ? "1 thread was" : fmt::format("{} threads were", scanned.moved)),
         restore});
  if (trouble.empty() && scanned.refused > 0) trouble = "the kernel refuses to move processes";
  trouble_ = std::move(trouble);
  tell_drift(std::move(found));
}

}  // namespace rdtd
