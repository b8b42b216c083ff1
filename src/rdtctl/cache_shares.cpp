#include "cache_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rdtd/model/footprint.hpp"
#include "rdtd/model/schemata.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd {

CacheShares::CacheShares(const Context& context, const Tree& tree) {
  const auto capabilities = tree.read_capabilities(mount_options(context, tree));
  if (!capabilities) return;
  for (const auto& [resource, cache] : capabilities->caches)
    if (resource == Resource::L3 || resource == Resource::L3CODE) {
      way_bytes_ = cache.way_bytes;
      whole_bytes_ = 0;
      for (const auto& [domain, way] : way_bytes_) whole_bytes_ += way * cache.cbm_mask.count();
    }
  // Of a copy, or in a virtual machine, the kernel may not tell it.
  if (std::ranges::any_of(way_bytes_, [](const auto& way) { return way.second == 0; }))
    way_bytes_.clear();
}

void CacheShares::read(const Tree& tree, const std::vector<DomainCounters>& groups) {
  bytes_.clear();
  if (!any()) return;
  for (const DomainCounters& counted : groups) {
    const std::string group(control_group_of(counted.group));
    if (bytes_.contains(group)) continue;
    auto& bytes = bytes_[group];
    const auto text = tree.filesystem().read(resctrl::file_of(group, "schemata"));
    const auto schemata = text ? parse_schemata(*text) : std::unexpected(text.error());
    if (!schemata) continue;
    for (const auto& [domain, way] : way_bytes_)
      bytes[domain] = way * footprint(*schemata, Resource::L3, domain).count();
  }
}

std::optional<uint64_t> CacheShares::of(const Usage& usage) const {
  const auto found = bytes_.find(std::string(control_group_of(usage.directory)));
  if (found == bytes_.end() || found->second.empty()) return std::nullopt;
  if (usage.domain && usage.domain->first != "L3") return std::nullopt;
  uint64_t out = 0;
  for (const auto& [domain, bytes] : found->second)
    if (!usage.domain || usage.domain->second == domain) out += bytes;
  return out == 0 ? std::nullopt : std::optional(out);
}

std::string share_text(double used, uint64_t share, size_t cells, bool utf8) {
  const double part = used / static_cast<double>(share);
  const auto full = std::min(
      cells, static_cast<size_t>(std::lround(std::max(part, 0.0) * static_cast<double>(cells))));
  std::string bar;
  for (size_t i = 0; i < cells; i++)
    bar += i < full ? (utf8 ? "\u2587" : "#") : (utf8 ? "\u2581" : ".");
  return fmt::format("{}{:>4.0f}%", bar, std::min(part * 100, 999.0));
}

}  // namespace rdtd
