// Loop: the one sd-event loop of the daemon. It brings signals, timers, the bus and what happens to
// processes and to the machine to the manager, lets it work in slices, and reports to systemd. It
// decides nothing else.
#pragma once

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
#include "rdtd/daemon/cgroup_changes.hpp"
#include "rdtd/daemon/classifier_events.hpp"
#include "rdtd/daemon/container_changes.hpp"
#include "rdtd/daemon/event_source.hpp"
#include "rdtd/daemon/losses.hpp"
#include "rdtd/daemon/machine_changes.hpp"
#include "rdtd/daemon/manager.hpp"
#include "rdtd/daemon/process_changes.hpp"
#include "rdtd/daemon/watchdog.hpp"

namespace rdtd {

class LogLevels;

class Loop {
 public:
  // The sources of events, beside the bus. Absent parts are reported as missing by `start`.
  struct Sources {
    int requests_fd = -1;              // of the classifier
    Classifier* classifier = nullptr;  // null: no process events
    std::optional<Connector> changes;  // renames and changes of user
    std::optional<proc::ForkWatch> forks;
    std::unique_ptr<CgroupWatch> cgroups;
    std::shared_ptr<proc::Containers> containers;
    std::unique_ptr<resctrl::ChangeWatch> resctrl;
    std::vector<std::string> policy_directories;
    MachineChanges::Suspended suspended = suspended_nanoseconds;
    // Whether the loop thread is in a call of the kernel that may wait. Any thread may ask.
    std::function<bool()> in_kernel = [] { return false; };
    // Whether the resctrl that is open is mounted nowhere any more.
    std::function<bool()> unmounted = [] { return false; };
  };
  // `heartbeat_interval`: how often it checks that process events arrive, and reports that it is
  // alive, which is more often if systemd's watchdog waits for less.
  explicit Loop(Manager& manager,
                std::chrono::milliseconds heartbeat_interval = std::chrono::seconds(10));
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  [[nodiscard]] Result<void> prepare(Sources sources);
  // Loads the policy, then runs until asked to stop. Returns the exit status.
  [[nodiscard]] int run();

 private:
  // The handlers of events of processes, and the timers of the loop itself.
  struct Processes {
    explicit Processes(Manager& manager)
        : losses(manager),
          classifier(manager, losses),
          changes(manager, losses),
          cgroups(manager, losses),
          containers(manager, losses) {}
    Losses losses;
    ClassifierEvents classifier;
    ProcessChanges changes;
    CgroupChanges cgroups;
    ContainerChanges containers;
  };
  struct Timers {
    Timer reconcile, heartbeat, alive;
    std::chrono::microseconds alive_interval{};  // that the watchdog needs
    Readable leases;
    Due work;
  };
  [[nodiscard]] int attach(Sources sources);
  [[nodiscard]] int attach_signals();
  [[nodiscard]] int attach_watchdog(std::function<bool()> in_kernel);
  void connect();
  void work();
  void beat();
  void report_alive();
  void return_memory();
  void rules_changed();
  void started(const std::expected<void, Refusal>& loaded);
  void loaded();
  void report_state();

  Manager& manager_;
  std::chrono::milliseconds heartbeat_interval_;
  sd_event* event_ = nullptr;
  std::unique_ptr<Processes> processes_;
  std::unique_ptr<MachineChanges> machine_;
  std::unique_ptr<Timers> timers_;
  std::unique_ptr<LogLevels> log_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Watchdog> watchdog_;
  uint64_t seen_at_trim_ = 0;  // process events
  bool rules_changed_since_trim_ = false;
  std::function<bool()> unmounted_;
};

}  // namespace rdtd
