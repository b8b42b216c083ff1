#include "rdtd/daemon/resctrl_lock.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "rdtd/daemon/problems.hpp"

namespace rdtd {

bool ResctrlLock::recheck() {
  next_try_ = system_.now() + recheck_interval;
  if (!system_.resctrl.lock()) return false;
  forced_ = false;
  held_since_.reset();
  return problems_.clear(Problems::lock);
}

std::optional<ResctrlLock::Right> ResctrlLock::try_take() {
  auto lock = system_.resctrl.lock();
  const Time now = system_.now();
  const bool held = !lock && lock.error().code == EWOULDBLOCK;
  if (!held)
    held_since_.reset();
  else if (!held_since_)
    held_since_ = now;
  if (held && now - *held_since_ < max_wait) {
    next_try_ = now + retry_interval;
    return std::nullopt;
  }
  forced_ = !lock;
  next_try_ = now + recheck_interval;
  if (lock) {
    problems_.clear(Problems::lock);
    return Right{std::move(*lock)};
  }
  problems_.report(
      Problems::lock,
      held ? fmt::format("{} holds the lock of {} for {} s: it is changed without it",
                         system_.lock_holder(), system_.resctrl.path(), max_wait.count())
           : lock.error().text());
  return Right{};
}

}  // namespace rdtd
