// The value that a group has of a resource in a domain, if it has one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rdtd/model/snapshot.hpp"

namespace rdtd {

inline std::optional<uint32_t> value_in(const Schemata& schemata, const Resource& resource,
                                        DomainId domain) {
  const auto values = schemata.find(resource);
  if (values == schemata.end()) return std::nullopt;
  const auto value = values->second.find(domain);
  return value == values->second.end() ? std::nullopt : std::optional(value->second);
}

inline std::optional<uint32_t> value_now(const Snapshot& snapshot, const std::string& group,
                                         const Resource& resource, DomainId domain) {
  const auto state = snapshot.groups.find(group);
  return state == snapshot.groups.end() ? std::nullopt
                                        : value_in(state->second.schemata, resource, domain);
}

}  // namespace rdtd
