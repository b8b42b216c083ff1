#include <algorithm>
#include <string>
#include <vector>

#include "lock_devices.hpp"
#include "print.hpp"
#include "rdtd/base/text.hpp"
#include "verbs.hpp"

namespace rdtd {

int verbs::adopt(const Context& context, const std::vector<std::string>& groups) {
  auto client = Client::connect();
  const auto adopted = client ? client->adopt(groups) : std::unexpected(client.error());
  if (!adopted) return report(context, adopted.error());
  renew_device_access(context);
  std::vector<std::string> others;
  for (const std::string& group : groups)
    if (std::ranges::find(*adopted, group) == adopted->end()) others.push_back(group);
  if (!adopted->empty()) note("rdtctl: taken over: {}\n", join(*adopted, ", "));
  if (!others.empty()) note("rdtctl: rdtd's already: {}\n", join(others, ", "));
  return Exit::ok;
}

}  // namespace rdtd
