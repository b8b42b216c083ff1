// Policy: the settings that the files request, merged, each value with its place. It refers to no
// machine; the planner decides whether a given one can grant it.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/base/located.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/model/resource.hpp"
#include "rdtd/policy/amount.hpp"
#include "rdtd/policy/diagnostic.hpp"

namespace rdtd {

// The key of a resource: "l3".
[[nodiscard]] std::string resource_key(Resource resource);

// Completes a unit's name as systemctl does: without a type, it is a service. A glob that ends in
// '*' is not changed.
[[nodiscard]] std::string complete_unit_name(std::string name);

// Why no group can have this name: "'a/b' cannot be the name of a group: ...". Nothing if one can.
[[nodiscard]] std::optional<std::string> group_name_problem(std::string_view name);

// The same for the name of a lease.
[[nodiscard]] std::optional<std::string> lease_name_problem(std::string_view name);

enum class OnStop { keep, remove };
enum class OnDrift { restore, report };
// Of amounts that this machine does not have or support.
enum class OnUnsupported { refuse, skip };
// The users who may read resctrl, beside root: a user group, or everybody.
enum class Readers { group, all };

struct DaemonSettings {
  std::string log_level = "info";
  OnStop on_stop = OnStop::keep;
  OnDrift drift = OnDrift::restore;
  OnUnsupported unsupported = OnUnsupported::refuse;
  Readers readers = Readers::group;
  std::chrono::microseconds reconcile_interval = std::chrono::seconds(30);  // 0: never
};

// One line of a domain table.
struct DomainAmount {
  std::optional<std::set<DomainId>> domains;  // absent: "*", every domain that no other line lists
  Location domains_where;
  Located<Amount> amount;
  // Of bandwidth: the amount in another form, for machines whose control does not take the first.
  std::optional<Located<Amount>> other_form = {};
};

// The range that a guard may use; of two forms, each must be one, and it is that of the first.
[[nodiscard]] std::optional<AmountRange> guard_range(const DomainAmount& line);

// Sorted by key, "*" last. A plain amount is one line for "*".
using AmountTable = std::vector<DomainAmount>;
// The line that is for this domain; nothing if none is.
[[nodiscard]] const DomainAmount* line_for(const AmountTable& table, DomainId domain);
using AmountTables = std::map<Resource, AmountTable>;
// Of controls that the language has no word for, by the names in `schemata`; "MB_MIN" for mb_min.
using ControlTables = std::map<std::string, AmountTable>;
inline constexpr const char* floor_of_bandwidth = "MB_MIN";

// A monitoring group that counts what tasks of the default group do on these CPUs.
struct MonitorCpus {
  Located<std::string> group;
  Located<CpuSet> cpus;
};

struct Group {
  Located<std::string> name;  // "default": the root of resctrl
  AmountTables amounts;
  ControlTables controls;
  bool exclusive = false;
  bool strict = false;  // exclusive also as to I/O devices
  std::optional<Located<std::string>> partition;
  std::optional<Located<CpuSet>> cpus;
  std::vector<MonitorCpus> monitor_cpus;  // of CPUs of the group; no two share one
  std::string description;
  bool is_protected = false;  // the guard acts when it suffers
  bool adopt = false;         // takes over a group of this name that rdtd did not make
  bool replaces = false;      // the group of this name of an earlier file
  // In the text of a lease: changes amounts of the group of this name, and nothing else of it.
  bool amends = false;
  // While a lease does: the amounts without it, and the path of the lease.
  std::optional<AmountTables> unamended;
  std::string amended_by;
};

// Gives the group the amounts of a lease that amends it, in place of those of an earlier text of
// that lease. An amount for some domains leaves the others as they are.
void amend(Group& group, const Group& change);

struct Partition {
  Located<std::string> name;
  AmountTables amounts;  // caches only
  bool strict = false;   // I/O devices may not fill its ways either
};

// Memory that the kernel keeps in a cache, as the device /dev/pseudo_lock/NAME.
struct PseudoLock {
  Located<std::string> name;
  AmountTables amounts;  // one line for one domain of one cache
  // Of the device, names or decimal numbers; root's if absent.
  std::optional<Located<std::string>> owner, user_group;
  unsigned mode = 0600;  // of the device

  [[nodiscard]] Resource resource() const { return amounts.begin()->first; }
  [[nodiscard]] const DomainAmount& line() const { return amounts.begin()->second.front(); }
  [[nodiscard]] DomainId domain() const { return *line().domains->begin(); }
};

enum class ConditionKind {
  name,
  thread,
  exe,
  cmdline,
  cgroup,
  unit,
  user_unit,
  vm,
  pod,
  container,
  user,
  user_group,
};

inline constexpr std::array condition_kinds = {
    ConditionKind::name,      ConditionKind::thread, ConditionKind::exe,
    ConditionKind::cmdline,   ConditionKind::cgroup, ConditionKind::unit,
    ConditionKind::user_unit, ConditionKind::vm,     ConditionKind::pod,
    ConditionKind::container, ConditionKind::user,   ConditionKind::user_group};

// The key of the condition.
[[nodiscard]] std::string_view to_string(ConditionKind kind);

struct Condition {
  ConditionKind kind = ConditionKind::name;
  std::vector<Located<std::string>>
      patterns;  // any of them; user and user_group: names or decimal numbers
};

// In place of a group in a rule: the process stays where it is.
inline constexpr std::string_view leave_group = "leave";

struct Rule {
  Located<std::string> group;
  std::optional<Located<std::string>> monitor;  // a monitoring group in that group
  std::vector<Condition> conditions;            // all of them
  Location where;
  // Its group cannot be had for now, and `group` is the default one. Processes that another tool
  // has put in a group stay there.
  bool stands_in = false;

  [[nodiscard]] bool leaves() const { return group.value == leave_group; }
};

// "/dev/pseudo_lock/NAME".
[[nodiscard]] std::string device_of_lock(std::string_view name);

// [observer]: for rdtd-observer, which reads the policy files itself.
struct ObserverSettings {
  std::chrono::microseconds interval{1'000'000};  // between samples, 0.2 to 60 s
  uint64_t record_bytes = 64 << 20;               // of the history on disk; 0: none
  bool operator==(const ObserverSettings&) const = default;
};

// [guard]: also for rdtd-observer, which lowers the bandwidth of groups while a protected one
// suffers.
enum class GuardMode { off, shadow, on };  // shadow: says what it would do
[[nodiscard]] std::string_view to_string(GuardMode mode);
struct GuardSettings {
  GuardMode mode = GuardMode::off;
  double traffic = 0.8;  // part of a domain's ceiling above which bandwidth is lowered, from 0.2
  Location where;        // of the mode
};

struct Policy {
  DaemonSettings daemon;
  ObserverSettings observer;
  GuardSettings guard;
  std::vector<Group> groups;          // in the order of files, then of lines
  std::vector<Partition> partitions;  // likewise
  std::vector<PseudoLock> locks;      // likewise
  std::vector<Rule> rules;            // likewise
  // [io], the ways that I/O devices fill: a group of the name "I/O" that has amounts only.
  std::optional<Group> io;
  Sources sources;

  // Under such a policy the default group stays as others set it.
  [[nodiscard]] bool divides_nothing() const {
    return groups.empty() && partitions.empty() && locks.empty() && !io;
  }
};

}  // namespace rdtd
