#include "rdtd/experiment/probe.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <span>

#include "rdtd/base/clock.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/base/unique_fd.hpp"

namespace rdtd::experiment {

namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};

// A number and one of the units, if it is within the bounds.
std::optional<uint64_t> scaled(std::string_view text, std::initializer_list<Unit> units,
                               uint64_t least, uint64_t most) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    const auto number = parse_unsigned<uint32_t>(text.substr(0, text.size() - unit.name.size()));
    if (!number) continue;
    const uint64_t value = *number * unit.factor;
    return value >= least && value <= most ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

struct alignas(64) Line {
  uint32_t next = 0;
};

struct Unmap {
  void* start = nullptr;
  size_t bytes = 0;
  void operator()(void*) const { (void)::munmap(start, bytes); }
};
using Memory = std::unique_ptr<void, Unmap>;

Result<Memory> memory_of_device(const std::string& path, uint64_t bytes) {
  const UniqueFd device(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!device) return errno_error("open", path);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device.get(), 0);
  if (memory == MAP_FAILED) return errno_error("map", path);
  return Memory(memory, Unmap{memory, bytes});
}

// In huge pages where the kernel has some. Small pages lie in the sets of a cache as chance will
// have it, so that the same number of bytes needs another number of ways in each run.
Result<Memory> memory_of(uint64_t bytes) {
  constexpr uint64_t huge_page = 2 << 20;
  const uint64_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
  const uint64_t mapped = whole + huge_page;
  void* start = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return errno_error("allocate", std::to_string(bytes) + " bytes");
  size_t room = mapped;
  void* aligned = start;
  std::align(huge_page, whole, aligned, room);
  Memory memory(aligned, Unmap{start, mapped});
  (void)::madvise(aligned, whole, MADV_HUGEPAGE);
  std::memset(aligned, 0, bytes);  // the page faults are not part of what is measured
  return memory;
}

Result<Memory> memory_of(const Probe& probe) {
  return probe.device.empty() ? memory_of(probe.size) : memory_of_device(probe.device, probe.size);
}

uint64_t now() { return monotonic_nanoseconds(); }

uint64_t nanoseconds(double seconds) { return static_cast<uint64_t>(seconds * 1e9); }

// One cycle through all lines (Sattolo's algorithm), the same in each run.
void link_randomly(std::span<Line> lines) {
  std::vector<uint32_t> order(lines.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(1);
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % i]);
  for (size_t i = 0; i < order.size(); ++i) lines[i].next = order[i];
}

// Another program may write to the memory of a device: no index leads out of it.
uint32_t follow(std::span<const Line> lines, uint32_t at, size_t reads) {
  const auto last = static_cast<uint32_t>(lines.size() - 1);
  for (size_t i = 0; i < reads; ++i) at = std::min(lines[at].next, last);
  // The compiler must not drop the reads.
  asm volatile("" : "+r"(at));
  return at;
}

// Reads that take twenty times as long as the clock, at least.
size_t batch_size(std::span<const Line> lines) {
  constexpr int readings = 100;
  const uint64_t began = now();
  for (int i = 0; i < readings; ++i) (void)now();
  const uint64_t wanted = 20 * std::max<uint64_t>(1, (now() - began) / readings);
  for (size_t batch = 1;; batch *= 2) {
    const uint64_t from = now();
    (void)follow(lines, 0, batch);
    if (now() - from >= wanted || batch >= lines.size()) return batch;
  }
}

Result<void> read_randomly(const Probe& probe, double seconds, ProbeTimes& times) {
  const size_t count = probe.size / sizeof(Line);
  auto memory = memory_of(probe);
  if (!memory) return std::unexpected(memory.error());
  const std::span lines(static_cast<Line*>(memory->get()), count);
  link_randomly(lines);
  uint32_t at = 0;
  const uint64_t warm = now() + nanoseconds(std::min(0.5, seconds / 2));
  for (size_t read = 0; read < 2 * count && now() < warm; read += 64) at = follow(lines, at, 64);
  const size_t batch = probe.batch != 0 ? probe.batch : batch_size(lines);
  times.batch = batch;
  const uint64_t end = now() + nanoseconds(seconds);
  for (uint64_t from = now(); from < end;) {
    at = follow(lines, at, batch);
    const uint64_t to = now();
    times.time.add(static_cast<double>(to - from) / static_cast<double>(batch));
    from = to;
  }
  return {};
}

