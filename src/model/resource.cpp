#include "rdtd/model/resource.hpp"

#include "rdtd/model/cpu_list.hpp"

namespace rdtd {

std::optional<Resource> parse_resource(std::string_view name) {
  for (const Resource& resource : all_resources)
    if (resource.name() == name) return resource;
  return std::nullopt;
}

std::string domain_list(const std::set<DomainId>& domains) {
  CpuSet ids;
  for (const DomainId domain : domains) ids.insert(ids.end(), static_cast<uint32_t>(domain));
  return format_cpu_list(ids);
}

}  // namespace rdtd
