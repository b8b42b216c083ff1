#include "rdtd/daemon/classifier_events.hpp"

#include <spdlog/spdlog.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "log.hpp"
#include "rdtd/base/clock.hpp"

namespace rdtd {

namespace {

using Clock = std::chrono::steady_clock;

// Requests are collected: they have this much time.
constexpr std::chrono::milliseconds request_interval(20);
// To read one fork event takes so many times less than to look whether one process is alone.
constexpr size_t forks_per_look = 50;
constexpr std::chrono::seconds fork_interval(1);
// Of one process, that are visited. Those that are missing are found by the next comparison.
constexpr size_t max_descendants = 64;

}  // namespace

int ClassifierEvents::attach(sd_event* event, int requests_fd, Classifier* classifier,
                             std::optional<proc::ForkWatch> forks) {
  classifier_ = classifier;
  requests_fd_ = requests_fd;
  forks_ = std::move(forks);
  manager_.core().state.events_available = classifier != nullptr;
  int r = requests_.attach(event, requests_fd, [this] { take_requests(); });
  if (r >= 0) r = pause_.attach(event, [this] { take_requests(); });
  if (r >= 0 && classifier != nullptr)
    r = second_looks_.attach(event, classifier->second_looks().fd(), [this] { look_again(); });
  return r;
}

uint64_t ClassifierEvents::publish(std::shared_ptr<const RuleTable> table) {
  if (classifier_ == nullptr) return 0;
  // A load waits for the answer.
  if (!requests_.enable(true)) pause_.set(request_interval);
  return classifier_->publish(std::move(table));
}

void ClassifierEvents::watch_assignments(bool on) {
  if (classifier_ != nullptr) classifier_->watch_assignments(on);
}

void ClassifierEvents::take_requests() {
  eventfd_t ignored = 0;
  (void)::eventfd_read(requests_fd_, &ignored);
  const Classifier::Requests requests = classifier_->take_requests();
  // The next one wakes this up at once.
  if (!requests.any && requests_.enable(true)) return;
  Core& core = manager_.core();
  if (requests.table_in_use != 0) core.publisher.taken(requests.table_in_use);
  for (const pid_t pid : requests.unexamined)
    core.sweeper.visit({.pid = pid, .children = true}, Visits::second_look_delay);
  for (const Classifier::Assigned& assigned : requests.assigned)
    core.observer.on_assigned(assigned.pid, assigned.group, assigned.rule);
  if (requests.dropped > 0) spdlog::debug("{} more assignments", requests.dropped);
  if (requests.table_old) manager_.reconciler().reconcile();
  if (requests.failed) {
    failed_ = true;
    log(LogEvent::events_lost, requests.failed->text() + "; trying again");
    set_available(false);
  }
  if (requests.events_lost) {
    count();
    losses_.lost();
  }
  // One wake-up for many requests.
  requests_.enable(false);
  pause_.set(request_interval);
}

// The processes that the classifier moved a moment ago may have begun threads or children before.
void ClassifierEvents::look_again() {
  const auto due = classifier_->second_looks().take_due(monotonic_nanoseconds());
  // There is no other way to the children of those that have ended.
  const bool some_ended =
      std::ranges::any_of(due, [](const SecondLooks::Process& one) { return !one.placed; });
  const bool ask_forks = update_forks(some_ended ? SIZE_MAX : forks_per_look * due.size());
  // Where each of them may belong in a monitoring group, all of them are visited.
  const bool visit_all = !manager_.in_force().table->counted_by_value.empty();
  std::vector<pid_t> unknown;
  // Those that are looked at for themselves.
  std::unordered_set<pid_t> seen;
  for (const SecondLooks::Process& process : due)
    if (process.placed) seen.insert(process.pid);
  for (const SecondLooks::Process& process : due) {
    using Kind = proc::ForkWatch::Forks::Kind;
    const auto forks = ask_forks ? forks_->forks_of(process.pid, process.exec_at)
                                 : proc::ForkWatch::Forks{Kind::unknown};
    if (process.placed && (forks.kind == Kind::unknown || visit_all))
      unknown.push_back(process.pid);
    else if (process.placed && forks.kind == Kind::more)
      manager_.core().sweeper.visit({.pid = process.pid, .children = true});
    visit_descendants(forks.children, process.exec_at, seen);
  }
  manager_.core().sweeper.look_for_more(unknown);
}

// The parent of each may have ended by now. `seen`: those that have a visit already; that leads to
// their children too.
void ClassifierEvents::visit_descendants(std::vector<pid_t> pids, uint64_t since,
                                         std::unordered_set<pid_t>& seen) {
  size_t visited = 0;
  for (size_t i = 0; i < pids.size() && visited < max_descendants; i++) {
    if (!seen.insert(pids[i]).second) continue;
    visited++;
    manager_.core().sweeper.visit({.pid = pids[i]});
    const auto forks = forks_->forks_of(pids[i], since);
    pids.insert(pids.end(), forks.children.begin(), forks.children.end());
  }
}

// False if more fork events wait than are worth reading now. A full buffer is emptied all the same,
// at most once a second.
bool ClassifierEvents::update_forks(size_t worth_reading) {
  if (!forks_) return false;
  const auto now = Clock::now();
  if (forks_->waiting() > worth_reading && now < next_fork_update_) return false;
  forks_->update();
  next_fork_update_ = now + fork_interval;
  return true;
}

void ClassifierEvents::set_available(bool available) {
  bool& known = manager_.core().state.events_available;
  if (available == std::exchange(known, available)) return;
  if (available)
    spdlog::info("process events arrive again");
  else
    spdlog::warn(
        "no process events arrive; subscribing again, and examining all processes meanwhile");
  manager_.core().observer.state_changed();
}

void ClassifierEvents::count() {
  if (classifier_ == nullptr) return;
  manager_.core().state.events_seen = seen();
  losses_.count_exec(classifier_->event_overruns());
}

void ClassifierEvents::beat() {
  if (classifier_ == nullptr) return;
  // Nothing else reads them while nothing is placed, and those of a full buffer are lost.
  (void)update_forks(SIZE_MAX);
  const bool beat_seen = classifier_->heartbeat();
  // Its own event may be one of those that a flood has cost, if others were received.
  const uint64_t overruns = classifier_->event_overruns();
  const bool flooded = overruns != std::exchange(overruns_before_, overruns);
  const bool alive = (flooded && !std::exchange(failed_, false)) || beat_seen;
  set_available(alive);
  if (alive) return;
  if (const auto subscribed = classifier_->resubscribe(); !subscribed)
    spdlog::debug("{}", subscribed.error().text());
  losses_.look_at_all("process events did not arrive");
}

}  // namespace rdtd
