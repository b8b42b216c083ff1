#include "rdtd/daemon/loop.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "log.hpp"
#include "rdtd/bus/service.hpp"
#include "rdtd/daemon/manager.hpp"
#include "rdtd/proc/cgroup_watch.hpp"

namespace rdtd {

namespace {

constexpr uint64_t heartbeat_interval = 10'000'000;  // microseconds
// A storm of processes overruns the kernel's queue again and again; the log hears of it so often at
// most.
constexpr uint64_t loss_log_interval = 60'000'000;  // microseconds
constexpr int exit_no_resctrl = 69;                 // EX_UNAVAILABLE
constexpr int exit_bad_policy = 78;                 // EX_CONFIG

uint64_t monotonic_usec() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

class Loop {
 public:
  explicit Loop(Manager& manager) : manager_(manager) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  [[nodiscard]] Result<void> prepare(int requests_fd, Classifier* classifier,
                                     std::unique_ptr<CgroupWatch> cgroups);
  [[nodiscard]] int run();

 private:
  using Timer = int (*)(sd_event_source*, uint64_t, void*);
  [[nodiscard]] int add_timer(sd_event_source** source, uint64_t delay, Timer callback);
  void watch_cgroups();
  void take_log_level();
  void after_reload(bool success);
  void log_loss();
  void tell_assigned(pid_t pid, const std::string& group, const std::string& rule);
  static int on_hangup(sd_event_source*, const signalfd_siginfo*, void* self);
  static int on_terminate(sd_event_source*, const signalfd_siginfo*, void* self);
  static int on_requests(sd_event_source*, int fd, uint32_t, void* self);
  static int on_cgroups(sd_event_source*, int, uint32_t, void* self);
  static int on_reconcile(sd_event_source*, uint64_t now, void* self);
  static int on_heartbeat(sd_event_source*, uint64_t now, void* self);

