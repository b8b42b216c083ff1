#include "rdtd/daemon/lock_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

namespace rdtd {

void LockQueue::run(std::function<void()> change) {
  waiting_.push_back(std::move(change));
  if (waiting_.size() == 1) step();
}

LockQueue::Time LockQueue::next_due() const {
  return waiting_.empty() && !forced_ ? Time::max() : retry_;
}

void LockQueue::recheck() {
  retry_ = system_.now() + recheck_interval;
  if (!system_.resctrl.lock()) return;
  forced_ = false;
  held_since_.reset();
  on_locked_();
}

void LockQueue::step() {
  if (stepping_) return;  // a change may ask for the next one
  stepping_ = true;
  if (waiting_.empty() && forced_) recheck();
  while (!waiting_.empty()) {
    const auto lock = system_.resctrl.lock();
    const Time now = system_.now();
    const bool held = !lock && lock.error().code == EWOULDBLOCK;
    if (!held)
      held_since_.reset();
    else if (!held_since_)
      held_since_ = now;
    if (held && now - *held_since_ < max_wait) {
      retry_ = now + retry_interval;
      break;
    }
    forced_ = held;
    retry_ = now + recheck_interval;
    if (lock)
      on_locked_();
    else
      on_forced_(held ? fmt::format("{} holds the lock of {} for {} s: it is changed without it",
                                    system_.lock_holder(), system_.resctrl.path(), max_wait.count())
                      : lock.error().text());
    const auto change = std::move(waiting_.front());
    waiting_.pop_front();
    change();
  }
  stepping_ = false;
}

}  // namespace rdtd
