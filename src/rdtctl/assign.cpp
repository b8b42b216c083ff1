#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "verbs.hpp"

namespace rdtd {

namespace {

int assign(const std::string& group, const std::vector<pid_t>& pids) {
  auto client = Client::connect();
  if (!client) return report(client.error());
  int exit = Exit::ok;
  for (const pid_t pid : pids)
    if (const auto assigned = client->assign(pid, group); !assigned) exit = report(assigned.error());
  if (exit == Exit::ok) fmt::print(stderr, "rdtctl: in group '{}' until the next exec or the end; a [[rule]] is for what is to last\n", group);
  return exit;
}

struct Options {
  std::string group;
  std::vector<pid_t> pids;
};

}  // namespace

void add_assign(const Verbs& verbs) {
  auto options = std::make_shared<Options>();
  CLI::App& verb = verbs.add("assign", "Put running processes in a group, whatever the rules say, until they exec or end", "rdtctl assign -g batch 4711");
  verb.add_option("-g,--group", options->group, "A group of the policy in force")->type_name("GROUP")->required();
  verb.add_option("PID", options->pids, "Of the processes")->required()->check(CLI::Range(1, 1 << 22).description(""));
  verb.callback([verbs, options] { verbs.exit = assign(options->group, options->pids); });
}

}  // namespace rdtd
