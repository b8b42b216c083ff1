#include "rdtd/daemon/loop.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <utility>

#include "log.hpp"

namespace rdtd {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC, as sd-event's timers here

// How long the manager works before others have their turn.
constexpr milliseconds slice_length(50);
// Requests of the classifier are collected: what they ask for has this much time.
constexpr milliseconds request_interval(5);
// Looks at all processes that events ask for, at most so often.
constexpr seconds sweep_interval(1);
// A storm of processes overruns the kernel's queue again and again; the log says so at most so
// often.
constexpr seconds loss_log_interval(60);
constexpr std::chrono::hours unwatched_log_interval(1);
// Batches of changes that are read before others have their turn.
constexpr int change_batches = 16;
// Threads whose processes are found one by one: some 5 ms.
constexpr size_t max_threads_resolved = 256;
constexpr int exit_bad_policy = 78;  // EX_CONFIG
constexpr int exit_try_again = 1;    // systemd starts the daemon again

uint64_t usec(Clock::time_point time) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<microseconds>(time.time_since_epoch()).count());
}

}  // namespace

Loop::~Loop() {
  service_.reset();
  for (sd_event_source* source : {requests_, requests_timer_, changes_, changes_timer_, cgroups_,
                                  cgroups_timer_, reconcile_, heartbeat_, sweep_, work_})
    sd_event_source_unref(source);
  sd_event_unref(event_);
}

int Loop::add_timer(sd_event_source** source, sd_event_time_handler_t handler) {
  const int r = sd_event_add_time(event_, source, CLOCK_MONOTONIC, 0, 1000, handler, this);
  return r < 0 ? r : sd_event_source_set_enabled(*source, SD_EVENT_OFF);
}

