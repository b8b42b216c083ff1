#include "bench_machine.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <fstream>
#include <optional>

#include "rdtd/base/text.hpp"

namespace rdtd::bench {

namespace {

std::string first_line(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path) >> std::ws, line);
  return line;
}

// The kernel writes kibibytes: "16384K" (Documentation/ABI/testing/sysfs-devices-system-cpu).
uint64_t size_of(std::string_view text) {
  if (text.ends_with('K')) text.remove_suffix(1);
  return uint64_t{parse_unsigned<uint32_t>(text).value_or(0)} << 10;
}

struct CpuCache {
  unsigned id = 0;
  CpuSet shared_by;
  uint64_t bytes = 0;
};

// Nothing if the CPU has no cache of data of that level.
std::optional<CpuCache> cache_of(const std::string& cpus, unsigned cpu, unsigned level) {
  for (unsigned index = 0;; ++index) {
    const std::string cache = fmt::format("{}/cpu{}/cache/index{}", cpus, cpu, index);
    const std::string found = first_line(cache + "/level");
    if (found.empty()) return std::nullopt;
    if (found != std::to_string(level) || first_line(cache + "/type") == "Instruction") continue;
    return CpuCache{parse_unsigned<unsigned>(first_line(cache + "/id")).value_or(0),
                    parse_cpu_list(first_line(cache + "/shared_cpu_list")).value_or(CpuSet{}),
                    size_of(first_line(cache + "/size"))};
  }
}

// Noise on another thread of the command's core would take more from it than the cache; it runs
// there only if no other CPU shares the cache.
Place without_siblings(const std::string& cpus, Place place) {
  const std::string path =
      fmt::format("{}/cpu{}/topology/thread_siblings_list", cpus, place.command);
  CpuSet others = place.noise;
  for (const unsigned sibling : parse_cpu_list(first_line(path)).value_or(CpuSet{}))
    others.erase(sibling);
  place.core_is_shared = others.empty();
  if (!others.empty()) place.noise = std::move(others);
  return place;
}

Error no_room(std::string why) { return {"measure", "beside noise", 0, std::move(why)}; }

// The command on the first allowed CPU, beside all others that share its cache of that level;
// nothing if it has none.
std::optional<Result<Place>> place_in(const std::string& cpus, const CpuSet& allowed,
                                      unsigned level) {
  const unsigned cpu = *allowed.begin();
  auto cache = cache_of(cpus, cpu, level);
  if (!cache) return std::nullopt;
  std::erase_if(cache->shared_by,
                [&](unsigned other) { return other == cpu || !allowed.contains(other); });
  if (!cache->shared_by.empty() && cache->bytes > 0)
    return without_siblings(cpus, {cpu, std::move(cache->shared_by), level, cache->bytes, false});
  return std::unexpected(
      no_room(fmt::format("no other allowed CPU shares the L{} cache of CPU {}", level, cpu)));
}

}  // namespace

std::vector<CacheOfCpu> caches_of(const std::string& cpus, const CpuSet& allowed, unsigned level) {
  std::vector<CacheOfCpu> out;
  CpuSet seen;
  for (const unsigned cpu : allowed) {
    if (seen.contains(cpu)) continue;
    const auto cache = cache_of(cpus, cpu, level);
    if (!cache) continue;
    seen.insert(cache->shared_by.begin(), cache->shared_by.end());
    out.push_back({cpu, cache->bytes});
  }
  return out;
}

CpuSet allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  (void)::sched_getaffinity(0, sizeof set, &set);
  CpuSet out;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) out.insert(cpu);
  return out;
}

Result<Place> find_place(const std::string& cpus, const CpuSet& allowed) {
  if (allowed.empty()) return std::unexpected(Error{"measure", "without a CPU", 0, {}});
  for (const unsigned level : {3U, 2U})
    if (auto place = place_in(cpus, allowed, level)) return *std::move(place);
  return std::unexpected(
      no_room(fmt::format("{} shows no cache of CPU {}", cpus, *allowed.begin())));
}

Result<Place> find_place(const std::string& cpus, const CpuSet& allowed, CacheId cache) {
  CpuSet users;
  for (const unsigned cpu : allowed)
    if (const auto found = cache_of(cpus, cpu, cache.level); found && found->id == cache.id)
      users.insert(cpu);
  if (users.empty())
    return std::unexpected(
        no_room(fmt::format("no allowed CPU uses L{} domain {}", cache.level, cache.id)));
  return *place_in(cpus, users, cache.level);
}

}  // namespace rdtd::bench
