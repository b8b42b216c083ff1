// Reads the capabilities of the processor from info/.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "controls.hpp"
#include "info_reader.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd::resctrl {

namespace {

constexpr std::string_view packages = "PERF_PKG_MON";

// The root's `size` file, and the masks of which it states the bytes.
struct Sizes {
  std::string text;
  Schemata masks;
};

// Another tool may change the masks between the two readings.
Result<Sizes> read_sizes(const Filesystem& filesystem, const Schemata& root) {
  constexpr int max_readings = 3;
  Sizes out{"", root};
  for (int reading = 0; reading < max_readings; reading++) {
    auto text = filesystem.read("size");
    if (!text && is_absent(text.error())) text = filesystem.read("size");
    if (!text && is_absent(text.error())) return out;
    // Without the sizes of ways, amounts in bytes are errors of the policy: a failure must not look
    // so.
    if (!text) return std::unexpected(text.error());
    out.text = *std::move(text);
    const auto again = filesystem.read("schemata");
    auto masks = parse_schemata(again ? *again : "");
    if (!masks || masks->empty() || *masks == out.masks) break;
    out.masks = *std::move(masks);
  }
  return out;
}

// The size of one way in each domain.
std::map<DomainId, uint64_t> way_sizes(const Sizes& root, Resource resource,
                                       const DomainValues& domains) {
  std::map<DomainId, uint64_t> sizes;
  for (const auto& [domain, mask] : domains) sizes[domain] = 0;
  const auto masks = root.masks.find(resource);
  if (masks == root.masks.end()) return sizes;
  for (const std::string_view line : split(root.text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || trim(line.substr(0, colon)) != to_string(resource))
      continue;
    for (const std::string_view part : split(line.substr(colon + 1), ';')) {
      const size_t equals = part.find('=');
      if (equals == std::string_view::npos) continue;
      const auto id = parse_unsigned<uint32_t>(trim(part.substr(0, equals)));
      const auto bytes = parse_unsigned<uint64_t>(trim(part.substr(equals + 1)));
      if (!id || !bytes || !sizes.contains(DomainId{*id})) continue;
      const auto mask = masks->second.find(DomainId{*id});
      if (mask == masks->second.end()) continue;
      sizes[mask->first] = *bytes / std::max(1U, Cbm{mask->second}.count());
    }
  }
  return sizes;
}

CacheInfo read_cache(InfoReader& info) {
  CacheInfo cache;
  cache.cbm_mask.bits = info.number("cbm_mask", 16);
  cache.min_cbm_bits = std::max(1U, info.number("min_cbm_bits"));
  cache.shareable_bits.bits = info.number_or("shareable_bits", 16, 0);
  cache.num_closids = info.number("num_closids");
  cache.io_alloc = info.has_io_alloc();
  return cache;
}

// The kernel states the unit nowhere, but delay_linear implies it: the kernel uses rates on AMD
// processors and declares these not linear, in steps of 1. It supports no percentages that are not
// linear today. The option mba_MBps applies to MB only, and not to AMD. For copies that lack their
// mount options: no percentage is above 100.
BandwidthUnit unit_of(Resource resource, bool delay_linear, uint32_t bandwidth_gran,
                      const DomainValues& root, const MountOptions& mount) {
  if (!delay_linear && (bandwidth_gran == 1 || largest(root) > 100))
    return BandwidthUnit::eighth_gbps;
  if (resource == Resource::MB && (mount.mba_MBps || largest(root) > 100))
    return BandwidthUnit::mbps;
  return BandwidthUnit::percent;
}

// `maximum`: by the kernel's description, which most kernels lack.
uint32_t unlimited_value(const BandwidthInfo& bandwidth, std::optional<uint32_t> maximum) {
  switch (bandwidth.unit) {
    case BandwidthUnit::percent: return 100;
    case BandwidthUnit::mbps: return highest_rate(bandwidth.bandwidth_gran);
    // The processor states it as a number of bits, at least these; see find_unlimited.
    case BandwidthUnit::eighth_gbps: return maximum.value_or(2048);
  }
  return 0;
}

BandwidthInfo read_bandwidth(InfoReader& info, ControlReader& controls, Resource resource,
                             const DomainValues& root, const MountOptions& mount) {
  BandwidthInfo bandwidth;
  bandwidth.bandwidth_gran = std::max(1U, info.number("bandwidth_gran"));
  bandwidth.min_bandwidth = info.number("min_bandwidth");
  bandwidth.num_closids = info.number("num_closids");
  bandwidth.unit = unit_of(resource, info.number_or("delay_linear", 10, 1) != 0,
                           bandwidth.bandwidth_gran, root, mount);
  const uint32_t unlimited = unlimited_value(bandwidth, controls.read(resource).maximum);
  for (const auto& [domain, value] : root) bandwidth.unlimited[domain] = unlimited;
  return bandwidth;
}

// `said`: what sparse_masks says, which came with Linux 6.7. Before it, masks may have gaps on AMD
// processors only (arch_has_sparse_bitmaps in arch/x86/kernel/cpu/resctrl/core.c).
void set_sparse_masks(const std::map<Resource, std::optional<bool>>& said, Capabilities& out) {
  const bool is_amd = std::ranges::any_of(out.bandwidths, [](const auto& bandwidth) {
    return bandwidth.second.unit == BandwidthUnit::eighth_gbps;
  });
  for (auto& [resource, cache] : out.caches)
    // Of a mask with gaps, the kernel compares only the first run with min_cbm_bits (cbm_validate
    // in fs/resctrl/ctrlmondata.c). No known processor has both; rdtd uses contiguous masks there.
    cache.sparse_masks = cache.min_cbm_bits <= 1 && said.at(resource).value_or(is_amd);
}

// Whether it has parts that only x86 has: rates of AMD and of mba_MBps, and a mode of throttling of
// Intel.
Result<bool> is_x86(const Filesystem& filesystem, const Capabilities& capabilities) {
  const auto has_rates = [](const auto& bandwidth) {
    return bandwidth.second.unit != BandwidthUnit::percent;
  };
  const auto mode = filesystem.read("info/MB/thread_throttle_mode");
  if (!mode && !is_absent(mode.error())) return std::unexpected(mode.error());
  return mode || std::ranges::any_of(capabilities.bandwidths, has_rates);
}

// resctrl does not say so. But MPAM lets devices fill all ways, and on older kernels it has fewer
// RMIDs than CLOSIDs, which no x86 processor has. Without caches, its steps of MB are a power of
// two of the whole; those of Intel are 10%.
// `num_rmids`: the largest one, without that of packages, which may be small on x86 too.
bool has_rmids_per_closid(const Capabilities& capabilities, unsigned num_rmids) {
  const auto is_shareable = [](const auto& cache) {
    return cache.second.shareable_bits == cache.second.cbm_mask;
  };
  const auto has_other_steps = [](const auto& bandwidth) {
    return bandwidth.second.unit == BandwidthUnit::percent && bandwidth.second.bandwidth_gran != 10;
  };
  if (capabilities.divides_nothing()) return false;
  if (num_rmids < capabilities.num_closids()) return true;
  return capabilities.caches.empty() ? std::ranges::any_of(capabilities.bandwidths, has_other_steps)
                                     : std::ranges::all_of(capabilities.caches, is_shareable);
}

}  // namespace

