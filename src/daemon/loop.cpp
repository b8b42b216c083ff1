#include "rdtd/daemon/loop.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "log.hpp"

namespace rdtd {

namespace {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC, as sd-event's timers here

// How long the manager works before others have their turn.
constexpr std::chrono::milliseconds slice_length(50);
// A burst of so many events may have taken memory.
constexpr uint64_t events_per_trim = 10'000;
// A wait of the loop that fails is tried again, so often, after a pause.
constexpr int max_failed_waits = 50;
constexpr timespec pause_after_failed_wait{.tv_sec = 0, .tv_nsec = 100'000'000};
constexpr int exit_bad_policy = 78;  // EX_CONFIG
constexpr int exit_try_again = 1;    // systemd starts the daemon again

int on_hangup(sd_event_source*, const signalfd_siginfo*, void* manager) {
  static_cast<Manager*>(manager)->changes().reload([](const auto&) {});
  return 0;
}

int on_terminate(sd_event_source* source, const signalfd_siginfo*, void*) {
  return sd_event_exit(sd_event_source_get_event(source), 0);
}

void notify_reloading() {
  const auto now =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch());
  (void)sd_notify(
      0, fmt::format("RELOADING=1\nMONOTONIC_USEC={}\nSTATUS=Reloading", now.count()).c_str());
}

}  // namespace

Loop::Loop(Manager& manager, std::chrono::milliseconds heartbeat_interval)
    : manager_(manager), heartbeat_interval_(heartbeat_interval) {}

// The sources go before the loop that they are attached to.
Loop::~Loop() {
  service_.reset();
  timers_.reset();
  machine_.reset();
  processes_.reset();
  watchdog_.reset();
  sd_event_unref(event_);
}

int Loop::attach_signals() {
  int r = 0;
  for (const auto& [signal, handler] :
       {std::pair{SIGHUP, &on_hangup}, {SIGTERM, &on_terminate}, {SIGINT, &on_terminate}})
    if (r >= 0) r = sd_event_add_signal(event_, nullptr, signal, handler, &manager_);
  return r;
}

int Loop::attach(Sources sources) {
  int r = sd_event_default(&event_);
  if (r >= 0) r = attach_signals();
  if (r >= 0) r = processes_->losses.attach(event_);
  if (r >= 0)
    r = processes_->classifier.attach(event_, sources.requests_fd, sources.classifier,
                                      std::move(sources.forks));
  if (r >= 0) r = processes_->changes.attach(event_, std::move(sources.changes));
  if (r >= 0) r = processes_->cgroups.attach(event_, std::move(sources.cgroups));
  if (r >= 0) r = processes_->containers.attach(event_, std::move(sources.containers));
  if (r >= 0)
    r = machine_->attach(event_, std::move(sources.resctrl), sources.policy_directories,
                         std::move(sources.suspended));
  if (r >= 0)
    r = timers_->leases.attach(event_, manager_.core().leases.fd(),
                               [this] { manager_.leases().end_abandoned(); });
  if (r >= 0)
    r = timers_->reconcile.attach(event_, [this] {
      processes_->containers.refresh();
      manager_.reconciler().reconcile();
      loaded();
    });
  if (r >= 0) r = timers_->heartbeat.attach(event_, [this] { beat(); });
  if (r >= 0)
    r = timers_->work.attach(event_, [this] { return manager_.next_due(); }, [this] { work(); });
  return r < 0 ? r : attach_watchdog(std::move(sources.in_kernel));
}

void Loop::work() { manager_.step(Clock::now() + slice_length); }

int Loop::attach_watchdog(std::function<bool()> in_kernel) {
  uint64_t limit_usec = 0;
  if (const int r = sd_watchdog_enabled(0, &limit_usec); r <= 0) return r;
  watchdog_ =
      std::make_unique<Watchdog>(std::move(in_kernel), [] { (void)sd_notify(0, "WATCHDOG=1"); });
  const auto interval = std::chrono::microseconds(limit_usec) / 3;
  timers_->alive_interval = interval;
  const int r = timers_->alive.attach(event_, [this] { report_alive(); });
  // Else the heartbeat is often enough, and nobody wakes up for it.
  if (interval < heartbeat_interval_) timers_->alive.set(interval);
  return r < 0 ? r : watchdog_->start(interval);
}

