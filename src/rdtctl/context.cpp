#include "context.hpp"

#include "leases.hpp"
#include "no_policy.hpp"
#include "output.hpp"
#include "print.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "rdtd/base/directory.hpp"
#include "rdtd/base/unique_fd.hpp"
#include "rdtd/rules/users.hpp"
#include "rdtd/proc/users.hpp"
#include "rdtd/resctrl/ownership.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd {

int report(const Error& error) {
  const bool is_missing = error.code == ENODEV || error.code == ENOENT;
  std::string_view hint;
  if (error.path == Context{}.resctrl && error.code == EACCES)
    hint = "; only root and the user group 'rdtd' may read it";
  else if (error.path == Context{}.resctrl && is_missing)
    hint = "; 'rdtctl doctor' says why";
  note("rdtctl: {}{}\n", error.text(), hint);
  if (is_missing) return Exit::no_resctrl;
  return error.code == EACCES || error.code == EPERM ? Exit::not_permitted : Exit::failed;
}

int report_file(const Error& error) {
  const int exit = report(error);
  return exit == Exit::no_resctrl ? Exit::failed : exit;
}

int report(const Client::Failure& failure) {
  using enum Client::Failure::Kind;
  const bool ends_line = failure.text.ends_with('\n');
  // A refusal that names its places reads like a compiler's: no name before it.
  note("{}{}{}", failure.kind == refused && ends_line ? "" : "rdtctl: ", failure.text,
       ends_line ? "" : "\n");
  if (failure.unreachable()) return Exit::not_running;
  return failure.kind == Client::Failure::Kind::not_permitted ? Exit::not_permitted : Exit::failed;
}

std::string state_directory(const Context& context) {
  return (std::filesystem::path(context.root) / "var/lib/rdtd").string();
}

std::string state_folder(const Context& context) {
  return (std::filesystem::path(context.snapshot_given ? context.root : "/") / "run/rdtd").string();
}

std::vector<Diagnostic> unknown_users(const Context& context, const Policy& policy) {
  std::vector<Diagnostic> warnings;
  if (!context.elsewhere) (void)look_up_users(policy, proc::user_database(), {}, warnings);
  return warnings;
}

MountOptions mount_options(const Context& context, const Tree& tree) {
  if (context.snapshot_given) return resctrl::read_copied_mount_options(tree.filesystem());
  const auto proc = Directory::open(context.proc);
  const auto mounted = proc ? resctrl::read_mount_options(*proc) : std::unexpected(proc.error());
  return mounted.value_or(MountOptions{});
}

// Nothing if the kernel does not say.
std::optional<CpuSet> possible_cpus(const Context& context) {
  const auto directory = Directory::open(context.cpus);
  const auto text = directory ? directory->read("possible") : std::unexpected(directory.error());
  auto cpus = text ? parse_cpu_list(trim(*text)) : std::nullopt;
  return cpus && !cpus->empty() ? std::move(cpus) : std::nullopt;
}

// Nothing if a copy does not say.
std::optional<bool> pseudo_locking(const Context& context, const Tree& tree) {
  if (context.snapshot_given) return resctrl::read_copied_pseudo_locking(tree.filesystem());
  const auto proc = Directory::open(context.proc);
  const auto cpuinfo = proc ? proc->read("cpuinfo") : std::unexpected(proc.error());
  return cpuinfo ? std::optional(can_pseudo_lock(*cpuinfo)) : std::nullopt;
}

Result<TreeMachine> read_machine(const Context& context) {
  auto tree = Tree::open(context.resctrl);
  if (!tree && context.snapshot_given && tree.error().code == ENODEV)
    return std::unexpected(
        Error{"use", context.resctrl, ENODEV, "not a copy of resctrl: schemata is missing"});
  if (!tree) return std::unexpected(tree.error());
  const MountOptions mount = mount_options(context, *tree);
  auto capabilities = tree->read_capabilities(mount);
  if (!capabilities) return std::unexpected(capabilities.error());
  auto snapshot = tree->read_snapshot({});
  if (!snapshot) return std::unexpected(snapshot.error());
  find_unlimited(*capabilities, *snapshot);
  snapshot->possible_cpus = context.snapshot_given
                                ? resctrl::read_copied_possible_cpus(tree->filesystem())
                                : possible_cpus(context);
  capabilities->pseudo_locking = pseudo_locking(context, *tree);
  const auto copy = Directory::open_untrusted(context.resctrl);
  if (!copy) return std::unexpected(copy.error());
  auto state = copy->open_directory(snapshot_state);
  const bool is_copy = state.has_value();
  if (!state && state.error().code == ENOENT) state = Directory::open(state_folder(context));
  if (!state && state.error().code != ENOENT) return std::unexpected(state.error());
  if (state) {
    auto ownership = Ownership::load(std::move(*state));
    if (!ownership) return std::unexpected(ownership.error());
    // A copy has other inodes than its original.
    snapshot->owned = is_copy || context.snapshot_given      ? ownership->names()
                      : ownership->is_of(tree->filesystem()) ? ownership->owned(*snapshot)
                                                             : std::set<std::string>{};
  }
  return TreeMachine{std::move(*tree), std::move(*capabilities), std::move(*snapshot), mount};
}

