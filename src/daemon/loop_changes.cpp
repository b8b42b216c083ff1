// What the loop hears of changes: requests of the classifier, renames and changes of users, moves
// between cgroups, changes of resctrl and of policy files, and events that were lost.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "log.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/daemon/loop.hpp"

namespace rdtd {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC, as sd-event's timers here

// Changes are collected: what they ask for has this much time.
constexpr milliseconds change_interval(5);
// The same for requests of the classifier.
constexpr milliseconds request_interval(20);
// To read one fork event takes so many times less than to look whether one process is alone.
constexpr size_t forks_per_look = 50;
constexpr seconds fork_interval(1);
// A change of a policy has this long to become complete.
constexpr seconds policy_interval(1);
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

}  // namespace

void Loop::take_requests() {
  eventfd_t ignored = 0;
  (void)::eventfd_read(sources_.requests_fd, &ignored);
  const Classifier::Requests requests = sources_.classifier->take_requests();
  // The next one wakes this up at once.
  if (!requests.any) return (void)sd_event_source_set_enabled(requests_, SD_EVENT_ON);
  if (requests.table_in_use != 0) manager_.core().publisher.taken(requests.table_in_use);
  for (const pid_t pid : requests.unexamined)
    manager_.core().sweeper.visit({.pid = pid, .children = true}, Sweeper::second_look_delay);
  for (const Classifier::Assigned& assigned : requests.assigned)
    report_assigned(assigned.pid, assigned.group, assigned.rule);
  if (requests.dropped > 0) spdlog::debug("{} more assignments", requests.dropped);
  if (requests.table_old) manager_.reconciler().reconcile();
  if (requests.failed) {
    log(LogEvent::events_lost,
        requests.failed->text() + "; processes are found at each reconcile only");
    manager_.core().state.events_available = false;
    classifier_drops_ = sources_.classifier->event_overruns();
    sources_.classifier = nullptr;
    for (sd_event_source* source : {requests_, requests_timer_, second_looks_})
      (void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
    // Those that it has moved get no second look.
    sweep_soon("process events have ended");
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

// The processes that the classifier moved a moment ago may have begun threads or children before.
void Loop::look_again() {
  const auto due = sources_.classifier->second_looks().take_due(monotonic_nanoseconds());
  const bool ask_forks = update_forks(forks_per_look * due.size());
  std::vector<pid_t> unknown;
  for (const SecondLooks::Process& process : due) {
    using Kind = proc::ForkWatch::Forks::Kind;
    const auto forks = ask_forks ? sources_.forks->forks_of(process.pid, process.exec_at)
                                 : proc::ForkWatch::Forks{Kind::unknown};
    if (forks.kind == Kind::unknown) unknown.push_back(process.pid);
    if (forks.kind == Kind::more)
      manager_.core().sweeper.visit({.pid = process.pid, .children = true});
    // Their parent may have ended by now.
    for (const pid_t child : forks.children) manager_.core().sweeper.visit({.pid = child});
  }
  manager_.core().sweeper.look_for_more(unknown);
}

// False if more fork events wait than are worth reading now. A full buffer is emptied all the same,
// at most once a second.
bool Loop::update_forks(size_t worth_reading) {
  if (!sources_.forks) return false;
  const auto now = Clock::now();
  if (sources_.forks->waiting() > worth_reading && now < next_fork_update_) return false;
  sources_.forks->update();
  next_fork_update_ = now + fork_interval;
  return true;
}

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
      if (event.kind == ProcEvent::Kind::comm && first_thread)
        manager_.core().manual.rename(event.pid);
      if (rules.rules().empty()) continue;
      if (event.kind == ProcEvent::Kind::identity ||
          (event.kind == ProcEvent::Kind::comm && first_thread))
        manager_.core().sweeper.visit({.pid = event.pid});
      else if (event.kind == ProcEvent::Kind::comm && rules.has_thread_rules())
        manager_.core().sweeper.visit({.pid = event.pid, .only_thread = event.tid});
    }
    if (!batch) failed = true;
    if (events.size() < Connector::batch_size) break;
  }
  // A flood of renames takes a quarter of a CPU at most; a failure is tried again later.
  (void)sd_event_source_set_enabled(changes_, SD_EVENT_OFF);
  const auto pause = std::max<Clock::duration>(change_interval, 3 * (Clock::now() - begin));
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
  for (const pid_t pid : changes.processes) manager_.core().sweeper.visit({.pid = pid});
  // Finding the process of a thread takes a look into /proc.
  if (changes.threads.size() > max_threads_resolved)
    sweep_soon("many threads changed their cgroup");
  else
    for (const pid_t tid : changes.threads) manager_.core().sweeper.visit_thread(tid);
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
  const auto pause = std::max<Clock::duration>(change_interval, 3 * (Clock::now() - begin));
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

void Loop::read_resctrl() {
  manager_.reconciler().resctrl_changed(sources_.resctrl->read_changes());
}

// The kernel sends a uevent for each CPU that goes or comes; udev passes it on.
void Loop::watch_cpus() {
  int r = sd_device_monitor_new(&cpus_);
  if (r >= 0) r = sd_device_monitor_filter_add_match_subsystem_devtype(cpus_, "cpu", nullptr);
  if (r >= 0) r = sd_device_monitor_attach_event(cpus_, event_);
  if (r >= 0) r = sd_device_monitor_start(cpus_, on_cpu, this);
  if (r < 0)
    spdlog::warn("{}; CPUs that go or come are noticed at each reconcile only",
                 Error{"watch", "the CPUs", -r, {}}.text());
}

// `udevadm trigger` sends "change" for CPUs that stay.
int Loop::on_cpu(sd_device_monitor*, sd_device* device, void* self) {
  sd_device_action_t action{};
  if (sd_device_get_action(device, &action) >= 0 &&
      (action == SD_DEVICE_ONLINE || action == SD_DEVICE_OFFLINE || action == SD_DEVICE_ADD ||
       action == SD_DEVICE_REMOVE))
    static_cast<Loop*>(self)->manager_.reconciler().cpu_changed();
  return 0;
}

void Loop::watch_policy() {
  std::string watched;
  for (const std::string& path : sources_.policy_directories) {
    sd_event_source* source = nullptr;
    const int r = sd_event_add_inotify(
        event_, &source, path.c_str(),
        IN_ONLYDIR | IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE,
        on_policy_change, this);
    if (r >= 0) policy_.push_back(source);
    if (r >= 0) watched += (watched.empty() ? "" : ", ") + path;
    if (r < 0 && r != -ENOENT) spdlog::warn("{}", Error{"watch", path, -r, {}}.text());
  }
  if (!watched.empty()) spdlog::info("reloading the policy when a file changes in {}", watched);
  if (watched.empty() && !sources_.policy_directories.empty())
    spdlog::warn("there is no directory of policy files to watch");
}

// Files of ConfigMaps are links over ..data, which is replaced (AtomicWriter in pkg/volume/util of
// Kubernetes). /run/rdtd has files that rdtd itself writes.
int Loop::on_policy_change(sd_event_source*, const inotify_event* event, void* self) {
  const std::string_view name(event->name, ::strnlen(event->name, event->len));
  const bool lost = (event->mask & IN_Q_OVERFLOW) != 0;
  if (!lost && !name.ends_with(".toml") && name != "..data") return 0;
  auto* loop = static_cast<Loop*>(self);
  int waiting = SD_EVENT_OFF;
  (void)sd_event_source_get_enabled(loop->policy_timer_, &waiting);
  // One that waits already is not put off: a file that changes all the time is read nevertheless.
  if (waiting == SD_EVENT_OFF) loop->set_timer(loop->policy_timer_, policy_interval);
  return 0;
}

// The groups of the policy, as they are now: one that was made again is another one.
void Loop::watch_resctrl() {
  if (!sources_.resctrl) return;
  std::set<std::string> groups;
  for (const GroupTarget& group : manager_.in_force().groups)
    if (!manager_.in_force().taken.contains(group.directory)) groups.insert(group.directory);
  if (const IoTarget& io = manager_.in_force().io) groups.insert(io->directory);
  const auto watched = sources_.resctrl->watch(groups);
  if (!watched && !std::exchange(unwatched_logged_, true))
    spdlog::warn("{}; changes by other tools are found at each reconcile only",
                 watched.error().text());
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
  manager_.reconciler().sweep(sweep_reason_, [this, begin] {
    const auto now = Clock::now();
    sweep_reason_ = nullptr;
    next_sweep_ = now + std::max<Clock::duration>(sweep_interval, 10 * (now - begin));
    if (const char* const again = std::exchange(sweep_again_, nullptr)) sweep_soon(again);
  });
}

void Loop::note_loss() {
  if (sources_.classifier != nullptr) classifier_drops_ = sources_.classifier->event_overruns();
  const uint64_t dropped = classifier_drops_ + changes_dropped_;
  State& state = manager_.core().state;
  state.event_overruns = dropped;
  if (sources_.classifier != nullptr) state.events_seen = sources_.classifier->events_seen();
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

}  // namespace rdtd
