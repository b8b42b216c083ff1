#include "probe_memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "context.hpp"
#include "print.hpp"
#include "rdtd/base/text.hpp"
#include "size_text.hpp"
#include "usage.hpp"

namespace rdtd::bench {

std::expected<Region, int> find_region(Client& client, proc::DeviceHolders& holders,
                                       const std::string& name) {
  const auto locks = client.list_locks();
  if (!locks) return std::unexpected(report(locks.error()));
  const auto found = std::ranges::find(*locks, name, &LockStatus::name);
  if (found == locks->end()) {
    std::vector<std::string> names;
    for (const LockStatus& lock : *locks) names.push_back(lock.name);
    note("rdtctl: there is no pseudo_lock '{}' in the policy in force{}\n", name,
         nearest_question(name, names));
    return std::unexpected(Exit::failed);
  }
  if (found->state != "locked") {
    note("rdtctl: pseudo_lock '{}' is not locked as the policy asks: {}\n", name, found->reason);
    return std::unexpected(Exit::failed);
  }
  // Asked before the first run, not in the first that reads the region.
  if (::access(found->device.c_str(), R_OK | W_OK) != 0)
    return std::unexpected(report(errno_error("open", found->device).error()));
  // The kernel empties a region for each program that maps it, and the probe writes to it.
  if (const auto holder = holders.find(name)) {
    note("rdtctl: bench overwrites pseudo_lock '{}', and {}\n", name, *holder);
    return std::unexpected(Exit::failed);
  }
  // "L2" and "L3": regions are not locked in a cache that is divided into code and data.
  const auto level = parse_unsigned<unsigned>(std::string_view(found->resource).substr(1));
  return Region{name, found->device, found->bytes, {level.value_or(0), found->domain}};
}

int fit_probe(Workload& workload, const Region& region) {
  if (region.bytes == 0) {
    note("rdtctl: the kernel does not tell how large pseudo_lock '{}' is\n", region.name);
    return Exit::failed;
  }
  experiment::Probe& probe = *workload.probe;
  if (probe.size == 0) probe.size = region.bytes;
  if (probe.size <= region.bytes) return Exit::ok;
  note("rdtctl: --probe {} reads more memory than pseudo_lock '{}' has: {}\n", workload.probe_text,
       region.name, size_text(region.bytes));
  return Exit::failed;
}

std::expected<std::vector<std::string>, int> size_probe(Workload& workload,
                                                        const experiment::Place& place,
                                                        const ProbeShare& share) {
  std::vector<std::string> warnings;
  if (!workload.probe) return warnings;
  experiment::Probe& probe = *workload.probe;
  const unsigned level = place.cache.level;
  const uint64_t bytes = share.ways == 0 || share.all_ways == 0
                             ? place.bytes
                             : place.bytes / share.all_ways * share.ways;
  const std::string inner = fmt::format("L{} cache of {}", level - 1, size_text(place.inner_bytes));
  if (probe.size == 0) {
    const auto size = experiment::probe_size(place, bytes);
    if (!size) {
      note(
          "rdtctl: group '{}' has {} of the L{} cache, and each core has an {} before it, which "
          "hides what a probe of that size does: use more ways, or --probe with a SIZE\n",
          share.group, size_text(bytes), level, inner);
      return std::unexpected(Exit::failed);
    }
    probe.size = *size;
  }
  if (probe.size <= place.inner_bytes)
    warnings.push_back(fmt::format(
        "The probe reads {}, which its core finds in its {}: the L{} cache makes no difference to "
        "it.",
        size_text(probe.size), inner, level));
  else if (probe.size > bytes)
    warnings.push_back(fmt::format("The probe reads {}, more than the {} of group '{}'.",
                                   size_text(probe.size), size_text(bytes), share.group));
  return warnings;
}

}  // namespace rdtd::bench
