// run: joins the group, then executes the program, so that no instruction of it runs outside. The
// group may be one of its own: a lease, whose descriptor the program and its children inherit.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

#include "argument_vector.hpp"
#include "lease_text.hpp"
#include "print.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// With Exit::run_failed, those of env(1).
constexpr int exit_cannot_execute = 126;
constexpr int exit_not_found = 127;

// From the report of a failure to the exit code: no other code of rdtctl, which could be the
// command's.
int own_failure(int /*reported*/) { return Exit::run_failed; }

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

// Keeps the command, and what it starts, on these CPUs.
Result<void> stay_on(const CpuSet& cpus) {
  if (cpus.empty()) return {};
  const size_t count = *cpus.rbegin() + 1;
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(count),
                                                             [](cpu_set_t* s) { CPU_FREE(s); });
  const size_t size = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(size, set.get());
  for (const unsigned cpu : cpus) CPU_SET_S(cpu, size, set.get());
  if (::sched_setaffinity(0, size, set.get()) == 0) return {};
  return std::unexpected(Error{"run on", fmt::format("CPUs {}", format_cpu_list(cpus)), errno, {}});
}

int execute(std::vector<std::string> command) {
  ArgumentVector arguments(std::move(command));
  const int error = arguments.execute();
  note("rdtctl: {}\n", arguments.failure(error));
  return error == ENOENT ? exit_not_found : exit_cannot_execute;
}

// A group of its own, which may have to wait until another one goes.
Client::Answer<UniqueFd> make_group(Client& client, const LeaseGroup& group, double wait_seconds) {
  constexpr auto pause = std::chrono::seconds(1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(wait_seconds);
  for (bool said = false;; std::this_thread::sleep_for(pause)) {
    auto lease = client.lease(group.name, lease_text(group));
    if (lease || lease.error().kind != Client::Failure::Kind::no_closid ||
        std::chrono::steady_clock::now() >= end)
      return lease;
    if (!std::exchange(said, true)) note("rdtctl: waiting for a free CLOSID or RMID\n");
  }
}

}  // namespace

int verbs::run(const Context& context, const std::string& group, const CpuSet& cpus,
               std::vector<std::string> command) {
  if (const auto pinned = stay_on(cpus); !pinned) return own_failure(report(pinned.error()));
  if (const int exit = join(context, group); exit != Exit::ok) return own_failure(exit);
  return execute(std::move(command));
}

int verbs::run_leased(LeaseGroup group, const CpuSet& cpus, double wait_seconds,
                      std::vector<std::string> command) {
  if (const auto pinned = stay_on(cpus); !pinned) return own_failure(report(pinned.error()));
  auto client = Client::connect();
  if (!client) return own_failure(report(client.error()));
  const auto leases = client->list_leases();
  if (!leases) return own_failure(report(leases.error()));
  group.name = free_lease_name("run", ::getpid(), *leases);
  const auto lease = make_group(*client, group, wait_seconds);
  if (!lease) return own_failure(report(lease.error()));
  if (const auto assigned = client->assign(::getpid(), group.name); !assigned)
    return own_failure(report(assigned.error()));
  // Without FD_CLOEXEC. If the command cannot be executed, the end of rdtctl ends the lease.
  if (::fcntl(lease->get(), F_SETFD, 0) < 0)
    return own_failure(report(Error{"keep", "the lease", errno, {}}));
  return execute(std::move(command));
}

}  // namespace rdtd