Result<std::vector<std::string>> monitoring_directories(const Filesystem& filesystem) {
  std::vector<std::string> out;
  const auto entries = filesystem.list("info");
  if (!entries && !is_absent(entries.error())) return std::unexpected(entries.error());
  if (!entries) return out;
  for (const Filesystem::Entry& entry : *entries)
    if (entry.is_directory && entry.name.ends_with(monitoring_suffix)) out.push_back(entry.name);
  return out;
}

Result<Capabilities> read_capabilities(const Filesystem& filesystem, const Schemata& root,
                                       const MountOptions& mount) {
  Capabilities out;
  const auto sizes = read_sizes(filesystem, root);
  if (!sizes) return std::unexpected(sizes.error());
  ControlReader controls(filesystem);
  std::map<Resource, std::optional<bool>> sparse_masks;
  for (const auto& [resource, values] : root) {
    if (!parse_resource(resource.name())) {
      Control& control = out.controls[resource] = controls.read(resource);
      for (const auto& [domain, value] : values) control.domains.insert(domain);
      continue;
    }
    InfoReader info(filesystem, to_string(resource));
    if (is_cache(resource)) {
      constexpr uint32_t unsaid = 2;
      const uint32_t sparse = info.number_or("sparse_masks", 10, unsaid);
      sparse_masks[resource] = sparse == unsaid ? std::nullopt : std::optional(sparse == 1);
      out.caches[resource] = read_cache(info);
      out.caches[resource].way_bytes = way_sizes(*sizes, resource, values);
    } else {
      out.bandwidths[resource] = read_bandwidth(info, controls, resource, values, mount);
    }
    if (info.error()) return std::unexpected(*info.error());
  }
  if (controls.error()) return std::unexpected(*controls.error());
  set_sparse_masks(sparse_masks, out);
  // A group takes one RMID for the counters of all directories.
  uint32_t most_rmids = 0;
  const auto monitoring = monitoring_directories(filesystem);
  if (!monitoring) return std::unexpected(monitoring.error());
  for (const std::string& name : *monitoring) {
    InfoReader info(filesystem, name);
    constexpr uint32_t not_said = 0;
    const uint32_t num_rmids = info.number_or("num_rmids", 10, not_said);
    if (info.error()) return std::unexpected(*info.error());
    if (num_rmids == not_said) continue;
    if (name != packages) most_rmids = std::max(most_rmids, num_rmids);
    out.num_rmids = std::min(out.num_rmids.value_or(num_rmids), num_rmids);
  }
  const auto x86 = is_x86(filesystem, out);
  if (!x86) return std::unexpected(x86.error());
  out.rmids_per_closid = most_rmids > 0 && !*x86 && has_rmids_per_closid(out, most_rmids);
  return out;
}

}  // namespace rdtd::resctrl
