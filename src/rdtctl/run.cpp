// run: joins the group, then executes the program, so that no instruction of it runs outside. The
// group may be one of its own: a lease, whose descriptor the program and its children inherit.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "lease_text.hpp"
#include "print.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// Those of env(1).
constexpr int exit_cannot_execute = 126;
constexpr int exit_not_found = 127;

// Writes to resctrl, for root while the daemon is not running.
int join_directly(const Context& context, const std::string& group) {
  const auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  const auto tasks = tree->filesystem().open_tasks(group_directory(group));
  if (!tasks && tasks.error().code == ENOENT) {
    note("rdtctl: there is no group '{}' in {}\n", group, tree->path());
    return Exit::failed;
  }
  if (!tasks) return report(tasks.error());
  const int error = (*tasks)->add(::getpid());
  return error == 0 ? Exit::ok : report(Error{"join", fmt::format("group '{}'", group), error, {}});
}

// Asks the daemon first, so that no rule moves the program out again.
int join(const Context& context, const std::string& group) {
  auto client = Client::connect();
  const auto assigned =
      client ? client->assign(::getpid(), group) : std::unexpected(client.error());
  if (assigned) return Exit::ok;
  if (assigned.error().unreachable() && ::geteuid() == 0) return join_directly(context, group);
  return report(assigned.error());
}

int execute(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int error = errno;
  note("rdtctl: cannot execute '{}': {}\n", command.front(), std::strerror(error));
  return error == ENOENT ? exit_not_found : exit_cannot_execute;
}

}  // namespace

int verbs::run(const Context& context, const std::string& group, std::vector<std::string> command) {
  if (const int exit = join(context, group); exit != Exit::ok) return exit;
  return execute(std::move(command));
}

int verbs::run_leased(LeaseGroup group, std::vector<std::string> command) {
  auto client = Client::connect();
  if (!client) return report(client.error());
  const auto leases = client->list_leases();
  if (!leases) return report(leases.error());
  group.name = free_lease_name("run", ::getpid(), *leases);
  const auto lease = client->lease(group.name, lease_text(group));
  if (!lease) return report(lease.error());
  if (const auto assigned = client->assign(::getpid(), group.name); !assigned)
    return report(assigned.error());
  // Without FD_CLOEXEC. If the command cannot be executed, the end of rdtctl ends the lease.
  if (::fcntl(lease->get(), F_SETFD, 0) < 0) return report(Error{"keep", "the lease", errno, {}});
  return execute(std::move(command));
}

}  // namespace rdtd
