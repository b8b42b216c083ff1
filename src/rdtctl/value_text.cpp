#include "value_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "rdtd/base/text.hpp"
#include "size_text.hpp"

namespace rdtd {

namespace {

// 0 if it is not known.
uint64_t way_bytes(const Capabilities& capabilities, Resource resource, DomainId domain) {
  const auto cache = capabilities.caches.find(resource);
  if (cache == capabilities.caches.end()) return 0;
  const auto bytes = cache->second.way_bytes.find(domain);
  return bytes == cache->second.way_bytes.end() ? 0 : bytes->second;
}

// 0 if the machine does not say which there are.
size_t count_domains(const Capabilities& capabilities, Resource resource) {
  if (const auto cache = capabilities.caches.find(resource); cache != capabilities.caches.end())
    return cache->second.way_bytes.size();
  if (const auto control = capabilities.controls.find(resource);
      control != capabilities.controls.end())
    return control->second.domains.size();
  const auto limit = capabilities.bandwidths.find(resource);
  return limit == capabilities.bandwidths.end() ? 0 : limit->second.unlimited.size();
}

}  // namespace

std::string bandwidth_text(const BandwidthInfo& info, DomainId domain, uint32_t value) {
  if (info.unit == BandwidthUnit::percent) return fmt::format("{}%", value);
  // The kernel starts with values above `unlimited` on a mount with mba_MBps.
  const auto unlimited = info.unlimited.find(domain);
  if (unlimited != info.unlimited.end() && value >= unlimited->second) return "unlimited";
  return info.unit == BandwidthUnit::mbps ? fmt::format("{} MiB/s", value)
                                          : fmt::format("{} GB/s", value / 8.0);
}

std::string value_text(const Capabilities& capabilities, Resource resource, DomainId domain,
                       uint32_t value) {
  if (resource.is_bitmap()) return to_string(Cbm{value});
  const auto info = capabilities.bandwidths.find(resource);
  const bool rates =
      info != capabilities.bandwidths.end() && info->second.unit != BandwidthUnit::percent;
  return rates ? bandwidth_text(info->second, domain, value) : std::to_string(value);
}

std::string schemata_text(const Capabilities& capabilities, const Schemata& schemata) {
  std::vector<std::string> parts;
  for (const auto& [resource, values] : schemata) {
    std::map<DomainId, std::string> texts;
    for (const auto& [domain, value] : values)
      texts[domain] = value_text(capabilities, resource, domain, value);
    parts.push_back(fmt::format("{}:{}", to_string(resource), join(merged_domains(texts), ";")));
  }
  return join(parts, " ");
}

std::string amount_text(const Capabilities& capabilities, Resource resource, DomainId domain,
                        uint32_t value) {
  if (const auto limit = capabilities.bandwidths.find(resource);
      limit != capabilities.bandwidths.end())
    return bandwidth_text(limit->second, domain, value);
  if (!is_cache(resource)) return value_text(capabilities, resource, domain, value);
  const Cbm mask{value};
  const std::string ways = counted(mask.count(), "way");
  const uint64_t bytes = way_bytes(capabilities, resource, domain) * mask.count();
  return bytes == 0 ? ways : fmt::format("{} {}", ways, size_text(bytes));
}

std::string domains_text(const Capabilities& capabilities, Resource resource,
                         const std::map<DomainId, std::string>& texts) {
  const bool alike = std::ranges::all_of(
      texts, [&](const auto& text) { return text.second == texts.begin()->second; });
  return alike && !texts.empty() && texts.size() == count_domains(capabilities, resource)
             ? texts.begin()->second
             : join(merged_domains(texts), ";");
}

std::string ways_text(Cbm mask, uint64_t bytes) {
  const std::string text = fmt::format("{} ({})", counted(mask.count(), "way"), to_string(mask));
  return bytes == 0 ? text : fmt::format("{}, {}", text, size_text(bytes));
}

}  // namespace rdtd
