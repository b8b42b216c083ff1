#include "rdtd/experiment/placement.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <ranges>
#include <utility>

#include "rdtd/base/text.hpp"

namespace rdtd::experiment {

namespace {

constexpr unsigned most_cpus = 8192;  // that Linux can be built for (CONFIG_NR_CPUS)

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

CpuSet threads_of_core(const std::string& cpus, unsigned cpu) {
  const std::string path = fmt::format("{}/cpu{}/topology/thread_siblings_list", cpus, cpu);
  CpuSet out = parse_cpu_list(first_line(path)).value_or(CpuSet{});
  out.insert(cpu);
  return out;
}

// isolcpus= on the kernel's command line: no program runs there unless it asks to.
bool is_isolated(const std::string& cpus, unsigned cpu) {
  return parse_cpu_list(first_line(cpus + "/isolated")).value_or(CpuSet{}).contains(cpu);
}

Error no_place(std::string why) { return {"measure", "beside noise", 0, std::move(why)}; }

std::vector<unsigned> levels_of(const PlaceRequest& request) {
  if (request.level) return {*request.level};
  return {3, 2};
}

// Those of the cache that most of them use; of several such caches, the last one. Noise needs a
// second one there, and a core may have no cache of that level at all.
CpuSet of_fullest_cache(const std::string& cpus, const CpuSet& candidates,
                        const PlaceRequest& request) {
  for (const unsigned level : levels_of(request)) {
    std::map<CpuSet, CpuSet> by_cache;  // by all CPUs that use it
    for (const unsigned cpu : candidates)
      if (const auto cache = cache_of(cpus, cpu, level); cache && cache->bytes > 0)
        by_cache[cache->shared_by].insert(cpu);
    if (by_cache.empty()) continue;
    const auto fuller = [](const auto& a, const auto& b) {
      return std::pair(a.size(), *a.rbegin()) < std::pair(b.size(), *b.rbegin());
    };
    return std::ranges::max(by_cache | std::views::values, fuller);
  }
  return candidates;
}

// "L3 domain 0", "L3 domains 0-1".
std::string domain_words(unsigned level, const std::set<unsigned>& domains) {
  return fmt::format("L{} domain{} {}", level, domains.size() == 1 ? "" : "s",
                     format_cpu_list(domains));
}

// The CPUs of the command: those that are asked for, or one.
Result<CpuSet> command_cpus(const std::string& cpus, const PlaceRequest& request) {
  CpuSet candidates = request.allowed;
  const unsigned level = levels_of(request).front();
  if (!request.domains.empty()) {
    std::erase_if(candidates, [&](unsigned cpu) {
      const auto found = cache_of(cpus, cpu, level);
      return !found || !request.domains.contains(found->id);
    });
    if (candidates.empty())
      return std::unexpected(
          no_place("no allowed CPU uses " + domain_words(level, request.domains)));
  }
  if (candidates.empty()) return std::unexpected(Error{"measure", "without a CPU", 0, {}});
  for (const unsigned cpu : request.command)
    if (!candidates.contains(cpu))
      return std::unexpected(no_place(fmt::format(
          "CPU {} {}", cpu,
          request.allowed.contains(cpu) ? "does not use " + domain_words(level, request.domains)
          : is_isolated(cpus, cpu) ? "is isolated: 'taskset --cpu-list CPUS rdtctl ...' may use it"
                                   : "is offline or not allowed")));
  if (!request.command.empty()) return request.command;
  candidates = of_fullest_cache(cpus, candidates, request);
  for (const unsigned thread : threads_of_core(cpus, *candidates.rbegin()))
    if (candidates.contains(thread)) return CpuSet{thread};
  return CpuSet{*candidates.rbegin()};
}

// In the cache of that level; nothing if the command's first CPU has none.
std::optional<Result<Place>> place_in(const std::string& cpus, const PlaceRequest& request,
                                      const CpuSet& command, unsigned level) {
  const auto cache = cache_of(cpus, *command.begin(), level);
  if (!cache || cache->bytes == 0) return std::nullopt;
  if (request.beside_noise && !std::ranges::includes(cache->shared_by, command))
    return std::unexpected(
        no_place(fmt::format("{} do not share one L{} cache", cpu_words(command), level)));
  CpuSet cores, near;  // near: these and the other CPUs of the next smaller cache
  for (const unsigned cpu : command) {
    cores.merge(threads_of_core(cpus, cpu));
    if (const auto inner = cache_of(cpus, cpu, level - 1))
      near.insert(inner->shared_by.begin(), inner->shared_by.end());
  }
  near.insert(cores.begin(), cores.end());
  Place out{.command = command,
            .cache = {level, cache->id},
            .bytes = cache->bytes,
            .shared = cache->shared_by};
  if (const auto inner = cache_of(cpus, *command.begin(), level - 1))
    out.inner_bytes = inner->bytes;
  CpuSet others;
  std::ranges::set_intersection(cache->shared_by, request.allowed,
                                std::inserter(others, others.end()));
  // Noise on another thread of the command's core, or behind the same smaller cache, takes more
  // from it than the cache that is divided; it runs there only if no other CPU shares that one.
  out.noise = without(others, near);
  if (out.noise.empty()) {
    out.noise = without(others, cores);
    out.inner_is_shared = !out.noise.empty();
  }
  if (out.noise.empty()) {
    out.noise = without(others, command);
    out.core_is_shared = !out.noise.empty();
  }
  out.shared.merge(cores);
  if (out.noise.empty() && request.beside_noise)
    return std::unexpected(no_place(
        fmt::format("no other allowed CPU shares the L{} cache of {}", level, cpu_words(command))));
  return out;
}

// The system call needs room for all CPUs that the kernel knows, which may be more than cpu_set_t
// has.
using CpuMask = std::unique_ptr<cpu_set_t, decltype([](cpu_set_t* set) { CPU_FREE(set); })>;

}  // namespace

Result<Place> find_place(const std::string& cpus, const PlaceRequest& request) {
  const auto command = command_cpus(cpus, request);
  if (!command) return std::unexpected(command.error());
  for (const unsigned level : levels_of(request))
    if (auto place = place_in(cpus, request, *command, level)) return *std::move(place);
  return std::unexpected(no_place(
      request.level
          ? fmt::format("{} shows no L{} cache of {}", cpus, *request.level, cpu_words(*command))
          : fmt::format("{} shows no cache of {}", cpus, cpu_words(*command))));
}

std::optional<std::string> nearness_of_noise(const Place& place) {
  if (place.core_is_shared)
    return "The noise ran on the command's core: it took more than cache from it.";
  if (!place.inner_is_shared) return std::nullopt;
  return fmt::format("The noise shared the command's L{} cache: it took more than L{} from it.",
                     place.cache.level - 1, place.cache.level);
}

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

std::optional<uint64_t> probe_size(const Place& place, uint64_t share) {
  constexpr uint64_t page = 4096;
  const uint64_t bytes = share / 4 * 3 / page * page;
  return bytes < 2 * place.inner_bytes || bytes == 0 ? std::nullopt : std::optional(bytes);
}

CpuSet allowed_cpus() {
  const CpuMask set(CPU_ALLOC(most_cpus));
  const size_t bytes = CPU_ALLOC_SIZE(most_cpus);
  CPU_ZERO_S(bytes, set.get());
  (void)::sched_getaffinity(0, bytes, set.get());
  CpuSet out;
  for (unsigned cpu = 0; cpu < most_cpus; ++cpu)
    if (CPU_ISSET_S(cpu, bytes, set.get())) out.insert(cpu);
  return out;
}

Result<void> pin(const CpuSet& cpus) {
  const CpuMask set(CPU_ALLOC(most_cpus));
  const size_t bytes = CPU_ALLOC_SIZE(most_cpus);
  CPU_ZERO_S(bytes, set.get());
  for (const unsigned cpu : cpus)
    if (cpu < most_cpus) CPU_SET_S(cpu, bytes, set.get());
  if (::sched_setaffinity(0, bytes, set.get()) != 0)
    return errno_error("run", "on " + cpu_words(cpus));
  return {};
}

std::string cpu_words(const CpuSet& cpus) {
  return fmt::format("CPU{} {}", cpus.size() == 1 ? "" : "s", format_cpu_list(cpus));
}

}  // namespace rdtd::experiment
