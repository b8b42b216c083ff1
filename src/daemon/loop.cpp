#include "rdtd/daemon/loop.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <set>
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
// Changes in resctrl are read at most so often.
constexpr uint64_t resctrl_interval_usec = 20'000;
// A burst of so many events may have taken memory.
constexpr uint64_t events_per_trim = 10'000;
// The two clocks are not read at the same time.
constexpr uint64_t least_suspend_nanoseconds = 1'000'000'000;
constexpr int exit_bad_policy = 78;  // EX_CONFIG
constexpr int exit_try_again = 1;    // systemd starts the daemon again

uint64_t usec(Clock::time_point time) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<microseconds>(time.time_since_epoch()).count());
}

}  // namespace

Loop::~Loop() {
  service_.reset();
  sd_device_monitor_unref(cpus_);
  for (sd_event_source* source : {requests_, requests_timer_, second_looks_, changes_,
                                  changes_timer_, cgroups_, cgroups_timer_, resctrl_, leases_,
                                  reconcile_, heartbeat_, sweep_, work_, policy_timer_, questions_})
    sd_event_source_unref(source);
  for (sd_event_source* source : policy_) sd_event_source_disable_unref(source);
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
  if (r >= 0 && sources_.classifier != nullptr)
    r = sd_event_add_io(event_, &second_looks_, sources_.classifier->second_looks().fd(), EPOLLIN,
                        on_io<&Loop::look_again>, this);
  if (r >= 0)
    r = sd_event_add_io(event_, &leases_, manager_.core().leases.fd(), EPOLLIN,
                        on_io<&Loop::read_leases>, this);
  if (r >= 0 && sources_.changes)
    r = sd_event_add_io(event_, &changes_, sources_.changes->fd(), EPOLLIN,
                        on_io<&Loop::read_changes>, this);
  if (r >= 0 && sources_.cgroups)
    r = sd_event_add_io(event_, &cgroups_, sources_.cgroups->fd(), EPOLLIN,
                        on_io<&Loop::read_cgroups>, this);
  if (r >= 0 && sources_.resctrl) {
    r = sd_event_add_io(event_, &resctrl_, sources_.resctrl->fd(), EPOLLIN,
                        on_io<&Loop::read_resctrl>, this);
    if (r >= 0) r = sd_event_source_set_ratelimit(resctrl_, resctrl_interval_usec, 1);
  }
  if (r >= 0) r = add_timer(&requests_timer_, on_timer<&Loop::take_requests>);
  if (r >= 0) r = add_timer(&changes_timer_, on_timer<&Loop::resume_changes>);
  if (r >= 0) r = add_timer(&cgroups_timer_, on_timer<&Loop::resume_cgroups>);
  if (r >= 0) r = add_timer(&reconcile_, on_timer<&Loop::reconcile>);
  if (r >= 0) r = add_timer(&heartbeat_, on_timer<&Loop::beat>);
  if (r >= 0) r = add_timer(&sweep_, on_timer<&Loop::sweep_now>);
  if (r >= 0) r = add_timer(&work_, on_timer<&Loop::work>);
  if (r >= 0) r = add_timer(&policy_timer_, on_timer<&Loop::reload_changed>);
  if (r >= 0) r = sd_event_source_set_prepare(work_, before_poll);
  if (r >= 0) r = sd_event_source_set_enabled(work_, SD_EVENT_ON);
  return r < 0 ? r : add_watchdog();
}

int Loop::add_watchdog() {
  uint64_t limit_usec = 0;
  if (const int r = sd_watchdog_enabled(0, &limit_usec); r <= 0) return r;
  watchdog_ =
      std::make_unique<Watchdog>(sources_.in_kernel, [] { (void)sd_notify(0, "WATCHDOG=1"); });
  const int r = sd_event_add_io(event_, &questions_, watchdog_->fd(), EPOLLIN,
                                on_io<&Loop::answer_watchdog>, this);
  return r < 0 ? r : watchdog_->start(microseconds(limit_usec) / 3);
}

