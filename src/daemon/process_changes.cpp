#include "rdtd/daemon/process_changes.hpp"

#include <utility>
#include <vector>

#include "rdtd/base/cooldown.hpp"

namespace rdtd {

namespace {

using Clock = std::chrono::steady_clock;

// Changes are collected, and a flood of them takes a quarter of a CPU at most.
constexpr Cooldown pause_after_events{3, std::chrono::milliseconds(5)};
constexpr std::chrono::seconds retry_interval(1);
// Batches that are read before others have their turn.
constexpr int max_batches = 16;

}  // namespace

int ProcessChanges::attach(sd_event* event, std::optional<Connector> connector) {
  connector_ = std::move(connector);
  if (!connector_) return 0;
  const int r = readable_.attach(event, connector_->fd(), [this] { read(); });
  return r < 0 ? r
               : pause_.attach(
                     event,
                     [this] {
                       if (!readable_.enable(true)) read();
                     });
}

void ProcessChanges::take(const ProcEvent& event) {
  const RuleSet& rules = manager_.in_force().table->rules;
  Core& core = manager_.core();
  const bool first_thread = event.tid == event.pid;
  if (event.kind == ProcEvent::Kind::comm && first_thread) core.manual.rename(event.pid);
  if (rules.rules().empty()) return;
  if (event.kind == ProcEvent::Kind::identity ||
      (event.kind == ProcEvent::Kind::comm && first_thread))
    core.sweeper.visit({.pid = event.pid});
  else if (event.kind == ProcEvent::Kind::comm && rules.has_thread_rules())
    core.sweeper.visit({.pid = event.pid, .only_thread = event.tid});
}

void ProcessChanges::read() {
  std::vector<ProcEvent> events;
  const auto begin = Clock::now();
  bool lost = false, failed = false;
  for (int i = 0; i < max_batches; i++) {
    events.clear();
    const auto batch = connector_->receive(events);
    lost = lost || !batch || batch->lost;
    for (const ProcEvent& event : events) take(event);
    if (!batch) failed = true;
    if (events.size() < Connector::batch_size) break;
  }
  readable_.enable(false);
  const auto pause = pause_after_events.after(Clock::now() - begin);
  pause_.set(
      std::chrono::duration_cast<std::chrono::microseconds>(failed ? retry_interval : pause));
  if (!lost) return;
  losses_.count_changes(connector_->dropped());
  losses_.lost();
}

}  // namespace rdtd
