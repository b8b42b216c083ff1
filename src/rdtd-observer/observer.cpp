#include "observer.hpp"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "guarding.hpp"
#include "journal.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/bus/observer_service.hpp"
#include "rdtd/model/machine.hpp"
#include "rdtd/observe/detector.hpp"
#include "rdtd/observer/ceilings.hpp"
#include "rdtd/observer/memory.hpp"
#include "rdtd/observer/pace.hpp"
#include "rdtd/observer/ring.hpp"
#include "rdtd/observer/sampler.hpp"
#include "rdtd/policy/parse.hpp"
#include "rdtd/policy/search.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd {

namespace {

// After something failed: resctrl, the bus, or the disk may come back.
constexpr uint64_t retry_usec = 10'000'000;
// The figures of a header about the machine are at most so old.
constexpr uint64_t renew_usec = 10'000'000, changed_usec = 50'000'000;

std::optional<dev_t> device_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? std::optional(status.st_dev) : std::nullopt;
}

class Observer {
 public:
  explicit Observer(const ObserverPaths& paths) : paths_(paths) {
    marks_.add(observe::started_mark);
  }
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  ~Observer() {
    guarding_.reset();
    service_.reset();
    sd_event_source_unref(timer_);
    sd_event_unref(event_);
  }
  int run();

 private:
  [[nodiscard]] int start();
  static int on_timer(sd_event_source*, uint64_t, void* self);
  static int on_hangup(sd_event_source*, const signalfd_siginfo*, void* self);
  bool read_settings();
  void renew(observe::Header header);
  [[nodiscard]] bool unmounted() const;
  void read_again() {
    marks_.add(observe::read_mark);
    (void)read_settings();
  }
  void connect();
  void open_tree();
  void tick();
  void use(observe::Sample sample);
  void record(const observe::Sample& sample);
  void end_episodes();
  void note_episode(const observe::Episode& episode);
  // Says what is wrong once, and again after it was fine.
  void complain(const std::string& what, const std::string& text);
  void settled(const std::string& what);
  [[nodiscard]] std::vector<EpisodeRow> episodes(uint64_t since_usec) const;

  ObserverPaths paths_;
  sd_event* event_ = nullptr;
  sd_event_source* timer_ = nullptr;
  std::unique_ptr<ObserverService> service_;
  bool service_ended_ = false, was_on_bus_ = false;
  ObserverSettings settings_;
  // Of the tree that is mounted.
  std::optional<Sampler> sampler_;
  std::optional<observe::Detector> detector_;
  observe::Header header_;
  std::optional<Guarding> guarding_;
  std::unique_ptr<Ring> ring_;
  Memory memory_;
  Marks marks_;
  std::map<std::string, std::string, std::less<>> complaints_;  // what there is now, with its text
  // CLOCK_MONOTONIC
  uint64_t bus_due_usec_ = 0, tree_due_usec_ = 0, ring_due_usec_ = 0, header_due_usec_ = 0;
  uint64_t settings_due_usec_ = UINT64_MAX;
  std::optional<dev_t> device_;  // of the tree
};

void Observer::complain(const std::string& what, const std::string& text) {
  std::string& last = complaints_[what];
  if (last == text) return;
  last = text;
  log_warning(text);
  (void)sd_notify(0, ("STATUS=" + printable(text)).c_str());
}

// Its status is a problem that there still is.
void Observer::settled(const std::string& what) {
  if (complaints_.erase(what) == 0) return;
  const std::string left = complaints_.empty() ? "" : complaints_.begin()->second;
  (void)sd_notify(0, ("STATUS=" + printable(left)).c_str());
}

// A policy that the daemon refuses does not end the observer: it goes on as before, without a
// guard. Returns false then.
bool Observer::read_settings() {
  header_due_usec_ = 0;
  settings_due_usec_ = UINT64_MAX;
  ParsedPolicy parsed = parse_policy(find_policy_files(paths_.policy_root));
  if (has_errors(parsed.diagnostics)) {
    const auto error =
        std::ranges::find(parsed.diagnostics, Severity::error, &Diagnostic::severity);
    // The file itself may be fine.
    if (std::ranges::find(parsed.diagnostics, Cause::machine, &Diagnostic::cause) !=
        parsed.diagnostics.end())
      settings_due_usec_ = clock_usec(CLOCK_MONOTONIC) + retry_usec;
    const std::string why = fmt::format("{}: {}", error->where.text(), error->message);
    complain("policy", "the policy files have no settings for rdtd-observer: " + why);
    guarding_->refuse(why);
    return false;
  }
  settled("policy");
  const ObserverSettings before = std::exchange(settings_, parsed.policy.observer);
  guarding_->use(std::move(parsed.policy));
  if (before == settings_) return true;
  ring_.reset();
  ring_due_usec_ = 0;
  return true;
}