std::expected<Prepared, Rejected> prepare_for(const TreeMachine& machine,
                                              std::span<const PolicyFile> files) {
  return prepare(files, Machine{machine.capabilities, machine.snapshot, machine.mount});
}

namespace {

// Prints warnings or errors; the error is what is wrong with the files.
std::expected<Planned, int> plan_on(const Context& context, TreeMachine machine,
                                    const std::vector<PolicyFile>& files) {
  auto prepared = prepare_for(machine, files);
  if (!prepared) {
    print_diagnostics(context, prepared.error().diagnostics, prepared.error().sources);
    return std::unexpected(Exit::failed);
  }
  std::ranges::move(unknown_users(context, prepared->policy),
                    std::back_inserter(prepared->warnings));
  sort_by_place(prepared->warnings);
  note_diagnostics(context, prepared->warnings, prepared->policy.sources);
  return Planned{std::move(machine), std::move(prepared->policy), std::move(prepared->plan)};
}

PolicyFile read_stream(int fd, const std::string& name) {
  auto text = read_all(fd, name, policy_file_limit);
  if (text) return {.path = name, .text = std::move(*text), .problem = {}};
  const bool large = text.error().code == EFBIG;
  return {.path = name,
          .state = PolicyFile::State::unreadable,
          .text = {},
          .problem = large ? "is larger than 1 MiB, which no policy is"
                           : fmt::format("cannot be read: {}", std::strerror(text.error().code))};
}

}  // namespace

std::vector<PolicyFile> read_policy_files(const std::vector<std::string>& paths) {
  std::vector<PolicyFile> out;
  for (const std::string& path : paths) {
    // A pipe that a user names is to be read: rdtctl check <(command).
    std::error_code unknown;
    const bool is_pipe = std::filesystem::is_fifo(path, unknown);
    const UniqueFd pipe(is_pipe ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1);
    out.push_back(path == "-" ? read_stream(STDIN_FILENO, "<stdin>")
                  : pipe      ? read_stream(pipe.get(), path)
                              : read_policy_file(path));
  }
  return out;
}

std::expected<ParsedPolicy, int> parse_or_report(const Context& context,
                                                 std::span<const PolicyFile> files) {
  ParsedPolicy parsed = parse_policy(files);
  if (!has_errors(parsed.diagnostics)) return parsed;
  print_diagnostics(context, parsed.diagnostics, parsed.policy.sources);
  return std::unexpected(Exit::failed);
}

std::expected<Planned, int> plan_files(const Context& context,
                                       const std::vector<PolicyFile>& files) {
  if (const auto parsed = parse_or_report(context, files); !parsed)
    return std::unexpected(parsed.error());
  auto machine = read_machine(context);
  if (!machine) return std::unexpected(report(machine.error()));
  return plan_on(context, std::move(*machine), files);
}

std::expected<Planned, int> plan_files(const Context& context) {
  const std::vector<PolicyFile> files = find_policy_files(context.root);
  (void)report_no_policy(context.root, files);
  // A reload keeps the leases that fit.
  std::vector<PolicyFile> with_leases = lease_files(context);
  if (with_leases.empty()) return plan_files(context, files);
  with_leases.insert(with_leases.begin(), files.begin(), files.end());
  auto machine = read_machine(context);
  if (!machine) return std::unexpected(report(machine.error()));
  if (prepare_for(*machine, with_leases)) return plan_on(context, std::move(*machine), with_leases);
  note("rdtctl: not every lease fits: a reload ends those that do not\n");
  return plan_files(context, files);
}

}  // namespace rdtd
