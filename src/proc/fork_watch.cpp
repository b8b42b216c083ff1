#include "rdtd/proc/fork_watch.hpp"

#include <algorithm>
#include <utility>

#include "rdtd/base/clock.hpp"

namespace rdtd::proc {

namespace {

// Processes that are remembered. What is older is forgotten with the others.
constexpr size_t max_processes = 4096;
// As known_since_: nothing is known until all events have been read.
constexpr uint64_t never = UINT64_MAX;

}  // namespace

ForkWatch::ForkWatch(Connector connector, size_t max_batches)
    : connector_(std::move(connector)),
      max_batches_(max_batches),
      known_since_(monotonic_nanoseconds()) {}

void ForkWatch::forget() {
  last_.clear();
  known_since_ = monotonic_nanoseconds();
}

void ForkWatch::update() {
  bool lost = last_.size() > max_processes || known_since_ == never;
  bool drained = false;
  for (size_t i = 0; i < max_batches_ && !drained; i++) {
    events_.clear();
    const auto batch = connector_.receive(events_);
    // After a loss the kernel drops every event until the queue is empty.
    const bool now_lost = !batch || batch->lost;
    lost = lost || now_lost;
    for (const ProcEvent& event : events_) {
      if (event.kind != ProcEvent::Kind::fork) continue;
      uint64_t& last = last_[event.pid];
      last = std::max(last, event.timestamp_ns);
    }
    drained = !now_lost && events_.size() < Connector::batch_size;
  }
  if (lost) forget();
  if (!drained) known_since_ = never;
}

ForkWatch::Answer ForkWatch::has_forked(pid_t pid, uint64_t since) const {
  if (since < known_since_) return Answer::unknown;
  const auto found = last_.find(pid);
  return found != last_.end() && found->second >= since ? Answer::yes : Answer::no;
}

}  // namespace rdtd::proc
