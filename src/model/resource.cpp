#include "rdtd/model/resource.hpp"

#include <fmt/format.h>

namespace rdtd {

std::optional<Resource> parse_resource(std::string_view name) {
  for (const Resource& resource : all_resources)
    if (resource.name() == name) return resource;
  return std::nullopt;
}

std::string domain_list(const std::set<DomainId>& domains) {
  std::string out;
  for (auto it = domains.begin(); it != domains.end();) {
    const auto first = static_cast<uint32_t>(*it);
    uint32_t last = first;
    while (++it != domains.end() && static_cast<uint32_t>(*it) - last == 1)
      last = static_cast<uint32_t>(*it);
    if (!out.empty()) out += ',';
    out += fmt::format("{}", first);
    if (last != first) out += fmt::format("-{}", last);
  }
  return out;
}

}  // namespace rdtd
