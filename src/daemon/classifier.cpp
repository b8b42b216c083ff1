#include "rdtd/daemon/classifier.hpp"

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <ctime>
#include <utility>

namespace rdtd {

namespace {

// After so many events without a pause the thread sleeps for a moment: RLIMIT_RTTIME counts from
// the last time that a real-time thread blocked, and whoever shares the CPU gets a turn.
constexpr size_t events_between_pauses = 256;
constexpr timespec pause_length{0, 50'000};

// How long a thread may be in the making: a clone(2) that has copied its parent's group and is not
// yet seen in /proc.
constexpr std::chrono::milliseconds second_look_delay(20);
constexpr size_t most_second_looks = 4096;
// Assignments that wait to be told; in a storm the rest is only counted.
constexpr size_t most_untold = 4096;

}  // namespace

Classifier::Classifier(Connector connector, const ProcFs& proc, int requests_fd)
    : connector_(std::move(connector)),
      proc_(proc),
      requests_fd_(requests_fd),
      self_(::getpid()),
      thread_([this] { run(); }) {}

Classifier::~Classifier() {
  stop_ = true;
  beat();
  thread_.join();
}

bool Classifier::publish(std::shared_ptr<const RuleTable> table) {
  (void)taken_.try_acquire();  // of a table that was given up on
  table_ = std::move(table);
  published_++;
  beat();
  return taken_.try_acquire_for(std::chrono::seconds(2));
}

bool Classifier::heartbeat() {
  const bool seen = beat_seen_.exchange(false);
  beat();
  return seen;
}

void Classifier::beat() {
  std::array<char, 16> name{};
  if (::prctl(PR_GET_NAME, name.data()) == 0) (void)::prctl(PR_SET_NAME, name.data());
}

Classifier::Counters Classifier::counters() const { return {events_seen_, event_overruns_}; }

Classifier::Requests Classifier::take_requests() {
  const std::lock_guard lock(requests_mutex_);
  return std::exchange(requests_, {});
}

void Classifier::tell_assigned(pid_t pid, const Assignment& assignment, const RuleTable& table) {
  if (!watched_ || assignment.kind != Assignment::Kind::in_group) return;
  {
    const std::lock_guard lock(requests_mutex_);
    if (requests_.assigned.size() >= most_untold)
      requests_.untold++;
    else
      requests_.assigned.push_back({pid, group_label(table.rules.group_of(assignment.rule)),
                                    table.rules.rules()[assignment.rule].where.text()});
  }
  (void)::eventfd_write(requests_fd_, 1);
}

void Classifier::run() {
  (void)::prctl(PR_SET_NAME, "rdtd-events");
  std::vector<ProcEvent> events;
  std::shared_ptr<const RuleTable> table;
  uint64_t in_use = 0;
  bool lost = false;
  size_t since_pause = 0;
  while (!stop_) {
    events.clear();
    // Waiting and receiving in one call, unless something has to be done in between.
    if (!moved_.empty() && !connector_.wait(second_look_delay)) {
      look_again(*table);
      continue;
    }
    const auto batch = connector_.receive(events);
    lost = lost || !batch || batch->lost;
    if (const uint64_t published = published_; published != in_use) {
      table = table_;
      in_use = published;
      taken_.release();
    }
    events_seen_.fetch_add(events.size(), std::memory_order_relaxed);
    for (const ProcEvent& event : events)
      if (table) handle(event, *table);
    if (table) look_again(*table);
    // Once it has lost one, the kernel drops all further events until the queue is empty, and does
    // not say so again.
    const bool drained = events.size() < Connector::batch_size && !(batch && batch->lost);
    if (lost && drained) {
      lost = false;
      event_overruns_ = connector_.dropped();
      {
        const std::lock_guard lock(requests_mutex_);
        requests_.rescan = true;
      }
      (void)::eventfd_write(requests_fd_, 1);
    }
    since_pause = events.size() < Connector::batch_size ? 0 : since_pause + events.size();
    if (since_pause >= events_between_pauses) {
      (void)::nanosleep(&pause_length, nullptr);
      since_pause = 0;
    }
  }
}

void Classifier::handle(const ProcEvent& event, const RuleTable& table) {
  if (event.pid == self_) {
    beat_seen_ = true;
    return;
  }
  Assignment assignment;
  switch (event.kind) {
    case ProcEvent::Kind::exec:
      if (table.by_hand->exec(event.pid)) return;
      // exec has ended all other threads, so the new ones can wait for the second look.
      assignment = assign(table, proc_, event.pid, OtherThreads::later, nullptr, AssignMode::move);
      break;
    case ProcEvent::Kind::comm:
      // The name of a process is that of its first thread.
      if (event.tid == event.pid) table.by_hand->rename(event.pid);
      if (event.tid != event.pid && !table.rules.has_thread_rules()) return;
      assignment = event.tid == event.pid ? assign(table, proc_, event.pid, OtherThreads::now,
                                                   nullptr, AssignMode::move)
                                          : assign_thread(table, proc_, event.pid, event.tid);
      break;
    case ProcEvent::Kind::identity:
      assignment = assign(table, proc_, event.pid, OtherThreads::now, nullptr, AssignMode::move);
      break;
    default: return;
  }
  if (assignment.moved == 0) return;
  moved_.push_back({event.pid, std::chrono::steady_clock::now() + second_look_delay});
  tell_assigned(event.pid, assignment, table);
}

void Classifier::look_again(const RuleTable& table) {
  const auto now = std::chrono::steady_clock::now();
  while (!moved_.empty() && (moved_.front().due <= now || moved_.size() > most_second_looks)) {
    const pid_t pid = moved_.front().pid;
    moved_.pop_front();
    const SecondLook found = second_look(table, proc_, pid);
    for (const pid_t child : found.children) moved_.push_back({child, now + second_look_delay});
  }
}

}  // namespace rdtd
