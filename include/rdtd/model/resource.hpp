// Resource: what resctrl can divide, by the names that stand in `schemata`
// (Documentation/filesystems/resctrl.rst). DomainId: the id of one instance of it, the number
// before '=' there (for a cache the cache id).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rdtd {

enum class Resource { L3, L3CODE, L3DATA, L2, L2CODE, L2DATA, MB, SMBA };

inline constexpr std::array all_resources = {Resource::L3, Resource::L3CODE, Resource::L3DATA,
                                             Resource::L2, Resource::L2CODE, Resource::L2DATA,
                                             Resource::MB, Resource::SMBA};

[[nodiscard]] std::string_view to_string(Resource resource);
[[nodiscard]] std::optional<Resource> parse_resource(std::string_view name);
// Caches are divided by capacity bit masks, the others by bandwidth.
[[nodiscard]] constexpr bool is_cache(Resource resource) { return resource < Resource::MB; }

enum class DomainId : uint32_t {};

[[nodiscard]] inline std::string to_string(DomainId id) {
  return std::to_string(static_cast<uint32_t>(id));
}

}  // namespace rdtd
