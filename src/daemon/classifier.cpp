#include "rdtd/daemon/classifier.hpp"

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <mutex>
#include <thread>
#include <utility>

#include "rdtd/base/clock.hpp"
#include "rdtd/base/cooldown.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd {

namespace {

// Requests that wait; more assignments are only counted, more processes are found by a look at all
// of them.
constexpr size_t max_queued = 4096;
// So many errors in a row are reported, once until events arrive again.
constexpr int max_errors = 10;
// From so many events in a batch on, users share the time.
constexpr size_t batch_that_waits = 4;
// A user whose process is in a deeply nested cgroup rests.
constexpr Cooldown rest_after_deep_look{400, {}, std::chrono::seconds(30)};
// One of so many processes that look like root's is examined, and all once one was another user's.
constexpr unsigned examined_part = 16;

// Microseconds of CPU time that a real-time thread may use without waiting: SIGXCPU and SIGKILL. A
// lower limit that the process was started with stays.
rlimit real_time_limit{4'000'000, 5'000'000};

// For poll(2): rounded up, and so short that a new table and the end are noticed.
std::chrono::milliseconds time_until(std::chrono::steady_clock::time_point time) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(time - std::chrono::steady_clock::now());
  return std::clamp(left, milliseconds(0), milliseconds(1000));
}

// The limit on CPU time of real-time threads is near: the kernel sends SIGXCPU at the soft limit,
// which it raises by a second each time, and SIGKILL at the hard one (setrlimit(2), RLIMIT_RTTIME).
// After each wait, it counts from zero again.
void rest(int) {
  const int error = errno;
  const timespec pause{1, 0};
  (void)::nanosleep(&pause, nullptr);
  (void)::setrlimit(RLIMIT_RTTIME, &real_time_limit);
  errno = error;
}

// SIGURG ends a wait for events; one with a timeout ends all the same.
void handle_signals() {
  rlimit inherited{};
  (void)::getrlimit(RLIMIT_RTTIME, &inherited);
  real_time_limit.rlim_cur = std::min(real_time_limit.rlim_cur, inherited.rlim_cur);
  real_time_limit.rlim_max = std::min(real_time_limit.rlim_max, inherited.rlim_max);
  struct sigaction action{};
  action.sa_flags = SA_RESTART;
  action.sa_handler = rest;
  (void)::sigaction(SIGXCPU, &action, nullptr);
  (void)::setrlimit(RLIMIT_RTTIME, &real_time_limit);
  action.sa_handler = [](int) {};
  (void)::sigaction(SIGURG, &action, nullptr);
}

}  // namespace

// Sleeps after max_work of CPU time without waiting.
class Classifier::Pacer {
 public:
  void pace() {
    const auto used = thread_cpu_time();
    if (used - since_ < Classifier::max_work) return;
    if (std::exchange(waited_, false) || (!only_receive_ && voluntary_waits() != waits_)) {
      in_a_row_ = 0;
    } else {
      // A burst of programs is through within the first pauses; a flood gets half of a CPU.
      const timespec pause{0, ++in_a_row_ <= 20 ? 50'000 : 5'000'000};
      (void)::nanosleep(&pause, nullptr);
    }
    since_ = used;
    waits_ = voluntary_waits();
  }
  // With rules about command lines, the thread waits for the one that reads them. That is work too:
  // only waits for events count then.
  void count_only_receive(bool on) { only_receive_ = on; }
  auto receive(Connector& connector, std::vector<ProcEvent>& events) {
    return waiting([&] { return connector.receive(events); });
  }
  [[nodiscard]] bool wait(const Connector& connector, std::chrono::milliseconds timeout) {
    return waiting([&] { return connector.wait(timeout); });
  }

 private:
  template <class Call>
  std::invoke_result_t<Call> waiting(Call call) {
    if (!only_receive_) return call();
    const long before = voluntary_waits();
    auto result = call();
    waited_ = waited_ || voluntary_waits() != before;
    return result;
  }
  static long voluntary_waits() {
    rusage usage{};
    (void)::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  }

  std::chrono::nanoseconds since_{};
  long waits_ = 0;
  bool only_receive_ = false, waited_ = false;
  int in_a_row_ = 0;
};

Result<std::unique_ptr<Classifier>> Classifier::make(int requests_fd,
                                                     std::chrono::milliseconds error_pause) {
  auto second_looks = SecondLooks::make();
  if (!second_looks) return std::unexpected(second_looks.error());
  handle_signals();
  return std::unique_ptr<Classifier>(
      new Classifier(requests_fd, error_pause, std::move(*second_looks)));
}

void Classifier::run() {
  life_.thread = ::gettid();
  life_.started.acquire();
  handle_events();
  life_.ended.release();
}

void Classifier::stop() {
  life_.stop = true;
  life_.started.release();
  // Where no event of the connector ends the wait, a signal that comes just before it is lost.
  do wake();
  while (!life_.ended.try_acquire_for(std::chrono::milliseconds(100)));
}

void Classifier::start(Connector connector, const proc::Processes& processes,
                       ManualAssignments& manual) {
  connector_.emplace(std::move(connector));
  processes_ = &processes;
  manual_ = &manual;
  life_.started.release();
}

uint64_t Classifier::publish(std::shared_ptr<const RuleTable> table) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(exchange_.mutex);
    exchange_.table.swap(table);
    number = ++exchange_.published;
  }
  wake();
  return number;
}