// From now, not from when it was due: a loop that was held up does not catch up on what it missed.
void Loop::set_timer(sd_event_source* source, microseconds delay) {
  (void)sd_event_source_set_time(source, usec(Clock::now() + delay));
  (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int Loop::add_sources() {
  int r = sd_event_default(&event_);
  for (const auto& [signal, handler] : {std::pair{SIGHUP, &Loop::on_hangup},
                                        {SIGTERM, &Loop::on_terminate},
                                        {SIGINT, &Loop::on_terminate}})
    if (r >= 0) r = sd_event_add_signal(event_, nullptr, signal, handler, this);
  if (r >= 0)
    r = sd_event_add_io(event_, &requests_, sources_.requests_fd, EPOLLIN,
                        on_io<&Loop::take_requests>, this);
  if (r >= 0 && sources_.changes)
    r = sd_event_add_io(event_, &changes_, sources_.changes->fd(), EPOLLIN,
                        on_io<&Loop::read_changes>, this);
  if (r >= 0 && sources_.cgroups)
    r = sd_event_add_io(event_, &cgroups_, sources_.cgroups->fd(), EPOLLIN,
                        on_io<&Loop::read_cgroups>, this);
  if (r >= 0) r = add_timer(&requests_timer_, on_timer<&Loop::resume_requests>);
  if (r >= 0) r = add_timer(&changes_timer_, on_timer<&Loop::resume_changes>);
  if (r >= 0) r = add_timer(&cgroups_timer_, on_timer<&Loop::resume_cgroups>);
  if (r >= 0) r = add_timer(&reconcile_, on_timer<&Loop::reconcile>);
  if (r >= 0) r = add_timer(&heartbeat_, on_timer<&Loop::beat>);
  if (r >= 0) r = add_timer(&sweep_, on_timer<&Loop::sweep_now>);
  if (r >= 0) r = add_timer(&work_, on_timer<&Loop::work>);
  if (r >= 0) r = sd_event_source_set_prepare(work_, before_poll);
  if (r >= 0) r = sd_event_source_set_enabled(work_, SD_EVENT_ON);
  if (r >= 0) r = sd_event_set_watchdog(event_, 1);
  return r;
}

Result<void> Loop::prepare(Sources sources) {
  sources_ = std::move(sources);
  events_available_ = sources_.classifier != nullptr;
  manager_.set_events_available(events_available_);
  if (const int r = add_sources(); r < 0)
    return std::unexpected(Error{"set up", "the event loop", -r, {}});
  set_timer(heartbeat_, heartbeat_interval_);
  observe();
  auto service = Service::open(event_, manager_, [](const Result<void>& connection) {
    if (connection)
      spdlog::info("on the system bus");
    else
      spdlog::warn("{}; trying again every second, and rdtctl cannot reach rdtd meanwhile",
                   connection.error().text());
  });
  if (!service) return std::unexpected(service.error());
  service_ = std::move(*service);
  return {};
}

void Loop::observe() {
  manager_.observe(
      {.publish =
           [this](std::shared_ptr<const RuleTable> table) {
             return sources_.classifier == nullptr ? 0
                                                   : sources_.classifier->publish(std::move(table));
           },
       .before_reload =
           [] {
             (void)sd_notify(0, fmt::format("RELOADING=1\nMONOTONIC_USEC={}\nSTATUS=Reloading",
                                            usec(Clock::now()))
                                    .c_str());
           },
       .rules_changed = [this] { rules_changed(); },
       .after_reload =
           [this](bool success) {
             if (success) loaded();
             report_state();
             (void)sd_notify(0, "READY=1");
             service_->emit_reloaded(success);
           },
       .groups_changed = [this] { service_->emit_groups(); },
       .state_changed = [this] { report_state(); },
       .visits_lost = [this] { sweep_soon("too many processes changed"); },
       .on_drift = [this](const std::string& what) { service_->emit_drift(what); },
       .on_assigned = [this](pid_t pid, const std::string& group,
                             const std::string& rule) { report_assigned(pid, group, rule); },
       .watch_assignments =
           [this](bool on) {
             if (sources_.classifier != nullptr) sources_.classifier->watch_assignments(on);
           }});
}

// The manager's work, one slice; before_poll says when the next one is due.
void Loop::work() { manager_.step(Clock::now() + slice_length); }

// sd-event calls this before each wait, as long as the source is enabled: without work it is set to
// a time that never comes.
int Loop::before_poll(sd_event_source* source, void* self) {
  const auto due = static_cast<Loop*>(self)->manager_.next_due();
  if (due == Clock::time_point::max()) return sd_event_source_set_time(source, UINT64_MAX);
  return sd_event_source_set_time(source, due < Clock::now() ? 0 : usec(due));
}

void Loop::take_requests() {
  eventfd_t ignored = 0;
  (void)::eventfd_read(sources_.requests_fd, &ignored);
  const Classifier::Requests requests = sources_.classifier->take_requests();
  if (requests.table_in_use != 0) manager_.table_taken(requests.table_in_use);
  for (const pid_t pid : requests.moved)
    manager_.sweeper().visit({.pid = pid, .children = true}, Sweeper::second_look_delay);
  for (const Classifier::Assigned& assigned : requests.assigned)
    report_assigned(assigned.pid, assigned.group, assigned.rule);
  if (requests.dropped > 0) spdlog::debug("{} more assignments", requests.dropped);
  if (requests.table_old) manager_.reconcile();
  if (requests.failed) {
    log(LogEvent::events_lost,
        requests.failed->text() + "; processes are found at each reconcile only");
    manager_.set_events_available(false);
    classifier_drops_ = sources_.classifier->event_overruns();
    sources_.classifier = nullptr;
    (void)sd_event_source_set_enabled(requests_, SD_EVENT_OFF);
    return report_state();
  }
  if (requests.events_lost) {
    note_loss();
    sweep_soon("the kernel dropped process events");
  }
  // One wake-up for many requests.
  (void)sd_event_source_set_enabled(requests_, SD_EVENT_OFF);
  set_timer(requests_timer_, request_interval);
}

void Loop::resume_requests() { (void)sd_event_source_set_enabled(requests_, SD_EVENT_ON); }

void Loop::read_changes() {
  const RuleSet& rules = manager_.in_force().table->rules;
  std::vector<ProcEvent> events;
  const auto begin = Clock::now();
  bool lost = false, failed = false;
  for (int i = 0; i < change_batches; i++) {
    events.clear();
    const auto batch = sources_.changes->receive(events);
    lost = lost || !batch || batch->lost;
    for (const ProcEvent& event : events) {
      const bool first_thread = event.tid == event.pid;
      if (event.kind == ProcEvent::Kind::comm && first_thread) manager_.manual().rename(event.pid);
      if (rules.rules().empty()) continue;
      if (event.kind == ProcEvent::Kind::identity ||
          (event.kind == ProcEvent::Kind::comm && first_thread))
        manager_.sweeper().visit({.pid = event.pid});
      else if (event.kind == ProcEvent::Kind::comm && rules.has_thread_rules())
        manager_.sweeper().visit({.pid = event.pid, .only_thread = event.tid});
    }
    if (!batch) failed = true;
    if (events.size() < Connector::batch_size) break;
  }
  // A flood of renames takes a quarter of a CPU at most; a failure is tried again later.
  (void)sd_event_source_set_enabled(changes_, SD_EVENT_OFF);
  const auto pause = std::max<Clock::duration>(request_interval, 3 * (Clock::now() - begin));
  set_timer(changes_timer_,
            std::chrono::duration_cast<microseconds>(failed ? Clock::duration(seconds(1)) : pause));
  if (!lost) return;
  changes_dropped_ = sources_.changes->dropped();
  note_loss();
  sweep_soon("the kernel dropped process events");
}

void Loop::resume_changes() { (void)sd_event_source_set_enabled(changes_, SD_EVENT_ON); }

void Loop::read_cgroups() {
  const auto begin = Clock::now();
  const bool walked = sources_.cgroups->walking();
  const CgroupWatch::Changes changes = sources_.cgroups->read_changes();
  for (const pid_t pid : changes.processes) manager_.sweeper().visit({.pid = pid});
  // Finding the process of a thread takes a look into /proc.
  if (changes.threads.size() > max_threads_resolved)
    sweep_soon("many threads changed their cgroup");
  else
    for (const pid_t tid : changes.threads) manager_.visit_thread(tid);
  // The look at all processes that a new policy begins with may be over already.
  if (walked && !sources_.cgroups->walking() && walk_in_parts_) sweep_soon("cgroups were found");
  report_unwatched();
  // Its processes may have ended, or gone to another cgroup.
  if (!changes.emptied.empty()) sweep_soon("a cgroup became empty");
  if (changes.lost) {
    sources_.cgroups->watch(interest());
    sweep_soon("cgroup changes were lost");
  }
  walk_in_parts_ = sources_.cgroups->walking();
  more_cgroups_ = changes.more || walk_in_parts_;
  // A flood of moves takes a quarter of a CPU at most.
  (void)sd_event_source_set_enabled(cgroups_, SD_EVENT_OFF);
  const auto pause = std::max<Clock::duration>(request_interval, 3 * (Clock::now() - begin));
  set_timer(cgroups_timer_, std::chrono::duration_cast<microseconds>(pause));
}

void Loop::resume_cgroups() {
  (void)sd_event_source_set_enabled(cgroups_, SD_EVENT_ON);
  if (more_cgroups_) read_cgroups();
}

// Any user may cause this, so it is no problem of the daemon's, and logged once an hour at most.
void Loop::report_unwatched() {
  const auto& first = sources_.cgroups->first_skipped();
  const auto now = Clock::now();
  if (!first || now < next_unwatched_log_) return;
  next_unwatched_log_ = now + unwatched_log_interval;
  spdlog::warn("{}; moves into such cgroups are noticed at the next reconcile", first->text());
}

void Loop::sweep_soon(const char* why) {
  if (sweep_reason_ != nullptr) {
    sweep_again_ = why;
    return;
  }
  sweep_reason_ = why;
  const auto delay = std::max(next_sweep_ - Clock::now(), Clock::duration::zero());
  set_timer(sweep_, std::chrono::duration_cast<microseconds>(delay));
}

// The interval counts from the end of the last one, and grows with its length.
void Loop::sweep_now() {
  const auto begin = Clock::now();
  manager_.sweep(sweep_reason_, [this, begin] {
    const auto now = Clock::now();
    sweep_reason_ = nullptr;
    next_sweep_ = now + std::max<Clock::duration>(sweep_interval, 10 * (now - begin));
    if (const char* const again = std::exchange(sweep_again_, nullptr)) sweep_soon(again);
  });
}

void Loop::note_loss() {
  if (sources_.classifier != nullptr) classifier_drops_ = sources_.classifier->event_overruns();
  const uint64_t dropped = classifier_drops_ + changes_dropped_;
  if (sources_.classifier != nullptr)
    manager_.set_event_counters(sources_.classifier->events_seen(), dropped);
  const auto now = Clock::now();
  if (last_loss_log_ != Clock::time_point{} && now - last_loss_log_ < loss_log_interval) return;
  log(LogEvent::events_lost,
      fmt::format("the kernel dropped {} process events; all processes are examined instead",
                  dropped - std::exchange(drops_logged_, dropped)));
  last_loss_log_ = now;
}

void Loop::report_assigned(pid_t pid, const std::string& group, const std::string& rule) {
  if (logs_assignments()) log_assignment(pid, group, rule);
  service_->emit_assigned(pid, group, rule);
}

// A reload that does not change the policy's level leaves the one that systemctl service-log-level
// set.
void Loop::take_log_level() {
  const std::string& level = manager_.in_force().policy.daemon.log_level;
  if (level == std::exchange(policy_log_level_, level)) return;
  set_policy_log_level(level);
  manager_.apply_watch();
}

void Loop::watch_cgroups() {
  if (!sources_.cgroups) return;
  sources_.cgroups->watch(interest());
  // The walk itself is done as events are read.
  read_cgroups();
}

CgroupWatch::InterestIn Loop::interest() const {
  return [table = manager_.in_force().table](std::string_view path) {
    return CgroupWatch::Interest{table->rules.speaks_of_cgroup(std::string(path)),
                                 table->rules.may_speak_below_cgroup(path)};
  };
}

void Loop::rules_changed() {
  take_log_level();
  watch_cgroups();
}

void Loop::loaded() {
  const auto interval = manager_.in_force().policy.daemon.reconcile_interval;
  if (interval > microseconds::zero())
    set_timer(reconcile_, interval);
  else
    (void)sd_event_source_set_enabled(reconcile_, SD_EVENT_OFF);
}

void Loop::report_state() {
  (void)sd_notify(0, fmt::format("STATUS={}", manager_.status_line()).c_str());
  if (const std::string state = manager_.properties().state; state != std::exchange(state_, state))
    service_->emit_state();
}

void Loop::started(const std::expected<void, Refusal>& result) {
  if (!result && result.error().kind == Refusal::Kind::invalid_policy) {
    (void)sd_event_exit(event_, exit_bad_policy);
    return;
  }
  // A policy file that could not be read now.
  if (!result && result.error().kind == Refusal::Kind::busy && !result.error().where.file.empty() &&
      result.error().where.line == 0) {
    (void)sd_event_exit(event_, exit_try_again);
    return;
  }
  loaded();
  report_state();
  (void)sd_notify(0, "READY=1");
  service_->emit_reloaded(result.has_value());
}

int Loop::on_hangup(sd_event_source*, const signalfd_siginfo*, void* self) {
  // Its error is logged and shown by the manager.
  static_cast<Loop*>(self)->manager_.reload([](const auto&) {});
  return 0;
}

int Loop::on_terminate(sd_event_source* source, const signalfd_siginfo*, void*) {
  return sd_event_exit(sd_event_source_get_event(source), 0);
}

void Loop::reconcile() {
  manager_.reconcile();
  loaded();
}

void Loop::set_events_available(bool available) {
  manager_.set_events_available(available);
  if (available == std::exchange(events_available_, available)) return;
  if (available)
    spdlog::info("process events arrive again");
  else
    spdlog::warn(
        "no process events arrive; subscribing again, and examining all processes meanwhile");
  report_state();
}

void Loop::beat() {
  set_timer(heartbeat_, heartbeat_interval_);
  manager_.store();
  if (sources_.classifier == nullptr) return;
  manager_.set_event_counters(sources_.classifier->events_seen(),
                              sources_.classifier->event_overruns() + changes_dropped_);
  const bool alive = sources_.classifier->heartbeat();
  set_events_available(alive);
  if (alive) return;
  if (const auto subscribed = sources_.classifier->resubscribe(); !subscribed)
    spdlog::debug("{}", subscribed.error().text());
  sweep_soon("process events did not arrive");
}

int Loop::run() {
  manager_.start([this](const std::expected<void, Refusal>& result) { started(result); });
  const int r = sd_event_loop(event_);
  (void)sd_notify(0, "STOPPING=1");
  if (r < 0) spdlog::error("the event loop failed: {}", std::strerror(-r));
  return r < 0 ? 1 : r;
}

}  // namespace rdtd
