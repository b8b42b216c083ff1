#include "rdtd/daemon/hand_assignments.hpp"

namespace rdtd {

bool HandAssignments::add(Process process, bool for_next_program) {
  const std::lock_guard lock(mutex_);
  if (held_.size() >= most) drop_ended();
  const pid_t pid = process.pid();
  if (held_.size() >= most && !held_.contains(pid)) return false;
  std::string name = process.read_name().value_or("");
  held_.insert_or_assign(pid, Held{std::move(process), std::move(name), for_next_program});
  count_ = held_.size();
  return true;
}

void HandAssignments::remove(pid_t pid) {
  const std::lock_guard lock(mutex_);
  held_.erase(pid);
  count_ = held_.size();
}

bool HandAssignments::hold(pid_t pid) {
  if (count_ == 0) return false;
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(pid);
  if (found == held_.end()) return false;
  if (found->second.process.read_name()) return true;
  held_.erase(found);
  count_ = held_.size();
  return false;
}

bool HandAssignments::exec(pid_t pid) {
  if (!hold(pid)) return false;
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(pid);
  if (found == held_.end()) return false;
  Held& held = found->second;
  if (held.for_next_program) {
    // While the name is still the old one, this is the event of its own start, come late.
    held.for_next_program = held.process.read_name() == held.name;
    return true;
  }
  held_.erase(found);
  count_ = held_.size();
  return false;
}

void HandAssignments::drop_ended() {
  std::erase_if(held_, [](const auto& entry) { return !entry.second.process.read_name(); });
}

}  // namespace rdtd