// The signal may come just before the thread waits: then it is the event that ends the wait.
void Classifier::wake() {
  if (const pid_t thread = life_.thread; thread != 0) (void)::tgkill(::getpid(), thread, SIGURG);
  beat();
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

template <class Change>
void Classifier::request(Change change) {
  bool first = false;
  {
    const std::lock_guard lock(exchange_.mutex);
    change(exchange_.requests);
    first = !std::exchange(exchange_.requests.any, true);
  }
  // The others are taken with it.
  if (first) (void)::eventfd_write(requests_fd_, 1);
}

Classifier::Requests Classifier::take_requests() {
  const std::lock_guard lock(exchange_.mutex);
  return std::exchange(exchange_.requests, {});
}

void Classifier::handle_events() {
  std::vector<ProcEvent> events;
  std::shared_ptr<const RuleTable> table;
  uint64_t in_use = 0;
  bool lost = false;
  int errors = 0;
  Pacer pacer;
  const auto take_table = [&] {
    if (exchange_.published == in_use) return;
    request([&](Requests& r) {
      if (table) r.retired.push_back(std::move(table));
      table = exchange_.table;
      r.table_in_use = in_use = exchange_.published;
    });
    pacer.count_only_receive(table && table->rules.reads(Fact::cmdline));
  };
  while (!life_.stop) {
    if (const auto due = own_.deferred.next_due();
        due && !pacer.wait(*connector_, time_until(*due))) {
      take_table();
      handle_deferred(table.get());
      pacer.pace();
      continue;
    }
    events.clear();
    const auto batch = pacer.receive(*connector_, events);
    errors = batch ? 0 : std::min(errors + 1, max_errors + 1);
    if (errors == max_errors) {
      beat_seen_ = false;
      request([&](Requests& r) { r.failed = batch.error(); });
    }
    if (errors > 0) std::this_thread::sleep_for(error_pause_);
    lost = lost || !batch || batch->lost;
    take_table();
    handle_batch(events, table.get(), pacer);
    // Once it has lost an event, the kernel drops all further ones until the queue is empty, and
    // does not say so again. While nothing can be received, the loop thread misses the heartbeats.
    const bool drained = events.size() < Connector::batch_size && !(batch && batch->lost);
    if (lost && drained && errors < max_errors) {
      lost = false;
      counts_.overruns = connector_->dropped();
      request([](Requests& r) { r.events_lost = true; });
    }
    if (events.size() == Connector::batch_size) pacer.pace();
  }
}

void Classifier::handle_batch(const std::vector<ProcEvent>& events, const RuleTable* table,
                              Pacer& pacer) {
  counts_.seen.fetch_add(events.size(), std::memory_order_relaxed);
  for (size_t i = 0; i < events.size(); i++) {
    const ProcEvent& event = events[i];
    if (event.kind == ProcEvent::Kind::comm) beat_seen_ = true;
    if (event.kind != ProcEvent::Kind::exec) continue;
    if (table == nullptr) {  // those of the record hold already
      (void)manual_->exec(event.pid, event.timestamp_ns);
      continue;
    }
    const auto same = [&](const ProcEvent& other) {
      return other.pid == event.pid && other.kind == ProcEvent::Kind::exec;
    };
    // The last exec of a process in a batch decides; /proc shows its result already. What it forked
    // since the first one is in its old group.
    const auto next = events.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (std::any_of(next, events.end(), same)) continue;
    const uint64_t first = std::find_if(events.begin(), next, same)->timestamp_ns;
    handle(event, first, *table, events.size() >= batch_that_waits);
    pacer.pace();
  }
}

void Classifier::handle(const ProcEvent& event, uint64_t exec_at, const RuleTable& table,
                        bool others_wait) {
  if (manual_->exec(event.pid, event.timestamp_ns)) return;
  const auto begin = std::chrono::steady_clock::now();
  // To examine all of root's would double the cost of each.
  const bool examine_root = begin < own_.hidden_until || ++own_.handled % examined_part == 0;
  const bool shared = others_wait || own_.shares.anybody_rests(begin);
  const Assignment assignment = place_leader({table, *processes_, *manual_, &own_.memo,
                                              shared ? &own_.shares : nullptr, begin, examine_root},
                                             event.pid);
  if (assignment.hidden) own_.hidden_until = begin + std::chrono::seconds(1);
  if (assignment.kind == Assignment::Kind::deferred &&
      defer({event.pid, *assignment.user, exec_at}, begin))
    return;
  charge(assignment, begin);
  finish(event.pid, exec_at, assignment, table);
}

// False if the loop thread has to look at it. It does not for a user who rests: each look takes
// long, and the next reconcile finds the process. One that waits already may be another user's now.
bool Classifier::defer(const Deferred::Process& process, UserShares::Time now) {
  const auto rest = own_.shares.resting_until(process.user);
  return own_.deferred.push(process, std::max(now, rest)) || now < rest;
}

// Another user's process may have got the pid meanwhile. One that looks like root's may be
// anybody's.
bool Classifier::belongs_to(const Deferred::Process& process) const {
  const auto opened = processes_->open(process.pid);
  const auto owner = opened ? (*opened)->owner() : std::unexpected(opened.error());
  return owner && (*owner == process.user || *owner == 0);
}

// Nobody else waits now.
void Classifier::handle_deferred(const RuleTable* table) {
  const auto begin = std::chrono::steady_clock::now();
  const auto process = own_.deferred.pop(begin);
  if (!process || table == nullptr) return;
  if (begin < own_.shares.resting_until(process->user) && belongs_to(*process)) {
    (void)defer(*process, begin);
    return;
  }
  const Assignment assignment =
      place_leader({*table, *processes_, *manual_, &own_.memo}, process->pid);
  charge(assignment, begin);
  finish(process->pid, process->exec_at, assignment, *table);
}

void Classifier::charge(const Assignment& assignment, UserShares::Time begin) {
  if (!assignment.user) return;
  const auto end = std::chrono::steady_clock::now();
  own_.shares.charge(*assignment.user, end - begin, end);
  if (assignment.deep && *assignment.user != 0)
    own_.shares.rest(*assignment.user, end + rest_after_deep_look.after(end - begin));
}

void Classifier::finish(pid_t pid, uint64_t exec_at, const Assignment& assignment,
                        const RuleTable& table) {
  if (assignment.kind == Assignment::Kind::no_group)
    request([](Requests& r) { r.table_old = true; });
  using enum Assignment::Kind;
  // A move that the kernel refused may have failed only for the moment.
  const bool unexamined = assignment.kind == unknown || assignment.kind == held_up ||
                          assignment.kind == deferred || assignment.kind == refused;
  if (unexamined)
    request([pid](Requests& r) {
      if (r.unexamined.size() < max_queued)
        r.unexamined.push_back(pid);
      else
        r.events_lost = true;
    });
  const bool placed = assignment.moved > 0;
  // Processes that it forked before it ended are in its old group.
  if (!placed && !unexamined && assignment.kind != gone) return;
  if (!second_looks_->add({pid, exec_at, monotonic_nanoseconds(), placed}) && placed)
    request([](Requests& r) { r.events_lost = true; });
  if (!placed || !watched_) return;
  Assigned assigned{pid, group_label(table.rules.group_of(assignment.rule)),
                    table.rules.rules()[assignment.rule].where.text()};
  request([&](Requests& r) {
    if (r.assigned.size() < max_queued)
      r.assigned.push_back(std::move(assigned));
    else
      r.dropped++;
  });
}

}  // namespace rdtd
