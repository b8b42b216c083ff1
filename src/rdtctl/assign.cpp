#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "print.hpp"
#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// proc(5), /proc/PID/stat: the flags follow five fields behind the name in parentheses; PF_KTHREAD
// of the kernel's include/linux/sched.h.
bool is_kernel_thread(const Context& context, pid_t pid) {
  constexpr size_t flags_field = 6;
  constexpr unsigned kernel_thread = 0x00200000;
  const auto proc = Directory::open(context.proc);
  const auto stat = proc ? proc->read(fmt::format("{}/stat", pid)) : std::unexpected(proc.error());
  const size_t name = stat ? stat->rfind(')') : std::string::npos;
  if (name == std::string::npos) return false;
  const auto fields = split(trim(std::string_view(*stat).substr(name + 1)), ' ');
  const auto flags =
      fields.size() > flags_field ? parse_unsigned<unsigned>(fields[flags_field]) : std::nullopt;
  return flags && (*flags & kernel_thread) != 0;
}

// Why an assignment is probably a slip; empty: it is not.
std::string objection(const Context& context, const std::string& group, pid_t pid) {
  if (group == "default") return {};
  if (pid == 1)
    return "it is the service manager, and whatever it starts later would be in the group";
  return is_kernel_thread(context, pid) ? "it is a kernel thread, which works for all processes"
                                        : "";
}

}  // namespace

int verbs::assign(const Context& context, const std::string& group, const std::vector<pid_t>& pids,
                  bool force) {
  for (const pid_t pid : pids)
    if (const std::string why = objection(context, group, pid); !why.empty() && !force) {
      note("rdtctl: process {} is not assigned: {}; --force assigns it\n", pid, why);
      return Exit::failed;
    }
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