Result<void> Loop::prepare(Sources sources) {
  processes_ = std::make_unique<Processes>(manager_);
  machine_ = std::make_unique<MachineChanges>(manager_);
  timers_ = std::make_unique<Timers>();
  unmounted_ = std::move(sources.unmounted);
  if (const int r = attach(std::move(sources)); r < 0)
    return std::unexpected(Error{"set up", "the event loop", -r, {}});
  timers_->heartbeat.set(heartbeat_interval_);
  connect();
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

void Loop::connect() {
  manager_.connect(
      {.before_reload = notify_reloading,
       .rules_changed = [this] { rules_changed(); },
       .after_reload =
           [this](bool success) {
             if (success) loaded();
             if (success) processes_->cgroups.retry_skipped();
             report_state();
             (void)sd_notify(0, "READY=1");
             service_->emit_reloaded(success);
           },
       .groups_changed = [this] { service_->emit_groups(); },
       .state_changed =
           [this] {
             machine_->follow_groups();
             report_state();
           },
       .visits_lost = [this] { processes_->losses.look_at_all("too many processes changed"); },
       .on_drift = [this](const std::string& what) { service_->emit_drift(what); },
       .on_lease_ended =
           [this](const std::string& name, const std::string& reason) {
             service_->emit_lease_ended(name, reason);
           },
       .on_assigned =
           [this](pid_t pid, const std::string& group, const std::string& rule) {
             if (logs_assignments()) log_assignment(pid, group, rule);
             service_->emit_assigned(pid, group, rule);
           },
       .watch_assignments = [this](bool on) { processes_->classifier.watch_assignments(on); },
       .count_events = [this] { processes_->classifier.count(); }},
      [this](std::shared_ptr<const RuleTable> table) {
        return processes_->classifier.publish(std::move(table));
      });
}

void Loop::rules_changed() {
  rules_changed_since_trim_ = true;
  log_->follow_policy(manager_.in_force().policy.daemon.log_level);
  machine_->follow_groups();
  processes_->cgroups.follow_rules();
  processes_->containers.refresh();
}

void Loop::loaded() {
  const auto interval = manager_.in_force().policy.daemon.reconcile_interval;
  if (interval > std::chrono::microseconds::zero())
    timers_->reconcile.set(interval);
  else
    timers_->reconcile.enable(false);
}

void Loop::report_state() {
  (void)sd_notify(0, fmt::format("STATUS={}", manager_.answers().status_line()).c_str());
  service_->emit_state(manager_.answers().properties().state);
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

// A load or a burst takes several times the memory that is kept. Not at each beat: the classifier
// may wait for the allocator meanwhile.
void Loop::return_memory() {
  const uint64_t seen = processes_->classifier.seen();
  if (!rules_changed_since_trim_ && seen < seen_at_trim_ + events_per_trim) return;
  rules_changed_since_trim_ = false;
  seen_at_trim_ = seen;
  (void)::malloc_trim(0);
}

void Loop::beat() {
  timers_->heartbeat.set(heartbeat_interval_);
  // Nobody else sees this tree, and while it is open, no other one can be mounted. systemd ends the
  // daemon itself: elsewhere, as in a container, nobody does.
  if (unmounted_()) {
    spdlog::error(
        "resctrl was unmounted: rdtd ends, and has to be started again once it is mounted");
    (void)sd_event_exit(event_, exit_try_again);
    return;
  }
  machine_->beat();
  manager_.store();
  return_memory();
  processes_->classifier.beat();
  work();
  report_alive();
}

// A change that will never end is as bad as a loop that hangs.
void Loop::report_alive() {
  if (!watchdog_) return;
  if (!manager_.stuck()) watchdog_->come_round();
  if (timers_->alive_interval < heartbeat_interval_) timers_->alive.set(timers_->alive_interval);
}

int Loop::run() {
  manager_.start([this](const std::expected<void, Refusal>& result) { started(result); });
  int r = 0, failed = 0;
  while (sd_event_get_state(event_) != SD_EVENT_FINISHED && failed < max_failed_waits) {
    r = sd_event_run(event_, UINT64_MAX);
    failed = r < 0 ? failed + 1 : 0;
    if (failed == 1) spdlog::warn("the event loop: {}; trying again", std::strerror(-r));
    if (failed > 0) (void)::nanosleep(&pause_after_failed_wait, nullptr);
  }
  (void)sd_notify(0, "STOPPING=1");
  if (r < 0) {
    spdlog::error("the event loop failed: {}", std::strerror(-r));
    return 1;
  }
  int status = 0;
  (void)sd_event_get_exit_code(event_, &status);
  return status;
}

}  // namespace rdtd
