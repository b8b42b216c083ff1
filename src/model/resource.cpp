#include "rdtd/model/resource.hpp"

namespace rdtd {

std::string_view to_string(Resource resource) {
  constexpr std::array<std::string_view, all_resources.size()> names = {
      "L3", "L3CODE", "L3DATA", "L2", "L2CODE", "L2DATA", "MB", "SMBA"};
  return names.at(static_cast<size_t>(resource));
}

std::optional<Resource> parse_resource(std::string_view name) {
  for (const Resource resource : all_resources)
    if (to_string(resource) == name) return resource;
  return std::nullopt;
}

}  // namespace rdtd
