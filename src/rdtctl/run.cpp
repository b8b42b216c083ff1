// run: joins the group, then becomes the program, so that no instruction of it runs outside.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "verbs.hpp"

namespace rdtd {

namespace {

// As env(1) has them.
constexpr int exit_cannot_execute = 126;
constexpr int exit_not_found = 127;

// Straight into resctrl, for root while the daemon does not run.
int join_directly(const Context& context, const std::string& group) {
  const auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  const auto tasks = tree->open_tasks(group_directory(group));
  if (!tasks && tasks.error().code == ENOENT) {
    fmt::print(stderr, "rdtctl: there is no group '{}' in {}\n", group, tree->path());
    return Exit::failed;
  }
  if (!tasks) return report(tasks.error());
  const int error = add_task(tasks->get(), ::getpid());
  return error == 0 ? Exit::ok : report(Error{"join", fmt::format("group '{}'", group), error, {}});
}

// The daemon is asked first, so that no rule takes the program out again.
int join(const Context& context, const std::string& group) {
  auto client = Client::connect();
  const auto assigned =
      client ? client->assign(::getpid(), group) : std::unexpected(client.error());
  if (assigned) return Exit::ok;
  if (assigned.error().unreachable() && ::geteuid() == 0)
    return join_directly(context, group);
  return report(assigned.error());
}

}  // namespace

int verbs::run(const Context& context, const std::string& group, std::vector<std::string> command) {
  if (const int exit = join(context, group); exit != Exit::ok) return exit;
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int error = errno;
  fmt::print(stderr, "rdtctl: cannot execute '{}': {}\n", command.front(), std::strerror(error));
  return error == ENOENT ? exit_not_found : exit_cannot_execute;
}

}  // namespace rdtd
