// The context of every verb of rdtctl, and the data that several of them read.
#pragma once

#include <expected>
#include <span>
#include <string>

#include "rdtd/bus/client.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/plan/prepare.hpp"
#include "rdtd/policy/parse.hpp"
#include "rdtd/resctrl/tree.hpp"

namespace rdtd {

enum class Json { off, pretty, compact };

struct Context {
  std::string root =
      "/";  // policy files are found below it, and with a copy of resctrl the ownership record
  std::string resctrl = "/sys/fs/resctrl";
  bool snapshot_given = false;  // --resctrl: a copy, not this machine's
  bool elsewhere = false;       // --root or --resctrl
  std::string proc = "/proc";
  std::string cpus = "/sys/devices/system/cpu";
  std::string lock_devices = "/sys/class/pseudo_lock";
  std::string debugfs = "/sys/kernel/debug";
  std::string tracing = "/sys/kernel/tracing";
  Json json = Json::off;
  bool legend = true;
  bool color = false;
  bool error_color = false;  // on standard error
  bool utf8 = true;
  bool terminal = false;
  unsigned columns = 0;  // of the terminal, or COLUMNS; 0: neither
};

// Exit codes, as rdtctl(1) lists them.
enum Exit {
  ok = 0,
  failed = 1,
  changes_pending = 2,
  not_running = 3,
  degraded = 5,
  usage = 64,
  no_resctrl = 69,
  not_permitted = 77,
  run_failed = 125,  // of run, which has the command's exit codes besides: any failure of its own
};

// Prints to standard error and returns the exit code that fits.
int report(const Error& error);
int report_file(const Error& error);  // of a file that is not resctrl's
int report(const Client::Failure& failure);
// The same, but of a refusal that names places in the policy as note_diagnostics() does.
int report(const Context& context, const Client::Failure& failure);

// Where a snapshot keeps the record of the groups that rdtd made: a directory that resctrl
// itself cannot have.
inline constexpr const char* snapshot_state = ".rdtd";

// Where rdtd-observer keeps what must survive a boot: /var/lib/rdtd.
[[nodiscard]] std::string state_directory(const Context& context);
// Where the daemon keeps the record of its groups.
[[nodiscard]] std::string state_folder(const Context& context);

// Warnings of users and user groups in the rules that this machine does not know; none where
// another machine is meant.
[[nodiscard]] std::vector<Diagnostic> unknown_users(const Context& context, const Policy& policy);

// resctrl as it is now, with what rdtd owns in it.
struct TreeMachine {
  Tree tree;
  Capabilities capabilities;
  Snapshot snapshot;
  MountOptions mount;
};
// A copy says how its original was mounted; of resctrl itself, /proc does.
[[nodiscard]] MountOptions mount_options(const Context& context, const Tree& tree);
[[nodiscard]] Result<TreeMachine> read_machine(const Context& context);
// As the daemon's load plans the files.
[[nodiscard]] std::expected<Prepared, Rejected> prepare_for(const TreeMachine& machine,
                                                            std::span<const PolicyFile> files);

// The error, when what is wrong is printed, is the exit code.
[[nodiscard]] std::expected<ParsedPolicy, int> parse_or_report(const Context& context,
                                                               std::span<const PolicyFile> files);

// The policy files below the root, planned against the machine. Prints what is wrong, warnings
// included; the error is the exit code.
struct Planned {
  TreeMachine machine;
  Policy policy;
  Plan plan;
};
[[nodiscard]] std::expected<Planned, int> plan_files(const Context& context);
// The same for these files, without leases.
[[nodiscard]] std::expected<Planned, int> plan_files(const Context& context,
                                                     const std::vector<PolicyFile>& files);

// Files that a user names; "-" is standard input.
[[nodiscard]] std::vector<PolicyFile> read_policy_files(const std::vector<std::string>& paths);

}  // namespace rdtd