// While it is open, no other one can be mounted. Something else may be mounted over the path.
bool Observer::unmounted() const {
  if (device_of(paths_.resctrl) == device_) return false;
  const auto proc = Directory::open(paths_.proc);
  return proc && !resctrl::is_mounted(*proc).value_or(true);
}

// Somebody may have measured what a domain carries, given devices other ways, or set a processor
// online.
void Observer::renew(observe::Header header) {
  header_due_usec_ = clock_usec(CLOCK_MONOTONIC) + renew_usec;
  header.interval = static_cast<double>(settings_.interval.count()) / 1e6;
  if (auto ceilings = read_ceilings(paths_.ceilings, header)) {
    header.ceilings = std::move(*ceilings);
    settled("ceilings");
  } else {
    complain("ceilings", "the measured ceilings count for nothing now: " + ceilings.error().text());
  }
  sampler_->update(header);
  if (detector_ && header == header_) return;
  // A header that changes to and fro must not fill the ring with files.
  header_due_usec_ += changed_usec;
  header_ = std::move(header);
  // The header of a file holds for all of its samples.
  ring_.reset();
  guarding_->use(header_);
  // A failed reading, which a recording does not show, must not lose what the detector has learned.
  if (detector_)
    detector_->use(header_);
  else
    detector_.emplace(header_);
}

void Observer::connect() {
  const uint64_t now = clock_usec(CLOCK_MONOTONIC);
  if (service_ended_) {
    guarding_->release();
    service_.reset();
  }
  service_ended_ = false;
  if (service_ != nullptr || now < bus_due_usec_) return;
  bus_due_usec_ = now + retry_usec;
  ObserverService::Handlers handlers{
      .episodes = [this](uint64_t since) { return episodes(since); },
      .counts =
          [this] {
            return memory_.counts(detector_ ? detector_->running()
                                            : std::vector<observe::Episode>{});
          },
      .guard = [this] { return guarding_->status(); },
      .on_mark = [this](std::string mark) { marks_.add(std::move(mark)); },
      .on_reloaded = [this] { (void)read_settings(); },
      .on_name =
          [this] {
            settled("bus");
            // Anything that was announced meanwhile is not known.
            if (std::exchange(was_on_bus_, true)) read_again();
          },
      .on_end =
          [this](const Error& cause) {
            service_ended_ = true;
            complain("bus", cause.text());
          }};
  auto opened = ObserverService::open(event_, std::move(handlers));
  if (!opened) return complain("bus", opened.error().text());
  service_ = std::move(*opened);
}

void Observer::open_tree() {
  const uint64_t now = clock_usec(CLOCK_MONOTONIC);
  if (now < tree_due_usec_) return;
  tree_due_usec_ = now + retry_usec;
  auto tree = Tree::open(paths_.resctrl);
  if (!tree) return complain("resctrl", tree.error().text());
  if (const auto readable = tree->filesystem().list("info"); !readable)
    return complain("resctrl", readable.error().text());
  const auto proc = Directory::open(paths_.proc);
  const auto mounted = proc ? resctrl::read_mount_options(*proc) : std::unexpected(proc.error());
  if (!mounted) return complain("resctrl", mounted.error().text());
  sampler_.emplace(std::move(*tree));
  device_ = device_of(paths_.resctrl);
  observe::Header header = detector_ ? header_ : sampler_->header(0);
  header.boot = paths_.boot;
  header.mba_mbps = mounted->mba_MBps;
  renew(std::move(header));
}

void Observer::tick() {
  connect();
  guarding_->check(clock_usec(CLOCK_BOOTTIME));
  if (clock_usec(CLOCK_MONOTONIC) >= settings_due_usec_ && read_settings())
    marks_.add(observe::read_mark);
  if (!sampler_) open_tree();
  if (!sampler_) return;
  if (clock_usec(CLOCK_MONOTONIC) >= header_due_usec_) {
    if (unmounted()) return sampler_.reset();
    renew(header_);
  }
  if (settings_.record_bytes > 0 && (ring_ == nullptr || ring_->begins_file()))
    sampler_->begin_recording();
  auto sample = sampler_->sample();
  if (!sample) {
    complain("resctrl", sample.error().text());
    sampler_.reset();
    return;
  }
  if (sample->counters.empty())
    complain("resctrl", fmt::format("{} counts nothing", paths_.resctrl));
  else
    settled("resctrl");
  sample->marks = marks_.take();
  use(std::move(*sample));
}