  Manager& manager_;
  Classifier* classifier_ = nullptr;
  std::unique_ptr<CgroupWatch> cgroups_;
  std::unique_ptr<Service> service_;
  sd_event* event_ = nullptr;
  sd_event_source* reconcile_ = nullptr;
  sd_event_source* heartbeat_ = nullptr;
  uint64_t loss_logged_ = 0;   // CLOCK_MONOTONIC, microseconds; 0: never
  uint64_t dropped_told_ = 0;  // process events
  bool events_alive_ = true;
  std::string policy_log_level_;
};

Loop::~Loop() {
  service_.reset();
  sd_event_source_unref(reconcile_);
  sd_event_source_unref(heartbeat_);
  sd_event_unref(event_);
}

int Loop::add_timer(sd_event_source** source, uint64_t delay, Timer callback) {
  const int r =
      sd_event_add_time_relative(event_, source, CLOCK_MONOTONIC, delay, 0, callback, this);
  return r < 0 ? r : sd_event_source_set_enabled(*source, SD_EVENT_ON);
}

Result<void> Loop::prepare(int requests_fd, Classifier* classifier,
                           std::unique_ptr<CgroupWatch> cgroups) {
  classifier_ = classifier;
  cgroups_ = std::move(cgroups);
  int r = sd_event_default(&event_);
  for (const auto& [signal, handler] : {std::pair{SIGHUP, &Loop::on_hangup},
                                        {SIGTERM, &Loop::on_terminate},
                                        {SIGINT, &Loop::on_terminate}})
    if (r >= 0) r = sd_event_add_signal(event_, nullptr, signal, handler, this);
  if (r >= 0) r = sd_event_add_io(event_, nullptr, requests_fd, EPOLLIN, on_requests, this);
  if (r >= 0 && cgroups_)
    r = sd_event_add_io(event_, nullptr, cgroups_->fd(), EPOLLIN, on_cgroups, this);
  if (r >= 0 && classifier_ != nullptr)
    r = add_timer(&heartbeat_, heartbeat_interval, on_heartbeat);
  if (r >= 0) r = sd_event_set_watchdog(event_, 1);
  if (r < 0) return std::unexpected(Error{"set up", "the event loop", -r, {}});
  manager_.observe(
      {.before_reload =
           [] {
             (void)sd_notify(0, fmt::format("RELOADING=1\nMONOTONIC_USEC={}\nSTATUS=Reloading",
                                            monotonic_usec())
                                    .c_str());
           },
       .rules_changed =
           [this] {
             take_log_level();
             watch_cgroups();
           },
       .groups_changed =
           [this] {
             if (service_) service_->emit_groups();
           },
       .after_reload = [this](bool success) { after_reload(success); },
       .on_drift =
           [this](const std::string& what) {
             if (service_) service_->emit_drift(what);
           },
       .on_assigned = [this](pid_t pid, const std::string& group,
                             const std::string& rule) { tell_assigned(pid, group, rule); }});
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

// A reload that does not change the policy's level leaves the one that systemctl service-log-level
// set.
void Loop::take_log_level() {
  if (const std::string& level = manager_.settings().log_level;
      level != std::exchange(policy_log_level_, level)) {
    set_policy_log_level(level);
    manager_.apply_watch();
  }
}

void Loop::watch_cgroups() {
  if (!cgroups_) return;
  if (const auto watched = cgroups_->watch(
          [this](const std::string& path) { return manager_.cgroup_matters(path); });
      !watched)
    spdlog::warn("{}; moves between cgroups are seen at the next reconcile only",
                 watched.error().text());
}

void Loop::after_reload(bool success) {
  if (success) {
    sd_event_source_unref(std::exchange(reconcile_, nullptr));
    const auto interval = static_cast<uint64_t>(manager_.settings().reconcile_interval.count());
    if (interval > 0 && add_timer(&reconcile_, interval, on_reconcile) < 0)
      spdlog::warn("cannot set the timer for reconciling, ignoring");
  }
  (void)sd_notify(0, fmt::format("READY=1\nSTATUS={}", manager_.status_line()).c_str());
  if (service_) service_->emit_reloaded(success);
}

int Loop::on_hangup(sd_event_source*, const signalfd_siginfo*, void* self) {
  (void)static_cast<Loop*>(self)->manager_.reload();  // its error is logged and told by the manager
  return 0;
}

int Loop::on_terminate(sd_event_source* source, const signalfd_siginfo*, void*) {
  return sd_event_exit(sd_event_source_get_event(source), 0);
}

int Loop::on_requests(sd_event_source*, int fd, uint32_t, void* self) {
  eventfd_t requests = 0;
  (void)::eventfd_read(fd, &requests);
  auto& loop = *static_cast<Loop*>(self);
  const Classifier::Requests wanted = loop.classifier_->take_requests();
  for (const Classifier::Assigned& assigned : wanted.assigned)
    loop.tell_assigned(assigned.pid, assigned.group, assigned.rule);
  if (wanted.untold > 0) spdlog::debug("{} more assignments", wanted.untold);
  if (wanted.rescan) {
    loop.log_loss();
    loop.manager_.scan("the kernel dropped process events");
  }
  return 0;
}

void Loop::log_loss() {
  const uint64_t now = monotonic_usec(), dropped = manager_.properties().event_overruns;
  if (loss_logged_ != 0 && now - loss_logged_ < loss_log_interval) return;
  log(Happening::events_lost,
      fmt::format("the kernel dropped {} process events; all processes are looked at instead",
                  dropped - std::exchange(dropped_told_, dropped)));
  loss_logged_ = now;
}

void Loop::tell_assigned(pid_t pid, const std::string& group, const std::string& rule) {
  if (logs_assignments()) log_assignment(pid, group, rule);
  if (service_) service_->emit_assigned(pid, group, rule);
}

int Loop::on_cgroups(sd_event_source*, int, uint32_t, void* self) {
  auto& loop = *static_cast<Loop*>(self);
  const CgroupWatch::Changes changes = loop.cgroups_->read_changes();
  if (changes.lost)
    loop.manager_.scan("cgroup changes were lost");
  else
    loop.manager_.classify(changes.processes);
  return 0;
}

int Loop::on_reconcile(sd_event_source* source, uint64_t now, void* self) {
  auto& loop = *static_cast<Loop*>(self);
  const std::string before = loop.manager_.properties().state;
  loop.manager_.reconcile();
  if (loop.service_ && loop.manager_.properties().state != before) loop.service_->emit_state();
  (void)sd_notify(0, fmt::format("STATUS={}", loop.manager_.status_line()).c_str());
  return sd_event_source_set_time(
      source, now + static_cast<uint64_t>(loop.manager_.settings().reconcile_interval.count()));
}

int Loop::on_heartbeat(sd_event_source* source, uint64_t now, void* self) {
  auto& loop = *static_cast<Loop*>(self);
  loop.manager_.store();
  const bool alive = loop.classifier_->heartbeat();
  loop.manager_.set_events_available(alive);
  if (alive != std::exchange(loop.events_alive_, alive)) {
    if (alive)
      spdlog::info("process events come again");
    else
      spdlog::warn(
          "no process events for {} s; subscribing anew, and looking at all processes until they "
          "come",
          heartbeat_interval / 1'000'000);
    if (loop.service_) loop.service_->emit_state();
  }
  if (!alive) {
    if (const auto subscribed = loop.classifier_->resubscribe(); !subscribed)
      spdlog::debug("{}", subscribed.error().text());
    loop.manager_.scan("process events did not come");
  }
  return sd_event_source_set_time(source, now + heartbeat_interval);
}

int Loop::run() {
  const int r = sd_event_loop(event_);
  (void)sd_notify(0, "STOPPING=1");
  return r < 0 ? 1 : r;
}

// The first folder that is a unified cgroup hierarchy.
std::unique_ptr<CgroupWatch> open_cgroups(const std::vector<std::string>& candidates) {
  for (const std::string& candidate : candidates) {
    auto root = Directory::open(candidate);
    if (!root || !root->open_file("cgroup.controllers", O_RDONLY)) continue;
    auto watch = CgroupWatch::open(std::move(*root));
    if (watch) return std::make_unique<CgroupWatch>(std::move(*watch));
    spdlog::warn("{}", watch.error().text());
  }
  spdlog::warn(
      "no unified cgroup hierarchy is mounted: moves between cgroups are seen at the next "
      "reconcile only");
  return nullptr;
}

Result<std::unique_ptr<Manager>> make_manager(const Surroundings& surroundings) {
  auto tree = Tree::open(surroundings.resctrl);
  if (!tree) return std::unexpected(tree.error());
  auto proc = Directory::open(surroundings.proc);
  if (!proc) return std::unexpected(proc.error());
  std::error_code made;
  std::filesystem::create_directories(surroundings.state, made);
  auto state = Directory::open(surroundings.state);
  if (!state) return std::unexpected(state.error());
  auto record = Directory::open(surroundings.state);
  if (!record) return std::unexpected(record.error());
  auto ownership = Ownership::load(std::move(*record));
  if (!ownership) return std::unexpected(ownership.error());
  if (auto locked = ownership->lock(); !locked) return std::unexpected(locked.error());
  return std::make_unique<Manager>(surroundings.policy_root, std::move(*tree),
                                   std::move(*ownership), std::move(*state),
                                   ProcFs(std::move(*proc)));
}

int fail(const Error& error, int status) {
  spdlog::error("{}", error.text());
  (void)sd_notify(0, fmt::format("STATUS={}\nERRNO={}", error.text(), error.code).c_str());
  return status;
}

}  // namespace

int run_daemon(const Surroundings& surroundings) {
  open_log();
  auto manager = make_manager(surroundings);
  if (!manager)
    return fail(manager.error(), manager.error().code == ENODEV || manager.error().code == ENOENT
                                     ? exit_no_resctrl
                                     : 1);
  auto proc = Directory::open(surroundings.proc);
  if (!proc) return fail(proc.error(), 1);
  const ProcFs classifier_proc(std::move(*proc));

  // Before the first thread, so that every thread leaves these signals to the loop.
  sigset_t blocked;
  (void)::sigemptyset(&blocked);
  for (const int signal : {SIGHUP, SIGTERM, SIGINT}) (void)::sigaddset(&blocked, signal);
  (void)::sigprocmask(SIG_BLOCK, &blocked, nullptr);

  // Subscribed before the first look at the processes, so that none slips in between.
  const UniqueFd requests(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  auto connector = Connector::open(surroundings.receive_buffer);
  auto subscribed = connector ? connector->subscribe(std::chrono::seconds(2))
                              : std::unexpected(connector.error());
  std::optional<Classifier> classifier;
  if (subscribed) {
    classifier.emplace(std::move(*connector), classifier_proc, requests.get());
    (*manager)->use(*classifier);
  } else {
    spdlog::warn("process events unavailable: {}; processes are found at each reconcile only",
                 subscribed.error().text());
    (*manager)->set_events_available(false);
  }
  // The unit starts the daemon under a real-time policy for the classifier's sake; this thread is
  // an ordinary one.
  const sched_param ordinary{0};
  if (::sched_setscheduler(0, SCHED_OTHER, &ordinary) < 0)
    spdlog::warn("cannot leave the real-time policy: {}, ignoring", std::strerror(errno));

  int status = 1;
  {
    Loop loop(**manager);
    if (const auto prepared = loop.prepare(requests.get(), classifier ? &*classifier : nullptr,
                                           open_cgroups(surroundings.cgroups));
        !prepared)
      return fail(prepared.error(), 1);
    if (const auto started = (*manager)->start(); !started)
      return started.error().where.file.empty() ? 1 : exit_bad_policy;
    status = loop.run();
  }
  (*manager)->store();
  // Where the loop failed, the next rdtd takes over.
  if (status == 0 && (*manager)->settings().on_stop == OnStop::remove)
    if (const auto removed = (*manager)->remove_all(); !removed) return fail(removed.error(), 1);
  return status;
}

}  // namespace rdtd
