#include "lease_text.hpp"

#include <fmt/format.h>

#include "rdtd/policy/policy.hpp"
#include "toml_text.hpp"

namespace rdtd {

std::string lease_text(const LeaseGroup& group) {
  std::string out = fmt::format("[group.{}]\n", toml_key(group.name));
  for (const auto& [resource, amount] : group.amounts)
    out += fmt::format("{} = {}\n", resource_key(resource), toml_string(amount));
  if (group.exclusive) out += "exclusive = true\n";
  return out;
}

}  // namespace rdtd
