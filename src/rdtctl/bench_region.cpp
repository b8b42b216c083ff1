#include "bench_region.hpp"

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
    const auto nearest = nearest_name(name, names);
    note("rdtctl: there is no pseudo_lock '{}' in the policy in force{}\n", name,
         nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
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

}  // namespace rdtd::bench
