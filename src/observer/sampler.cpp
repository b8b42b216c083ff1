#include "rdtd/observer/sampler.hpp"

#include <sys/utsname.h>

#include <utility>

#include "rdtd/base/clock.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd {

namespace {

using resctrl::Filesystem;
using IoWays = decltype(observe::Header::io_ways);

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

// Those of all devices by the hardware, and those that io_alloc gives them.
Result<IoWays> read_io_ways(const Filesystem& filesystem, const Capabilities& capabilities) {
  IoWays out;
  for (const auto& [resource, cache] : capabilities.caches)
    if (const uint64_t ways = cache.shareable_bits.bits; ways != 0)
      for (const auto& [domain, bytes] : cache.way_bytes) out[cache_of(resource)][domain] |= ways;
  const auto root = resctrl::read_schemata(filesystem, std::string(root_group));
  if (!root) return std::unexpected(root.error());
  const auto io = resctrl::read_io(filesystem, *root);
  if (!io) return std::unexpected(io.error());
  for (const auto& [resource, masks] : *io)
    for (const auto& [domain, ways] : masks)
      if (ways != 0) out[cache_of(resource)][domain] |= ways;
  return out;
}

}  // namespace

observe::Header Sampler::header(double interval) const {
  utsname system{};
  (void)::uname(&system);
  observe::Header out{system.nodename, system.release, RDTD_VERSION, interval, {}};
  update(out);
  return out;
}

void Sampler::update(observe::Header& header) const {
  const auto capabilities = tree_.read_capabilities({});
  if (!capabilities) return;
  header.mb = mb_values_of(*capabilities);
  // A domain that is offline keeps the size of its ways.
  for (const auto& [resource, cache] : capabilities->caches)
    for (const auto& [domain, bytes] : cache.way_bytes)
      if (bytes > 0) header.way_bytes[cache_of(resource)][domain] = bytes;
  if (auto ways = read_io_ways(tree_.filesystem(), *capabilities))
    header.io_ways = std::move(*ways);
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
      if (auto text = schemata_of(of.group, label)) now.emplace(std::move(label), *std::move(text));
  for (const auto& [group, text] : now)
    if (const auto known = schemata_.find(group);
        all_amounts_ || known == schemata_.end() || known->second != text)
      out.schemata.emplace(group, text);
  for (const auto& [group, text] : schemata_)
    if (!now.contains(group)) out.schemata.emplace(group, "");
  schemata_ = std::move(now);
  all_amounts_ = false;
  return out;
}

// The group is there, and has been counted.
std::optional<std::string> Sampler::schemata_of(const std::string& group,
                                                const std::string& label) const {
  const std::set<Resource> constants_only;
  const auto schemata = resctrl::read_schemata(tree_.filesystem(), group, &constants_only);
  if (schemata) return schemata_line(*schemata);
  const auto known = schemata_.find(label);
  return known == schemata_.end() ? std::nullopt : std::optional(known->second);
}

}  // namespace rdtd
