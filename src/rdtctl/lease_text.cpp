#include "lease_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rdtd/base/text.hpp"
#include "rdtd/policy/policy.hpp"
#include "rdtd/policy/toml_text.hpp"

namespace rdtd {

std::string amount_text(Resource resource, unsigned amount) {
  return is_cache(resource) ? counted(amount, "way") : fmt::format("{}%", amount);
}

std::string lease_text(const LeaseGroup& group) {
  std::string out = fmt::format("[group.{}]\n", toml_key(group.name));
  for (const auto& [resource, amount] : group.amounts)
    out += fmt::format("{} = {}\n", resource_key(resource), toml_string(amount));
  if (group.exclusive) out += "exclusive = true\n";
  return out;
}

std::string free_lease_name(const std::string& verb, pid_t pid,
                            const std::vector<LeaseStatus>& leases) {
  const std::string first = fmt::format("{}-{}", verb, pid);
  std::string name = first;
  for (size_t number = 2; std::ranges::find(leases, name, &LeaseStatus::name) != leases.end();
       number++)
    name = fmt::format("{}-{}", first, number);
  return name;
}

}  // namespace rdtd
