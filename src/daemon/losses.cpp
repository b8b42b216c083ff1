#include "rdtd/daemon/losses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "log.hpp"
#include "rdtd/base/cooldown.hpp"

namespace rdtd {

namespace {

using Clock = std::chrono::steady_clock;

// Looks at all processes that events ask for are so far apart.
constexpr Cooldown pause_after_sweep{10, std::chrono::seconds(1)};
// A storm of processes overruns the kernel's queue again and again; the log says so at most so
// often.
constexpr std::chrono::seconds log_interval(60);

}  // namespace

int Losses::attach(sd_event* event) {
  return sweep_.attach(event, [this] { sweep(); });
}

void Losses::look_at_all(const char* why) {
  if (reason_ != nullptr) {
    again_ = why;
    return;
  }
  reason_ = why;
  const auto delay = std::max(next_sweep_ - Clock::now(), Clock::duration::zero());
  sweep_.set(std::chrono::duration_cast<std::chrono::microseconds>(delay));
}

// The interval counts from the end of the last one, and grows with its length.
void Losses::sweep() {
  const Time begin = Clock::now();
  manager_.reconciler().sweep(reason_, [this, begin] {
    const Time now = Clock::now();
    reason_ = nullptr;
    next_sweep_ = now + pause_after_sweep.after(now - begin);
    if (const char* const again = std::exchange(again_, nullptr)) look_at_all(again);
  });
}

void Losses::count_exec(uint64_t dropped_events) {
  exec_ = dropped_events;
  manager_.core().state.event_overruns = dropped();
}

void Losses::count_changes(uint64_t dropped_events) {
  changes_ = dropped_events;
  manager_.core().state.event_overruns = dropped();
}

void Losses::lost() {
  look_at_all("the kernel dropped process events");
  const Time now = Clock::now();
  if (last_log_ != Time{} && now - last_log_ < log_interval) return;
  log(LogEvent::events_lost,
      fmt::format("the kernel dropped {} process events; all processes are examined instead",
                  dropped() - std::exchange(logged_, dropped())));
  last_log_ = now;
}

}  // namespace rdtd
