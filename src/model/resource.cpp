#include "rdtd/model/resource.hpp"

namespace rdtd {

std::optional<Resource> parse_resource(std::string_view name) {
  for (const Resource& resource : all_resources)
    if (resource.name() == name) return resource;
  return std::nullopt;
}

}  // namespace rdtd