Result<void> Loop::prepare(Sources sources) {
  sources_ = std::move(sources);
  events_available_ = sources_.classifier != nullptr;
  manager_.core().state.events_available = events_available_;
  if (const int r = add_sources(); r < 0)
    return std::unexpected(Error{"set up", "the event loop", -r, {}});
  suspended_ = sources_.suspended();
  watch_cpus();
  watch_policy();
  set_timer(heartbeat_, heartbeat_interval_);
  observe();
  log_ = std::make_unique<LogLevels>([this] { manager_.answers().apply_watch(); });
  const Handlers handlers{manager_.changes(), manager_.answers(), *log_};
  auto service = Service::open(event_, handlers, [](const Result<void>& connection) {
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

uint64_t Loop::publish(std::shared_ptr<const RuleTable> table) {
  if (sources_.classifier == nullptr) return 0;
  // A load waits for the answer.
  (void)sd_event_source_set_enabled(requests_, SD_EVENT_ON);
  return sources_.classifier->publish(std::move(table));
}

void Loop::observe() {
  manager_.connect(
      {.before_reload =
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
       .state_changed =
           [this] {
             watch_resctrl();
             report_state();
           },
       .visits_lost = [this] { sweep_soon("too many processes changed"); },
       .on_drift = [this](const std::string& what) { service_->emit_drift(what); },
       .on_lease_ended =
           [this](const std::string& name, const std::string& reason) {
             service_->emit_lease_ended(name, reason);
           },
       .on_assigned = [this](pid_t pid, const std::string& group,
                             const std::string& rule) { report_assigned(pid, group, rule); },
       .watch_assignments =
           [this](bool on) {
             if (sources_.classifier != nullptr) sources_.classifier->watch_assignments(on);
           }},
      [this](std::shared_ptr<const RuleTable> table) { return publish(std::move(table)); });
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

// A reload that does not change the policy's level leaves the one that systemctl service-log-level
// set.
void Loop::take_log_level() {
  const std::string& level = manager_.in_force().policy.daemon.log_level;
  if (level == std::exchange(policy_log_level_, level)) return;
  set_policy_log_level(level);
  manager_.answers().apply_watch();
}

void Loop::rules_changed() {
  rules_changed_since_trim_ = true;
  take_log_level();
  watch_resctrl();
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
  (void)sd_notify(0, fmt::format("STATUS={}", manager_.answers().status_line()).c_str());
  if (const std::string state = manager_.answers().properties().state;
      state != std::exchange(state_, state))
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
  static_cast<Loop*>(self)->reload_changed();
  return 0;
}

int Loop::on_terminate(sd_event_source* source, const signalfd_siginfo*, void*) {
  return sd_event_exit(sd_event_source_get_event(source), 0);
}

void Loop::reconcile() {
  manager_.reconciler().reconcile();
  loaded();
}

void Loop::set_events_available(bool available) {
  manager_.core().state.events_available = available;
  if (available == std::exchange(events_available_, available)) return;
  if (available)
    spdlog::info("process events arrive again");
  else
    spdlog::warn(
        "no process events arrive; subscribing again, and examining all processes meanwhile");
  report_state();
}

// What a load or a burst took is several times what is kept. Not at each beat: the classifier may
// wait for the allocator meanwhile.
void Loop::return_memory() {
  const uint64_t seen = sources_.classifier != nullptr ? sources_.classifier->events_seen() : 0;
  if (!rules_changed_since_trim_ && seen < seen_at_trim_ + events_per_trim) return;
  rules_changed_since_trim_ = false;
  seen_at_trim_ = seen;
  (void)::malloc_trim(0);
}

// A suspend that nobody announced: `echo mem >/sys/power/state`, or a machine without logind. CPUs
// were offline meanwhile, without uevents.
void Loop::notice_suspend() {
  const uint64_t before = std::exchange(suspended_, sources_.suspended());
  if (suspended_ > before + least_suspend_nanoseconds) manager_.reconciler().cpu_changed();
}

void Loop::beat() {
  set_timer(heartbeat_, heartbeat_interval_);
  notice_suspend();
  manager_.store();
  return_memory();
  if (sources_.classifier == nullptr) return;
  State& state = manager_.core().state;
  state.events_seen = sources_.classifier->events_seen();
  state.event_overruns = sources_.classifier->event_overruns() + changes_dropped_;
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