void Observer::use(observe::Sample sample) {
  record(sample);
  for (const observe::Episode& episode : detector_->add(sample)) note_episode(episode);
  guarding_->add(sample, *detector_, service_ != nullptr ? service_->bus() : nullptr);
}

void Observer::record(const observe::Sample& sample) {
  const uint64_t now = clock_usec(CLOCK_MONOTONIC);
  if (settings_.record_bytes == 0 || paths_.history.empty()) return settled("disk");
  if (now < ring_due_usec_) return;
  Result<void> done;
  if (ring_ == nullptr) {
    auto directory = Directory::open(paths_.history);
    if (directory)
      ring_ = std::make_unique<Ring>(std::move(*directory), settings_.record_bytes);
    else
      done = std::unexpected(directory.error());
  }
  if (done) done = ring_->append(header_line(header_), sample_line(sample), sample.time_usec);
  if (done) return settled("disk");
  // Of the directory: each attempt has a file of another name.
  Error error = std::move(done.error());
  error.path = paths_.history;
  complain("disk", error.text() + "; what was recorded before is kept");
  // The next file begins with the amounts of all groups.
  ring_.reset();
  ring_due_usec_ = now + retry_usec;
}

// Those that run are over for who asks later.
void Observer::end_episodes() {
  if (!detector_) return;
  for (const observe::Episode& episode : detector_->running()) note_episode(episode);
  detector_.reset();
}

void Observer::note_episode(const observe::Episode& episode) {
  memory_.add(episode);
  if (service_ != nullptr) service_->emit_episode(row_of(episode, false));
  if (!memory_.may_log(episode)) return;
  log_episode(sentence(episode), fmt::format("{}:{}", episode.resource, to_string(episode.domain)),
              group_label(episode.takers.front().group),
              group_label(episode.sufferers.front().group));
}

std::vector<EpisodeRow> Observer::episodes(uint64_t since_usec) const {
  std::vector<EpisodeRow> out = memory_.since(since_usec);
  if (detector_)
    for (const observe::Episode& episode : detector_->running())
      out.push_back(row_of(episode, true));
  return out;
}

int Observer::on_timer(sd_event_source* timer, uint64_t due_usec, void* self) {
  Observer& observer = *static_cast<Observer*>(self);
  const uint64_t begin = clock_usec(CLOCK_MONOTONIC);
  observer.tick();
  const uint64_t end = clock_usec(CLOCK_MONOTONIC);
  const auto interval = static_cast<uint64_t>(observer.settings_.interval.count());
  const uint64_t next = next_sample_usec(due_usec, begin, end, interval);
  (void)sd_event_source_set_time(timer, next);
  return sd_event_source_set_enabled(timer, SD_EVENT_ON);
}

int Observer::on_hangup(sd_event_source*, const signalfd_siginfo*, void* self) {
  static_cast<Observer*>(self)->read_again();
  return 0;
}

int Observer::start() {
  sigset_t blocked;
  (void)::sigemptyset(&blocked);
  for (const int signal : {SIGHUP, SIGTERM, SIGINT}) (void)::sigaddset(&blocked, signal);
  (void)::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  int r = sd_event_new(&event_);
  for (const int signal : {SIGTERM, SIGINT})
    if (r >= 0) r = sd_event_add_signal(event_, nullptr, signal, nullptr, nullptr);
  if (r >= 0) r = sd_event_add_signal(event_, nullptr, SIGHUP, on_hangup, this);
  if (r >= 0) r = sd_event_set_watchdog(event_, 1);
  constexpr uint64_t accuracy_usec = 1000;
  if (r >= 0)
    r = sd_event_add_time(event_, &timer_, CLOCK_MONOTONIC, clock_usec(CLOCK_MONOTONIC),
                          accuracy_usec, on_timer, this);
  return r >= 0 ? sd_event_source_set_enabled(timer_, SD_EVENT_ON) : r;
}

int Observer::run() {
  if (const int r = start(); r < 0) {
    log_warning(Error{"start", "the event loop", -r, {}}.text());
    return 1;
  }
  guarding_.emplace(event_, [this](std::string mark) { marks_.add(std::move(mark)); });
  (void)read_settings();
  (void)sd_notify(0, "READY=1");
  const int r = sd_event_loop(event_);
  end_episodes();
  (void)sd_notify(0, "STOPPING=1");
  return r < 0 ? 1 : 0;
}

}  // namespace

int run_observer(const ObserverPaths& paths) { return Observer(paths).run(); }

}  // namespace rdtd
