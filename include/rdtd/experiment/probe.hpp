// The built-in programs of a measurement: probes, whose times show what a neighbour costs, and the
// noise, which is such a neighbour. They run in the process that calls them, for a given time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rdtd/base/error.hpp"
#include "rdtd/experiment/placement.hpp"
#include "rdtd/experiment/statistics.hpp"

namespace rdtd::experiment {

struct Probe {
  enum class Kind { latency, timer };
  Kind kind = Kind::latency;
  uint64_t size = 0;  // bytes that are read, of the timer in each cycle; 0: not chosen yet
  uint64_t period = 1'000'000;  // timer: nanoseconds
  uint64_t batch = 0;           // latency: reads by one look at the clock; 0: not chosen yet
  std::string device;           // whose memory it reads, such as /dev/pseudo_lock/NAME; "": its own
  bool operator==(const Probe&) const = default;
};

// "latency", "latency:8M", "timer", "timer:500us", "timer:500us:8M". Sizes are from 4K to 4G with
// K, M or G, periods from 50us to 1s with us, ms or s. Nothing if it is none of these.
[[nodiscard]] std::optional<Probe> parse_probe(std::string_view text);

// "stream", "stream:2": the number of processes, 1 to 64.
[[nodiscard]] std::optional<unsigned> parse_noise(std::string_view text);

// The times that a probe has measured. latency: the time of one read, averaged over a batch that is
// long enough to hide the cost of reading the clock. timer: the time of a cycle, how late it began,
// and its response time, from when it should have begun to its end; cycles that did not begin
// because an earlier one took too long are late by the time at which that ended.
struct ProbeTimes {
  Distribution time, lateness, response;
  uint64_t batch = 1;  // reads
  void add(const ProbeTimes& other) {
    time.add(other.time);
    lateness.add(other.lateness);
    response.add(other.response);
    batch = std::max(batch, other.batch);
  }
};

// The time of a run that is compared, in nanoseconds: of the latency probe the median, which a
// single interruption does not change; of the timer a high percentile, since a program that needs a
// timer is not helped by a good median.
[[nodiscard]] double compared_time(const Probe& probe, const ProbeTimes& times);
// "the median time of a read"
[[nodiscard]] std::string name_of_compared(const Probe& probe);

// Dependent reads, one of each cache line, in random order; or cycles that read `size` bytes after
// a wake-up at a fixed time. Half a second at most is used up before the measurement begins.
[[nodiscard]] Result<void> run_probe(const Probe& probe, double seconds, ProbeTimes& times);

// Reads and writes `bytes` of memory, or a page, from the first to the last, again and again, and
// adds what it has read and written to `done`: a page uses the core as much, but no cache that is
// shared. Returns only if the memory cannot be had.
[[nodiscard]] Error run_stream(uint64_t bytes, std::atomic<uint64_t>& done);

// Reads and writes twice as much memory as the largest of the caches has, once on a CPU of each:
// they have nothing else then in the ways that the caller may fill. Then sets `done` to its size
// and keeps the memory. Returns only if it cannot be had.
[[nodiscard]] Error evict_others(std::span<const CacheOfCpu> caches, std::atomic<uint64_t>& done);

}  // namespace rdtd::experiment
