#include "rdtd/daemon/release.hpp"

#include <algorithm>

namespace rdtd {

Release::Release(const RuleTable& previous, const TasksByGroup& held, Placement now, pid_t pid)
    : previous_(previous),
      held_(held),
      now_(now),
      root_(now.table.tasks_of(std::string(root_group))),
      per_thread_(previous_.rules.has_thread_rules() || now.table.rules.has_thread_rules()) {
  if (root_ == nullptr || now.manual.group_of(pid)) return;
  auto process = now.processes.open(pid);
  if (!process) {
    note(process.error());
    return;
  }
  process_ = std::move(*process);
  auto threads = process_->threads();
  if (!threads) {
    note(threads.error());
    return;
  }
  threads_ = std::move(*threads);
}

// A failure of the system counts for more than a process that holds up a read.
void Release::note(const Error& error) {
  if (!proc::ended(error) && (!error_ || proc::held_up(*error_))) error_ = error;
}

bool Release::is_held(pid_t tid) const {
  return std::ranges::any_of(
      held_, [&](const auto& group) { return std::ranges::binary_search(group, tid); });
}

// Whether the rules that matched do not match any more.
bool Release::decide_again() {
  const auto old_one = decide(previous_.rules, *process_, facts_);
  if (!old_one) note(old_one.error());
  if (!old_one || old_one->kind != Decision::Kind::matched) return false;
  old_destination_ = previous_.rules.rules()[old_one->rule].destination;
  const auto new_one = decide(now_.table.rules, *process_, facts_);
  if (!new_one) note(new_one.error());
  return new_one && new_one->kind == Decision::Kind::unmatched;
}

// The lists may be some seconds old: another tool may have taken the thread since.
bool Release::is_still_held(pid_t tid) {
  if (!std::ranges::binary_search(held_[*old_destination_], tid)) return false;
  const auto now = process_->read_thread_group(tid);
  if (!now && now.error().code == ENOTSUP) return true;
  if (!now) note(now.error());
  if (!now) return false;
  return control_group_of(*now) == control_group_of(previous_.places[*old_destination_].directory);
}

bool Release::step(size_t limit) {
  // Most processes have no thread that is held. One may have very many threads.
  size_t looked = 0;
  for (; looked < limit && next_ < threads_.size() && !is_held(threads_[next_]); looked++) next_++;
  if (next_ == threads_.size()) return true;
  if (looked == limit) return false;
  // It may have been assigned manually, or have ended, since the last step.
  if (now_.manual.group_of(process_->pid())) return true;
  if (const auto name = process_->read_name(); !name) {
    note(name.error());
    return true;
  }
  if (!per_thread_ && !old_destination_ && !decide_again()) return true;
  for (; looked < limit && next_ < threads_.size(); looked++) {
    const pid_t tid = threads_[next_++];
    if (!is_held(tid)) continue;
    if (per_thread_) {
      auto name = process_->read_thread_name(tid);
      if (!name) note(name.error());
      if (!name) continue;
      facts_.thread = std::move(*name);
      if (!decide_again()) continue;
    }
    if (!is_still_held(tid) || root_->add(tid) != 0) continue;
    released_++;
    correct_thread(now_, *process_, tid);
  }
  return next_ == threads_.size();
}

}  // namespace rdtd
