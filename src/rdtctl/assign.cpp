#include <fmt/format.h>

#include <cstdio>

#include "print.hpp"
#include "verbs.hpp"

namespace rdtd {

int verbs::assign(const std::string& group, const std::vector<pid_t>& pids) {
  auto client = Client::connect();
  if (!client) return report(client.error());
  int exit = Exit::ok;
  for (const pid_t pid : pids)
    if (const auto assigned = client->assign(pid, group); !assigned)
      exit = report(assigned.error());
  if (exit == Exit::ok)
    note(
        "rdtctl: in group '{}' until the next exec or exit; write a [[rule]] for a permanent one\n",
        group);
  return exit;
}

}  // namespace rdtd
