#include "value_text.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "rdtd/base/text.hpp"
#include "size_text.hpp"

namespace rdtd {

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

std::string values_text(const Capabilities& capabilities, Resource resource,
                        const DomainValues& values) {
  std::map<DomainId, std::string> texts;
  for (const auto& [domain, value] : values)
    texts[domain] = value_text(capabilities, resource, domain, value);
  return join(merged_domains(texts), ";");
}

std::string schemata_text(const Capabilities& capabilities, const Schemata& schemata) {
  std::vector<std::string> parts;
  for (const auto& [resource, values] : schemata)
    parts.push_back(
        fmt::format("{}:{}", to_string(resource), values_text(capabilities, resource, values)));
  return join(parts, " ");
}

std::string ways_text(Cbm mask, uint64_t bytes) {
  const std::string text = fmt::format("{} ({})", counted(mask.count(), "way"), to_string(mask));
  return bytes == 0 ? text : fmt::format("{}, {}", text, size_text(bytes));
}

}  // namespace rdtd
