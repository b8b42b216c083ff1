#include "rdtd/daemon/machine_changes.hpp"

#include <spdlog/spdlog.h>
#include <sys/inotify.h>

#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "rdtd/base/error.hpp"

namespace rdtd {

namespace {

// Changes in resctrl are read at most so often.
constexpr std::chrono::milliseconds resctrl_interval(20);
// A change of a policy has this long to become complete.
constexpr std::chrono::seconds policy_interval(1);
// The two clocks are not read at the same time.
constexpr uint64_t least_suspend_nanoseconds = 1'000'000'000;

}  // namespace

MachineChanges::~MachineChanges() {
  for (sd_event_source* source : policy_) sd_event_source_disable_unref(source);
  sd_device_monitor_unref(cpus_);
}

int MachineChanges::attach(sd_event* event, std::unique_ptr<resctrl::ChangeWatch> resctrl,
                           const std::vector<std::string>& policy_directories,
                           Suspended suspended) {
  resctrl_ = std::move(resctrl);
  suspended_ = std::move(suspended);
  suspended_before_ = suspended_();
  int r = reload_.attach(event, [this] {
    manager_.changes().reload([](const auto&) {});  // its error is logged and shown
  });
  if (r >= 0 && resctrl_) {
    r = resctrl_changed_.attach(event, resctrl_->fd(), [this] {
      manager_.reconciler().resctrl_changed(resctrl_->read_changes());
    });
    if (r >= 0) r = resctrl_changed_.limit_to_one_in(resctrl_interval);
  }
  if (r < 0) return r;
  watch_cpus(event);
  watch_policy(event, policy_directories);
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

void MachineChanges::watch_policy(sd_event* event, const std::vector<std::string>& directories) {
  std::string watched;
  for (const std::string& path : directories) {
    sd_event_source* source = nullptr;
    const int r = sd_event_add_inotify(
        event, &source, path.c_str(),
        IN_ONLYDIR | IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE,
        on_policy_change, this);
    if (r >= 0) policy_.push_back(source);
    if (r >= 0) watched += (watched.empty() ? "" : ", ") + path;
    if (r < 0 && r != -ENOENT) spdlog::warn("{}", Error{"watch", path, -r, {}}.text());
  }
  if (!watched.empty()) spdlog::info("reloading the policy when a file changes in {}", watched);
  if (watched.empty() && !directories.empty())
    spdlog::warn("there is no directory of policy files to watch");
}

// Files of ConfigMaps are links over ..data, which is replaced (AtomicWriter in pkg/volume/util of
// Kubernetes). /run/rdtd has files that rdtd itself writes.
int MachineChanges::on_policy_change(sd_event_source*, const inotify_event* event, void* self) {
  const std::string_view name(event->name, ::strnlen(event->name, event->len));
  const bool lost = (event->mask & IN_Q_OVERFLOW) != 0;
  if (!lost && !name.ends_with(".toml") && name != "..data") return 0;
  Timer& reload = static_cast<MachineChanges*>(self)->reload_;
  // One that waits already is not put off: a file that changes all the time is read nevertheless.
  if (!reload.is_set()) reload.set(policy_interval);
  return 0;
}

void MachineChanges::follow_groups() {
  if (!resctrl_) return;
  std::set<std::string> groups;
  for (const GroupTarget& group : manager_.in_force().groups)
    if (!manager_.in_force().taken.contains(group.directory)) groups.insert(group.directory);
  if (const IoTarget& io = manager_.in_force().io) groups.insert(io->directory);
  const auto watched = resctrl_->watch(groups);
  if (!watched && !std::exchange(unwatched_logged_, true))
    spdlog::warn("{}; changes by other tools are found at each reconcile only",
                 watched.error().text());
}

// A suspend that nobody announced: `echo mem >/sys/power/state`, or a machine without logind. CPUs
// were offline meanwhile, without uevents.
void MachineChanges::beat() {
  const uint64_t before = std::exchange(suspended_before_, suspended_());
  if (suspended_before_ > before + least_suspend_nanoseconds) manager_.reconciler().cpu_changed();
}

}  // namespace rdtd
