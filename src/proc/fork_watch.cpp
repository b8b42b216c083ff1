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
  begun_.clear();
  known_since_ = monotonic_nanoseconds();
}

void ForkWatch::note(const ProcEvent& event) {
  Begun& begun = begun_[event.pid];
  if (event.is_thread) {
    begun.last_other = std::max(begun.last_other, event.timestamp_ns);
    return;
  }
  if (begun.children.size() == max_children) {
    begun.last_other = std::max(begun.last_other, begun.children.front().time);
    begun.children.erase(begun.children.begin());
  }
  begun.children.push_back({event.tid, event.timestamp_ns});
}

void ForkWatch::update() {
  bool lost = begun_.size() > max_processes || known_since_ == never;
  bool drained = false;
  for (size_t i = 0; i < max_batches_ && !drained; i++) {
    events_.clear();
    const auto batch = connector_.receive(events_);
    // After a loss the kernel drops every event until the queue is empty.
    const bool now_lost = !batch || batch->lost;
    lost = lost || now_lost;
    for (const ProcEvent& event : events_)
      if (event.kind == ProcEvent::Kind::fork) note(event);
    // A call that fails after it has received some says so in the next one.
    drained = !now_lost && events_.empty();
  }
  if (lost) forget();
  if (!drained) known_since_ = never;
}

ForkWatch::Forks ForkWatch::forks_of(pid_t pid, uint64_t since) const {
  if (since < known_since_) return {Forks::Kind::unknown};
  const auto found = begun_.find(pid);
  if (found == begun_.end()) return {};
  Forks out;
  for (const Child& child : found->second.children)
    if (child.time >= since) out.children.push_back(child.pid);
  if (found->second.last_other >= since)
    out.kind = Forks::Kind::more;
  else if (!out.children.empty())
    out.kind = Forks::Kind::children;
  return out;
}

}  // namespace rdtd::proc
