#include "rdtd/observer/sampler.hpp"

#include <sys/utsname.h>

#include <utility>

#include "rdtd/base/clock.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd {

namespace {

observe::Header::MbValues mb_values_of(const Capabilities& capabilities) {
  const auto found = capabilities.bandwidths.find(Resource::MB);
  if (found == capabilities.bandwidths.end()) return {};
  const BandwidthInfo& info = found->second;
  const bool percent = info.unit == BandwidthUnit::percent;
  const double unit = percent ? 1 : static_cast<double>(unit_bytes(info.unit));
  return {percent, unit * info.bandwidth_gran, unit * info.min_bandwidth};
}

// Occupancy is counted by cache, not for instructions and data apart.
std::string cache_of(const Resource& resource) { return std::string(resource.name().substr(0, 2)); }

}  // namespace

observe::Header Sampler::header(double interval) const {
  utsname system{};
  (void)::uname(&system);
  observe::Header out{system.nodename, system.release, RDTD_VERSION, interval, {}};
  // Without them, little is known.
  if (const auto capabilities = tree_.read_capabilities({})) {
    out.mb = mb_values_of(*capabilities);
    for (const auto& [resource, cache] : capabilities->caches) {
      for (const auto& [domain, bytes] : cache.way_bytes)
        if (bytes > 0) out.way_bytes[cache_of(resource)][domain] = bytes;
    }
    out.io_ways = io_ways_of(*capabilities);
  }
  return out;
}

Sampler::IoWays Sampler::io_ways() const {
  const auto capabilities = tree_.read_capabilities({});
  return capabilities ? io_ways_of(*capabilities) : IoWays{};
}

// Those of all devices by the hardware, and those that io_alloc gives them.
Sampler::IoWays Sampler::io_ways_of(const Capabilities& capabilities) const {
  IoWays out;
  for (const auto& [resource, cache] : capabilities.caches)
    if (const uint64_t ways = cache.shareable_bits.bits; ways != 0)
      for (const auto& [domain, bytes] : cache.way_bytes) out[cache_of(resource)][domain] |= ways;
  const auto root = resctrl::read_schemata(tree_.filesystem(), std::string(root_group));
  const auto io =
      root ? resctrl::read_io(tree_.filesystem(), *root) : std::unexpected(root.error());
  if (!io) return out;
  for (const auto& [resource, masks] : *io)
    for (const auto& [domain, ways] : masks)
      if (ways != 0) out[cache_of(resource)][domain] |= ways;
  return out;
}

Result<observe::Sample> Sampler::sample() {
  observe::Sample out;
  out.monotonic_usec = clock_usec(CLOCK_BOOTTIME);
  out.time_usec = clock_usec(CLOCK_REALTIME);
  auto counters = tree_.read_counters();
  if (!counters) return std::unexpected(counters.error());
  out.counters = std::move(*counters);
  std::map<std::string, std::string> now;
  for (const DomainCounters& of : out.counters)
    if (std::string label = group_label(of.group); !is_mon_group(of.group) && !now.contains(label))
      now.emplace(std::move(label), schemata_of(of.group));
  for (const auto& [group, text] : now)
    if (const auto known = schemata_.find(group); known == schemata_.end() || known->second != text)
      out.schemata.emplace(group, text);
  for (const auto& [group, text] : schemata_)
    if (!now.contains(group)) out.schemata.emplace(group, "");
  schemata_ = std::move(now);
  return out;
}

std::string Sampler::schemata_of(const std::string& group) const {
  const std::set<Resource> constants_only;
  const auto schemata = resctrl::read_schemata(tree_.filesystem(), group, &constants_only);
  return schemata ? schemata_line(*schemata) : "";
}

}  // namespace rdtd
