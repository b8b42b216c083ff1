#include "rdtd/daemon/cgroup_changes.hpp"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "rdtd/base/cooldown.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

using Clock = std::chrono::steady_clock;

// Changes are collected, and a flood of them takes a quarter of a CPU at most.
constexpr Cooldown pause_after_read{3, std::chrono::milliseconds(5)};
// Threads whose processes are found one by one: some 5 ms.
constexpr size_t max_threads_resolved = 256;
constexpr std::chrono::hours unwatched_log_interval(1);

}  // namespace

int CgroupChanges::attach(sd_event* event, std::unique_ptr<CgroupWatch> watch) {
  watch_ = std::move(watch);
  if (!watch_) return 0;
  const int r = readable_.attach(event, watch_->fd(), [this] { read(); });
  return r < 0 ? r : pause_.attach(event, [this] { resume(); });
}

void CgroupChanges::follow_rules() {
  if (!watch_) return;
  watch_->watch(interest());
  // The walk itself is done as events are read.
  read();
}

void CgroupChanges::retry_skipped() {
  if (watch_ && watch_->skipped() > 0) follow_rules();
}

void CgroupChanges::read() {
  const auto begin = Clock::now();
  const bool walked = watch_->walking();
  const CgroupWatch::Changes changes = watch_->read_changes();
  for (const pid_t pid : changes.processes) manager_.core().sweeper.visit({.pid = pid});
  // Finding the process of a thread takes a look into /proc.
  if (changes.threads.size() > max_threads_resolved)
    losses_.look_at_all("many threads changed their cgroup");
  else
    for (const pid_t tid : changes.threads) manager_.core().sweeper.visit_thread(tid);
  // The look at all processes that a new policy begins with may be over already.
  if (walked && !watch_->walking() && walk_in_parts_) losses_.look_at_all("cgroups were found");
  report_unwatched();
  // Its processes may have ended, or gone to another cgroup.
  if (!changes.emptied.empty()) losses_.look_at_all("a cgroup became empty");
  if (changes.lost) {
    watch_->watch(interest());
    losses_.look_at_all("cgroup changes were lost");
  }
  walk_in_parts_ = watch_->walking();
  more_ = changes.more || walk_in_parts_;
  readable_.enable(false);
  const auto pause = pause_after_read.after(Clock::now() - begin);
  pause_.set(std::chrono::duration_cast<std::chrono::microseconds>(pause));
}

void CgroupChanges::resume() {
  if (!readable_.enable(true) || more_) read();
}

// Any user may cause this, so it is no problem of the daemon's, and logged once an hour at most.
void CgroupChanges::report_unwatched() {
  const auto& first = watch_->first_skipped();
  const auto now = Clock::now();
  if (!first || now < next_unwatched_log_) return;
  next_unwatched_log_ = now + unwatched_log_interval;
  spdlog::warn("{}; moves into such cgroups are noticed at the next reconcile",
               printable(first->text()));
}

CgroupWatch::InterestIn CgroupChanges::interest() const {
  return [table = manager_.in_force().table](std::string_view path) {
    // A cgroup below one of a unit or a virtual machine belongs to that unit or machine too.
    const bool itself = table->rules.speaks_of_cgroup(std::string(path));
    return CgroupWatch::Interest{itself, itself || table->rules.may_speak_below_cgroup(path)};
  };
}

}  // namespace rdtd
