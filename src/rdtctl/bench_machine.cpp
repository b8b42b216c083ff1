#include "bench_machine.hpp"

#include <fmt/format.h>

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

// Nothing if the CPU has no cache of data of that level.
std::optional<Place> shared_cache(const std::string& cpus, unsigned cpu, unsigned level) {
  for (unsigned index = 0;; ++index) {
    const std::string cache = fmt::format("{}/cpu{}/cache/index{}", cpus, cpu, index);
    const std::string found = first_line(cache + "/level");
    if (found.empty()) return std::nullopt;
    if (found != std::to_string(level) || first_line(cache + "/type") == "Instruction") continue;
    return Place{cpu, parse_cpu_list(first_line(cache + "/shared_cpu_list")).value_or(CpuSet{}),
                 level, size_of(first_line(cache + "/size"))};
  }
}

}  // namespace

Result<Place> find_place(const std::string& cpus, const CpuSet& allowed) {
  if (allowed.empty()) return std::unexpected(Error{"measure", "without a CPU", 0, {}});
  const unsigned cpu = *allowed.begin();
  for (const unsigned level : {3U, 2U}) {
    auto place = shared_cache(cpus, cpu, level);
    if (!place) continue;
    std::erase_if(place->noise,
                  [&](unsigned other) { return other == cpu || !allowed.contains(other); });
    if (!place->noise.empty() && place->bytes > 0) return *place;
    return std::unexpected(
        Error{"measure", "beside noise", 0,
              fmt::format("no other allowed CPU shares the L{} cache of CPU {}", level, cpu)});
  }
  return std::unexpected(
      Error{"measure", "beside noise", 0, fmt::format("{} shows no cache of CPU {}", cpus, cpu)});
}

}  // namespace rdtd::bench
