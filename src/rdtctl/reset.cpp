#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "rdtd/proc/device_holders.hpp"
#include "rdtd/resctrl/read.hpp"
#include "rdtd/resctrl/root_access.hpp"
#include "rdtd/resctrl/transaction.hpp"
#include "print.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// For root while the daemon is not running, for example when its package is removed.
int reset_directly(const Context& context) {
  const auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  auto record = Directory::open(state_folder(context));
  if (!record && record.error().code == ENOENT) return Exit::ok;  // it never ran here
  auto ownership = record ? Ownership::load(std::move(*record)) : std::unexpected(record.error());
  if (!ownership) return report(ownership.error());
  if (const auto locked = ownership->lock(); !locked) return report(locked.error());
  const auto resctrl_lock = tree->filesystem().lock();  // if another tool has it, without
  auto machine = resctrl::read_machine(tree->filesystem(), mount_options(context, *tree), {});
  proc::DeviceHolders holders(context.proc, context.lock_devices,
                              proc::DeviceHolders::command_wait);
  const auto removed = machine ? resctrl::remove_owned_groups(
                                     tree->filesystem(), *ownership, std::move(*machine),
                                     [&](const std::string& lock) { return holders.find(lock); })
                               : std::unexpected(machine.error());
  const auto root = Directory::open_untrusted(context.resctrl);
  const auto state = root ? Directory::open(state_folder(context)) : std::unexpected(root.error());
  const auto admitted = state ? resctrl::admit(resctrl::Admit::before, *root, *state)
                              : std::unexpected(state.error());
  const std::string by_hand = state_folder(context) + "/" + manual_record;
  std::error_code failed;
  std::filesystem::remove(by_hand, failed);
  if (!removed) return report(removed.error());
  if (!admitted) return report(admitted.error());
  return failed ? report(Error{"remove", by_hand, failed.value(), {}}) : Exit::ok;
}

}  // namespace

int verbs::reset(const Context& context) {
  auto client = Client::connect();
  const auto answer = client ? client->reset() : std::unexpected(client.error());
  const bool directly = !answer && answer.error().unreachable() && ::geteuid() == 0;
  if (const int exit = answer     ? Exit::ok
                       : directly ? reset_directly(context)
                                  : report(answer.error());
      exit != Exit::ok)
    return exit;
  note("rdtctl: removed every group that rdtd created, until the next {} of rdtd\n",
       directly ? "start" : "reload or start");
  return Exit::ok;
}

}  // namespace rdtd
