#include "rdtd/daemon/machine_changes.hpp"

#include <spdlog/spdlog.h>

#include <set>
#include <utility>

#include "rdtd/base/error.hpp"

namespace rdtd {

namespace {

// Changes in resctrl are read at most so often.
constexpr std::chrono::milliseconds resctrl_interval(20);
// The two clocks are not read at the same time.
constexpr uint64_t least_suspend_nanoseconds = 1'000'000'000;

}  // namespace

MachineChanges::~MachineChanges() { sd_device_monitor_unref(cpus_); }

int MachineChanges::attach(sd_event* event, std::unique_ptr<resctrl::ChangeWatch> resctrl,
                           const std::vector<std::string>& policy_directories,
                           Suspended suspended) {
  resctrl_ = std::move(resctrl);
  suspended_ = std::move(suspended);
  suspended_before_ = suspended_();
  int r = policy_.attach(event, policy_directories, [this] {
    manager_.reload_changed();  // its error is logged and shown
  });
  if (r >= 0 && resctrl_) {
    r = resctrl_changed_.attach(event, resctrl_->fd(), [this] {
      const auto [groups, others] = resctrl_->read_changes();
      manager_.reconciler().resctrl_changed(groups);
      if (others) manager_.reconciler().others_changed();
    });
    if (r >= 0) r = resctrl_changed_.limit_to_one_in(resctrl_interval);
  }
  if (r < 0) return r;
  watch_cpus(event);
  return 0;
}

// The kernel sends a uevent for each CPU that goes or comes; udev passes it on.
void MachineChanges::watch_cpus(sd_event* event) {
  int r = sd_device_monitor_new(&cpus_);
  if (r >= 0) r = sd_device_monitor_filter_add_match_subsystem_devtype(cpus_, "cpu", nullptr);
  if (r >= 0) r = sd_device_monitor_attach_event(cpus_, event);
  if (r >= 0) r = sd_device_monitor_start(cpus_, on_cpu, this);
  if (r < 0)
    spdlog::warn("{}; CPUs that go or come are noticed at each reconcile only",
                 Error{"watch", "the CPUs", -r, {}}.text());
}

// `udevadm trigger` sends "change" for CPUs that stay.
int MachineChanges::on_cpu(sd_device_monitor*, sd_device* device, void* self) {
  sd_device_action_t action{};
  if (sd_device_get_action(device, &action) >= 0 &&
      (action == SD_DEVICE_ONLINE || action == SD_DEVICE_OFFLINE || action == SD_DEVICE_ADD ||
       action == SD_DEVICE_REMOVE))
    static_cast<MachineChanges*>(self)->manager_.reconciler().cpu_changed();
  return 0;
}

void MachineChanges::follow_groups() {
  if (!resctrl_) return;
  std::set<std::string> groups;
  for (const GroupTarget& group : manager_.in_force().groups)
    if (!manager_.in_force().taken.contains(group.directory)) groups.insert(group.directory);
  for (const LockTarget& lock : manager_.in_force().locks) groups.insert(lock.region.group);
  if (const IoTarget& io = manager_.in_force().io) groups.insert(io->directory);
  const auto watched = resctrl_->watch(groups);
  if (watched && *watched) manager_.reconciler().others_changed();
  if (!watched && !std::exchange(unwatched_logged_, true))
    spdlog::warn("{}; changes by other tools are found at each reconcile only",
                 watched.error().text());
}

// A suspend that nobody announced: `echo mem >/sys/power/state`, or a machine without logind. CPUs
// were offline meanwhile, without uevents.
void MachineChanges::beat() {
  policy_.follow();
  const uint64_t before = std::exchange(suspended_before_, suspended_());
  if (suspended_before_ > before + least_suspend_nanoseconds) manager_.reconciler().cpu_changed();
}

}  // namespace rdtd