Result<void> wake_up_periodically(const Probe& probe, double seconds, ProbeTimes& times) {
  auto memory = memory_of(probe);
  if (!memory) return std::unexpected(memory.error());
  const std::span lines(static_cast<Line*>(memory->get()), probe.size / sizeof(Line));
  link_randomly(lines);
  (void)follow(lines, 0, lines.size());
  // The kernel may delay a wake-up by 50 us otherwise, which is as long as a short period.
  (void)::prctl(PR_SET_TIMERSLACK, 1UL);
  uint64_t planned = now() + probe.period;
  for (const uint64_t end = now() + nanoseconds(seconds); planned < end;) {
    const timespec at{static_cast<time_t>(planned / 1'000'000'000),
                      static_cast<long>(planned % 1'000'000'000)};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {}
    const uint64_t woken = now();
    (void)follow(lines, 0, lines.size());
    const uint64_t done = now();
    times.lateness.add(static_cast<double>(woken - planned));
    times.time.add(static_cast<double>(done - woken));
    times.response.add(static_cast<double>(done - planned));
    // A cycle that took too long makes the next ones late, but does not pile them up: those that
    // should have begun meanwhile count as late by now.
    for (planned += probe.period; planned < done; planned += probe.period)
      for (Distribution* const of : {&times.lateness, &times.response})
        of->add(static_cast<double>(done - planned));
  }
  return {};
}

}  // namespace

std::optional<Probe> parse_probe(std::string_view text) {
  const auto words = split(text, ':');
  const bool timer = words[0] == "timer";
  if (!timer && words[0] != "latency") return std::nullopt;
  Probe probe{.kind = timer ? Probe::Kind::timer : Probe::Kind::latency};
  if (words.size() > (timer ? 3U : 2U)) return std::nullopt;
  for (size_t i = 1; i < words.size(); ++i) {
    const bool period = timer && i == 1;
    std::string_view size = words[i];  // "4MiB" and "4MB" are "4M"
    if (size.ends_with('B')) size.remove_suffix(size.ends_with("iB") ? 2 : 1);
    const auto value =
        period ? scaled(words[i], {{"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}, 50'000,
                        1'000'000'000)
               : scaled(size, {{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}}, 4 << 10, 4UL << 30);
    if (!value) return std::nullopt;
    (period ? probe.period : probe.size) = *value;
  }
  return probe;
}

double compared_time(const Probe& probe, const ProbeTimes& times) {
  return probe.kind == Probe::Kind::timer ? times.response.quantile(0.99)
                                          : times.time.quantile(0.5);
}

std::string name_of_compared(const Probe& probe) {
  return probe.kind == Probe::Kind::timer ? "the 99th percentile of the response times"
                                          : "the median time of a read";
}

std::optional<unsigned> parse_noise(std::string_view text) {
  if (text == "stream") return 1;
  if (!text.starts_with("stream:")) return std::nullopt;
  const auto number = parse_unsigned<unsigned>(text.substr(text.find(':') + 1));
  return number && *number >= 1 && *number <= 64 ? number : std::nullopt;
}

Result<void> run_probe(const Probe& probe, double seconds, ProbeTimes& times) {
  return probe.kind == Probe::Kind::latency ? read_randomly(probe, seconds, times)
                                            : wake_up_periodically(probe, seconds, times);
}

namespace {

constexpr size_t chunk = 4 << 10;

uint64_t whole_chunks(uint64_t bytes) { return std::max<uint64_t>(bytes / chunk, 1) * chunk; }

void change_lines(volatile uint64_t* words, size_t from, size_t to) {
  for (size_t word = from / 8; word < to / 8; word += 8) words[word] = words[word] + 1;
}

}  // namespace

Error run_stream(uint64_t bytes, std::atomic<uint64_t>& done) {
  bytes = whole_chunks(bytes);
  const auto memory = memory_of(bytes);
  if (!memory) return memory.error();
  auto* const words = static_cast<volatile uint64_t*>(memory->get());
  for (;;)
    for (size_t at = 0; at < bytes; at += chunk) {
      change_lines(words, at, at + chunk);
      done.fetch_add(chunk, std::memory_order_relaxed);
    }
}

Error evict_others(std::span<const CacheOfCpu> caches, std::atomic<uint64_t>& done) {
  uint64_t bytes = 0;
  for (const CacheOfCpu& cache : caches) bytes = std::max(bytes, whole_chunks(2 * cache.bytes));
  const auto memory = memory_of(bytes);
  if (!memory) return memory.error();
  for (const CacheOfCpu& cache : caches) {
    if (const auto pinned = pin({cache.cpu}); !pinned) return pinned.error();
    change_lines(static_cast<volatile uint64_t*>(memory->get()), 0, bytes);
  }
  done = bytes;
  for (;;) ::pause();
}

}  // namespace rdtd::experiment
