// show --measure: what the kernel measures of a pseudo-locked region (Documentation/filesystems/
// resctrl.rst, "Cache Pseudo-Locking Debugging Interface"). It reads the region's memory once, and
// reports the cycles of each read, or the hits and misses of all, as trace events; an instance of
// its own keeps them apart from other traces.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "measure.hpp"
#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// A tracing instance, which ends with this value.
class Trace {
 public:
  Trace(const std::string& tracing, const std::string& event)
      : directory_(fmt::format("{}/instances/rdtctl-{}", tracing, ::getpid())), event_(event) {
    made_ = ::mkdir(directory_.c_str(), 0700) == 0;
    if (!made_) error_ = Error{"make", directory_, errno, {}};
  }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace() {
    if (!made_) return;
    (void)enable("0\n");
    (void)::rmdir(directory_.c_str());
  }

  // Runs one measurement of the kernel's; returns the text of the trace.
  [[nodiscard]] Result<std::string> measure(const Directory& region, const std::string& number) {
    if (error_) return std::unexpected(*error_);
    if (auto enabled = enable("1\n"); !enabled) return std::unexpected(enabled.error());
    if (auto started = region.write("pseudo_lock_measure", number + "\n"); !started)
      return std::unexpected(started.error());
    const auto instance = Directory::open(directory_);
    return instance ? instance->read("trace") : std::unexpected(instance.error());
  }

 private:
  [[nodiscard]] Result<void> enable(const char* on) const {
    const auto event = Directory::open(directory_ + "/events/resctrl/" + event_);
    return event ? event->write("enable", on) : std::unexpected(event.error());
  }

  std::string directory_, event_;
  std::optional<Error> error_;
  bool made_ = false;
};

// The numbers behind "KEY=" in a trace.
std::vector<uint64_t> numbers(const std::string& trace, const std::string& key) {
  std::vector<uint64_t> out;
  for (const std::string_view line : split(trace, '\n'))
    if (const size_t at = line.find(key + "="); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + key.size() + 1);
      if (const auto number = parse_unsigned<uint64_t>(rest.substr(0, rest.find(' '))))
        out.push_back(*number);
    }
  return out;
}

}  // namespace

Result<Measurement> measure_region(const MeasurePaths& paths, const std::string& name,
                                   Resource resource) {
  const auto region = Directory::open(paths.debugfs + "/resctrl/" + name);
  if (!region) return std::unexpected(region.error());
  Measurement out;
  auto latency = Trace(paths.tracing, "pseudo_lock_mem_latency").measure(*region, "1");
  if (!latency) return std::unexpected(latency.error());
  out.cycles = numbers(*latency, "latency");
  std::ranges::sort(out.cycles);
  // The kernel has counters for the models that it knows, and no trace without them.
  const bool l2 = resource == Resource::L2;
  const auto residency = Trace(paths.tracing, l2 ? "pseudo_lock_l2" : "pseudo_lock_l3")
                             .measure(*region, l2 ? "2" : "3");
  if (!residency) return out;
  const auto hits = numbers(*residency, "hits"), misses = numbers(*residency, "miss");
  if (hits.size() == 1 && misses.size() == 1) {
    out.hits = hits.front();
    out.misses = misses.front();
  }
  return out;
}

}  // namespace rdtd
