#include "leases.hpp"

#include "rdtd/base/text.hpp"
#include "rdtd/bus/client.hpp"
#include "time_point.hpp"

namespace rdtd {

void print_leases(const Context& context, const std::vector<LeaseStatus>& leases) {
  if (leases.empty()) return;
  std::vector<std::vector<std::string>> rows;
  for (const LeaseStatus& lease : leases)
    rows.push_back({lease.name, std::to_string(lease.uid), time_text(lease.since),
                    lease.groups.empty() ? "none" : join(lease.groups, " ")});
  print("\n");
  print_table(context, {{"LEASE"}, {"UID", true}, {"SINCE"}, {"GROUPS", false, true}}, rows);
}

JsonValue leases_json(const std::vector<LeaseStatus>& leases) {
  JsonValue out = JsonValue::array();
  for (const LeaseStatus& lease : leases)
    out.push_back({{"lease", lease.name},
                   {"uid", lease.uid},
                   {"since_usec", lease.since},
                   {"groups", lease.groups}});
  return out;
}

std::vector<PolicyFile> lease_files(const Context& context) {
  if (context.elsewhere) return {};
  auto client = Client::connect();
  const auto leases = client ? client->list_leases() : std::unexpected(client.error());
  if (!leases) return {};
  std::vector<PolicyFile> out;
  for (const LeaseStatus& lease : *leases)
    if (!lease.policy.empty())
      out.push_back(lease_file(lease.name, lease.policy));
    else
      note("rdtctl: lease '{}' of user {} is left out: only that user and root may see it\n",
           lease.name, lease.uid);
  return out;
}

}  // namespace rdtd
