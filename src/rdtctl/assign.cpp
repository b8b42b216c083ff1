#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "print.hpp"
#include "rdtd/base/text.hpp"
#include "verbs.hpp"

namespace rdtd {

int verbs::assign(const std::string& group, const std::vector<pid_t>& pids) {
  auto client = Client::connect();
  if (!client) return report(client.error());
  int exit = Exit::ok;
  std::vector<std::string> done;
  for (const pid_t pid : pids) {
    const auto assigned = client->assign(pid, group);
    if (assigned)
      done.push_back(std::to_string(pid));
    else
      exit = report(assigned.error());
  }
  if (exit != Exit::ok && !done.empty()) note("rdtctl: assigned: {}\n", join(done, ", "));
  if (!done.empty())
    note(
        "rdtctl: in group '{}' until the next exec or exit; write a [[rule]] for a permanent one\n",
        group);
  return exit;
}

}  // namespace rdtd
