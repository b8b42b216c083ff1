// Loop: the one sd-event loop of the daemon. It brings signals, timers, the bus, cgroup changes,
// process changes and the classifier's requests to the manager, lets it work in slices, and reports
// to systemd. It decides nothing else.
#pragma once

#include <systemd/sd-device.h>
#include <systemd/sd-event.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/base/clock.hpp"
#include "rdtd/bus/service.hpp"
#include "rdtd/daemon/classifier.hpp"
#include "rdtd/daemon/manager.hpp"
#include "rdtd/daemon/watchdog.hpp"
#include "rdtd/proc/cgroup_watch.hpp"
#include "rdtd/proc/connector.hpp"
#include "rdtd/proc/fork_watch.hpp"
#include "rdtd/resctrl/change_watch.hpp"

namespace rdtd {

class Loop {
 public:
  // What it listens to, beside the bus. Absent parts are reported as missing by `start`.
  struct Sources {
    int requests_fd = -1;              // of the classifier
    Classifier* classifier = nullptr;  // null: no process events
    std::optional<Connector> changes;  // renames and changes of user
    std::optional<proc::ForkWatch> forks;
    std::unique_ptr<CgroupWatch> cgroups;
    std::unique_ptr<resctrl::ChangeWatch> resctrl;
    std::vector<std::string> policy_directories;  // a change in one of them reloads the policy
    // How long the machine was suspended since it booted, in nanoseconds.
    std::function<uint64_t()> suspended = suspended_nanoseconds;
    // Whether the loop thread is in a call of the kernel that may wait. Any thread may ask.
    std::function<bool()> in_kernel = [] { return false; };
  };
  // `heartbeat_interval`: how often it checks that process events arrive.
  explicit Loop(Manager& manager,
                std::chrono::milliseconds heartbeat_interval = std::chrono::seconds(10))
      : manager_(manager), heartbeat_interval_(heartbeat_interval) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  [[nodiscard]] Result<void> prepare(Sources sources);
  // Loads the policy, then runs until asked to stop. Returns the exit status.
  [[nodiscard]] int run();

 private:
  template <void (Loop::*handler)()>
  static int on_timer(sd_event_source*, uint64_t, void* self) {
    (static_cast<Loop*>(self)->*handler)();
    return 0;
  }
  template <void (Loop::*handler)()>
  static int on_io(sd_event_source*, int, uint32_t, void* self) {
    (static_cast<Loop*>(self)->*handler)();
    return 0;
  }
  [[nodiscard]] int add_timer(sd_event_source** source, sd_event_time_handler_t handler);
  static void set_timer(sd_event_source* source, std::chrono::microseconds delay);
  [[nodiscard]] int add_sources();
  [[nodiscard]] int add_watchdog();
  // A change that will never end is as bad as a loop that hangs.
  void answer_watchdog() {
    if (!manager_.stuck()) watchdog_->answer();
  }
  void observe();
  [[nodiscard]] uint64_t publish(std::shared_ptr<const RuleTable> table);

  void take_requests();
  void look_again();
  [[nodiscard]] bool update_forks(size_t worth_reading);
  void read_changes();
  void resume_changes();
  void read_cgroups();
  void resume_cgroups();
  void report_unwatched();
  void read_resctrl();
  void read_leases() { manager_.leases().end_abandoned(); }
  void watch_resctrl();
  void watch_policy();
  static int on_policy_change(sd_event_source*, const inotify_event*, void* self);
  void reload_changed() {
    manager_.changes().reload([](const auto&) {});  // the manager logs and shows its error
  }
  void watch_cpus();
  static int on_cpu(sd_device_monitor*, sd_device* device, void* self);
  void reconcile();
  void beat();
  void notice_suspend();
  void return_memory();
  void sweep_now();
  void work();
  static int before_poll(sd_event_source*, void* self);
  static int on_hangup(sd_event_source*, const signalfd_siginfo*, void* self);
  static int on_terminate(sd_event_source*, const signalfd_siginfo*, void* self);

  void sweep_soon(const char* why);
  void note_loss();
  void set_events_available(bool available);
  void rules_changed();
  void take_log_level();
  void watch_cgroups();
  [[nodiscard]] CgroupWatch::InterestIn interest() const;
  void started(const std::expected<void, Refusal>& loaded);
  void loaded();
  void report_state();
  void report_assigned(pid_t pid, const std::string& group, const std::string& rule);

  Manager& manager_;
  std::chrono::milliseconds heartbeat_interval_;
  Sources sources_;
  std::unique_ptr<LogControl> log_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Watchdog> watchdog_;
  sd_event* event_ = nullptr;
  sd_event_source* requests_ = nullptr;
  sd_event_source* requests_timer_ = nullptr;
  sd_event_source* second_looks_ = nullptr;
  sd_event_source* changes_ = nullptr;
  sd_event_source* changes_timer_ = nullptr;
  sd_event_source* cgroups_ = nullptr;
  sd_event_source* cgroups_timer_ = nullptr;
  sd_event_source* resctrl_ = nullptr;
  sd_event_source* leases_ = nullptr;
  sd_device_monitor* cpus_ = nullptr;
  sd_event_source* reconcile_ = nullptr;
  sd_event_source* heartbeat_ = nullptr;
  sd_event_source* sweep_ = nullptr;
  sd_event_source* work_ = nullptr;
  sd_event_source* policy_timer_ = nullptr;
  sd_event_source* questions_ = nullptr;
  std::vector<sd_event_source*> policy_;
  std::chrono::steady_clock::time_point next_sweep_{}, last_loss_log_{}, next_unwatched_log_{},
      next_fork_update_{};
  const char* sweep_reason_ = nullptr;  // a look at all processes waits, or is under way
  const char* sweep_again_ = nullptr;   // another one was asked for meanwhile
  uint64_t drops_logged_ = 0;           // process events
  uint64_t classifier_drops_ = 0, changes_dropped_ = 0;
  uint64_t seen_at_trim_ = 0;
  uint64_t suspended_ = 0;  // nanoseconds, at the last beat
  bool rules_changed_since_trim_ = false;
  bool events_available_ = true;
  bool unwatched_logged_ = false;  // files of resctrl
  bool walk_in_parts_ = false;     // the walk over the cgroups took more than one call so far
  bool more_cgroups_ = false;      // to be looked at without an event
  std::string state_;
  std::string policy_log_level_;
};

}  // namespace rdtd
