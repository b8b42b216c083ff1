#include "diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/model/machine.hpp"

namespace rdtd {

namespace {

using enum Finding::Kind;

// Flags of /proc/cpuinfo (arch/x86/include/asm/cpufeatures.h) that resctrl builds on.
constexpr std::array control_flags = {"cat_l3", "cat_l2", "mba"};
// The names of these in `rdt=`, in the same order.
constexpr std::array<std::string_view, 3> control_features = {"l3cat", "l2cat", "mba"};
constexpr std::array other_flags = {"cdp_l3", "cdp_l2", "cqm_llc", "cqm_mbm_total",
                                    "cqm_mbm_local"};

// What resctrl builds on where /proc/cpuinfo does not show it, and what offers it.
struct Extension {
  std::string_view name, needs;
};

Extension extension_of(MachineFacts::Architecture architecture) {
  if (architecture == MachineFacts::Architecture::arm64)
    return {
        "MPAM",
        "a kernel from 7.1 on, built with CONFIG_ARM64_MPAM=y, and firmware that describes MPAM "
        "to it (ACPI table MPAM)"};
  return {"CBQRI (Ssqosid)", "a kernel with resctrl for RISC-V"};
}

Finding processor(const MachineFacts& facts) {
  if (facts.architecture != MachineFacts::Architecture::x86) {
    const Extension extension = extension_of(facts.architecture);
    if (facts.mount_options || facts.kernel_has_resctrl)
      return {fine, fmt::format("the kernel offers resctrl, by {}", extension.name), ""};
    return {problem,
            fmt::format("the kernel offers no resctrl: it has no driver of {}, or the processor "
                        "has none",
                        extension.name),
            fmt::format("use {}", extension.needs)};
  }
  std::vector<std::string> has;
  for (const char* flag : control_flags)
    if (facts.cpu_flags.contains(flag)) has.emplace_back(flag);
  // The kernel registers resctrl only where it can use it. It knows L3 CAT of Haswell servers,
  // whose CPUID announces none, and processors that can only count have no control flag either.
  if (has.empty() && !facts.mount_options && !facts.kernel_has_resctrl)
    return {problem,
            fmt::format("the processor has no RDT: its flags include none of {}",
                        fmt::join(control_flags, ", ")),
            "use a machine with Intel RDT or AMD QoS; a virtual machine has it only if its host "
            "passes it through"};
  for (const char* flag : other_flags)
    if (facts.cpu_flags.contains(flag)) has.emplace_back(flag);
  return {fine,
          has.empty() ? "the kernel offers resctrl, although /proc/cpuinfo shows no flag of it"
                      : fmt::format("the processor has {}", join(has, ", ")),
          ""};
}

bool is_control(std::string_view flag) {
  return std::ranges::find(control_flags, flag) != control_flags.end();
}

struct TurnedOff {
  std::string_view feature, parameter;
};

// `rdt=` of Documentation/admin-guide/kernel-parameters.rst: a list; '!' turns off.
std::vector<TurnedOff> turned_off(const MachineFacts& facts) {
  std::vector<TurnedOff> out;
  for (const std::string_view word : split(facts.command_line, ' ')) {
    if (!word.starts_with("rdt=")) continue;
    for (const std::string_view feature : split(word.substr(4), ','))
      if (feature.starts_with('!')) out.push_back({feature.substr(1), word});
  }
  return out;
}

// A flag of /proc/cpuinfo, what info/ has if the kernel uses it, and its word in `rdt=`.
struct Feature {
  const char* flag;
  std::vector<std::string_view> offered;  // any of these
  const char* word;
};

// The kernel turns some off by itself: L3 CAT and counters of Skylake-SP and Cascade Lake, whose
// errata make them unreliable (arch/x86/kernel/cpu/resctrl/core.c, __check_quirks_intel).
void check_features(const MachineFacts& facts, std::vector<Finding>& out) {
  static const std::vector<Feature> features = {
      {"cat_l3", {"L3", "L3CODE"}, "l3cat"},
      {"cat_l2", {"L2", "L2CODE"}, "l2cat"},
      {"mba", {"MB"}, "mba"},
      {"cqm_occup_llc", {"llc_occupancy"}, "cmt"},
      {"cqm_mbm_total", {"mbm_total_bytes"}, "mbmtotal"},
      {"cqm_mbm_local", {"mbm_local_bytes"}, "mbmlocal"},
  };
  const std::vector<TurnedOff> off = turned_off(facts);
  for (const Feature& feature : features) {
    const bool offered = std::ranges::any_of(feature.offered, [&](std::string_view name) {
      return facts.offered->contains(std::string(name));
    });
    if (offered || !facts.cpu_flags.contains(feature.flag) ||
        std::ranges::find(off, feature.word, &TurnedOff::feature) != off.end())
      continue;
    out.push_back(
        {is_control(feature.flag) ? problem : warning,
         fmt::format("the processor has {}, but the kernel does not offer {}: it turns this off "
                     "by itself on processors with an erratum (Skylake-SP, Cascade Lake)",
                     feature.flag, feature.offered.front()),
         fmt::format("to use it nevertheless, add rdt={} to the kernel command line and reboot",
                     feature.word)});
  }
}

// Options that make the mount fail on processors without the flag (rdt_enable_ctx() in the kernel).
constexpr std::array<std::pair<std::string_view, const char*>, 3> option_flags = {
    {{"cdp", "cdp_l3"}, {"cdpl2", "cdp_l2"}, {"mba_MBps", "cqm_mbm_local"}}};

Finding failed_mount(const MachineFacts& facts) {
  const std::string& options = *facts.failed_mount_options;
  for (const std::string_view option : split(options, ','))
    for (const auto& [name, flag] : option_flags)
      if (option == name && !facts.cpu_flags.contains(flag))
        return {problem,
                fmt::format("sys-fs-resctrl.mount has failed: it has the option {}, and the "
                            "processor has no {}",
                            option, flag),
                fmt::format("systemctl edit sys-fs-resctrl.mount, remove {} from Options=, then "
                            "systemctl restart sys-fs-resctrl.mount rdtd",
                            option)};
  return {problem,
          fmt::format("sys-fs-resctrl.mount has failed{}",
                      options.empty() ? "" : fmt::format("; it has the options {}", options)),
          "journalctl -u sys-fs-resctrl.mount and dmesg show why; a processor may not have what an "
          "option needs"};
}

Finding mount(const MachineFacts& facts) {
  if (facts.mount_options)
    return {fine,
            fmt::format("resctrl is mounted on {} ({})", facts.mount_point, *facts.mount_options),
            ""};
  if (facts.failed_mount_options) return failed_mount(facts);
  return {problem, fmt::format("resctrl is not mounted on {}", facts.mount_point),
          "systemctl start sys-fs-resctrl.mount; rdtd.service also starts it"};
}

void check_cdp(const MachineFacts& facts, std::vector<Finding>& out) {
  const MountOptions mounted = parse_mount_options(*facts.mount_options);
  MountOptions wanted = mounted;
  const auto check = [&](const std::string& where, const char* flag, bool is_mounted,
                         std::string_view option) {
    if (where.empty() || is_mounted || facts.skips_unsupported) return;
    const bool possible = facts.cpu_flags.contains(flag);
    out.push_back({problem,
                   fmt::format("the policy divides code and data ({}), but {}", where,
                               possible ? fmt::format("resctrl is mounted without {}", option)
                                        : fmt::format("the processor has no {}", flag)),
                   possible ? how_to_mount(wanted)
                            : "remove these amounts, or set unsupported = \"skip\" in [daemon]"});
  };
  wanted.cdp |= !facts.l3_halves_requested.empty() && facts.cpu_flags.contains("cdp_l3");
  wanted.cdpl2 |= !facts.l2_halves_requested.empty() && facts.cpu_flags.contains("cdp_l2");
  check(facts.l3_halves_requested, "cdp_l3", mounted.cdp, "cdp");
  check(facts.l2_halves_requested, "cdp_l2", mounted.cdpl2, "cdpl2");
}

// Groups of the policy whose names somebody else has taken.
void check_names(const MachineFacts& facts, std::vector<Finding>& out) {
  for (const std::string& name : facts.policy_groups)
    if (std::ranges::find(facts.foreign_groups, name) != facts.foreign_groups.end())
      out.push_back(
          {problem, fmt::format("group '{}' exists in resctrl, but rdtd did not create it", name),
           fmt::format("if nobody needs it: rmdir {}/{}; otherwise rename the group in the policy, "
                       "or take it over: once with rdtctl adopt {}, always with adopt = true",
                       facts.mount_point, name, name)});
}

// Processes are in the cgroup of the unit's own name, and only while the unit is there.
Finding wrong_unit(const MachineFacts::UnitName& unit) {
  if (unit.alias_of.empty())
    return {warning, fmt::format("systemd knows no unit '{}' ({})", unit.name, unit.place),
            "systemctl list-unit-files and list-units show the names; a unit that a program "
            "creates is known from then on"};
  return {warning,
          fmt::format("'{}' ({}) is an alias of '{}', and no rule matches an alias", unit.name,
                      unit.place, unit.alias_of),
          fmt::format("write \"{}\"", unit.alias_of)};
}

std::string how_to_free(const MachineFacts& facts) {
  return fmt::format(
      "remove groups of others that nobody needs, for example: rmdir {}/{}; pqos "
      "leaves COS groups behind, which only rmdir removes",
      facts.mount_point, facts.foreign_groups.front());
}

Finding closids(const MachineFacts& facts) {
  const size_t not_ours = 1 + facts.foreign_groups.size() + (facts.io_holds_closid ? 1 : 0);
  const size_t free_for_us = facts.num_closids - std::min<size_t>(facts.num_closids, not_ours);
  const std::string taken = fmt::format(
      "of {} CLOSIDs, the default group uses 1, {}rdtd {}, others {}{}", facts.num_closids,
      facts.io_holds_closid ? "I/O devices (io_alloc) 1, " : "", facts.own_groups.size(),
      facts.foreign_groups.size(),
      facts.foreign_groups.empty() ? "" : fmt::format(" ({})", join(facts.foreign_groups, ", ")));
  const size_t groups = facts.policy_groups.size();
  const bool none_left = facts.own_groups.size() >= free_for_us && !facts.foreign_groups.empty();
  if (groups <= free_for_us)
    return {none_left ? warning : fine, none_left ? "no CLOSID is free: " + taken : taken,
            none_left ? how_to_free(facts) : ""};
  return {problem,
          fmt::format("no CLOSID is free: the policy has {} group{}, but rdtd can create {}; {}",
                      groups, groups == 1 ? "" : "s", free_for_us, taken),
          facts.foreign_groups.empty() ? "use fewer groups" : how_to_free(facts)};
}

Finding daemon(const MachineFacts& facts) {
  if (!facts.daemon_runs && !facts.policy_error.empty())
    return {problem, "rdtd is not running, and cannot start with an invalid policy",
            "fix the policy, verify it with rdtctl check, then systemctl start rdtd"};
  if (!facts.daemon_runs)
    return {problem, "rdtd is not running",
            "systemctl start rdtd; if it has failed, journalctl -u rdtd shows why"};
  if (!facts.last_reload_error.empty()) {
    const std::string error = facts.last_reload_error.substr(0, facts.last_reload_error.find('\n'));
    const bool known = error == facts.policy_error || error == facts.plan_error;
    return {problem,
            known ? "the last reload failed for one of these reasons"
                  : fmt::format("the last reload failed: {}", error),
            "fix the policy, verify it with rdtctl check, then systemctl reload rdtd"};
  }
  if (facts.daemon_state != "running")
    return {problem,
            fmt::format("rdtd is {}{}{}", facts.daemon_state, facts.problems.empty() ? "" : ": ",
                        join(facts.problems, "; ")),
            "fix the cause; rdtd retries by itself, and journalctl -u rdtd shows more"};
  return {fine, "rdtd is running", ""};
}

void check_policy(const MachineFacts& facts, std::vector<Finding>& out) {
  if (facts.no_policy)
    out.push_back(
        {fine,
         "there is no policy yet, and nothing is divided: rdtctl init writes one from what "
         "runs; rdtd.toml(5) and /usr/share/doc/rdtd have examples",
         ""});
  if (!facts.policy_error.empty())
    out.push_back({problem, fmt::format("the policy is invalid: {}", facts.policy_error),
                   facts.policy_hint.empty()
                       ? "rdtctl check shows all errors"
                       : fmt::format("{}; rdtctl check shows all errors", facts.policy_hint)});
}

}  // namespace

std::vector<Finding> diagnose(const MachineFacts& facts) {
  if (!facts.container.empty() && !facts.mount_options)
    return {
        {problem,
         fmt::format("this is a container ({}), and resctrl is not mounted in it", facts.container),
         "run rdtd on the host: its rules find the processes of containers by their cgroups"}};
  std::vector<Finding> out = {processor(facts)};
  const std::vector<TurnedOff> off = turned_off(facts);
  // If resctrl is mounted nevertheless, a part of it may be turned off on purpose.
  for (const TurnedOff& one : off)
    out.push_back(
        {facts.mount_options ? warning : problem,
         fmt::format("the kernel command line turns {} off: {}", one.feature, one.parameter),
         fmt::format("remove !{} from the boot loader's configuration and reboot", one.feature)});
  if (!facts.kernel_has_resctrl && off.empty() && out.front().kind == fine)
    out.push_back({problem, "the kernel has no resctrl",
                   "use one that was built with CONFIG_X86_CPU_RESCTRL=y"});
  // If nothing can be divided, mounting resctrl does not help.
  bool useless = !off.empty();
  for (size_t i = 0; i < control_flags.size(); i++)
    if (facts.cpu_flags.contains(control_flags[i]) &&
        std::ranges::find(off, control_features[i], &TurnedOff::feature) == off.end())
      useless = false;
  if (!facts.mount_options && (out.front().kind == problem || !facts.kernel_has_resctrl || useless))
    return out;
  out.push_back(mount(facts));
  check_policy(facts, out);
  if (facts.mount_options && !facts.tree_error.empty()) {
    out.push_back(
        {problem, facts.tree_error, "try again as root, or as a member of the user group 'rdtd'"});
  } else if (facts.mount_options) {
    if (facts.offered) check_features(facts, out);
    const size_t before = out.size();
    check_cdp(facts, out);
    check_names(facts, out);
    const bool explained = out.size() > before;
    out.push_back(closids(facts));
    if (!facts.plan_error.empty() && !explained && out.back().kind == fine)
      out.push_back({problem,
                     fmt::format("this machine cannot have the policy: {}", facts.plan_error),
                     "rdtctl check shows all errors"});
  }
  for (const MachineFacts::UnitName& unit : facts.wrong_units) out.push_back(wrong_unit(unit));
  for (const RuntimeSetting& setting : facts.runtimes)
    out.push_back(
        {warning,
         fmt::format("{} manages RDT itself ({}): it deletes every group that it does not know",
                     setting.runtime, setting.place),
         fmt::format("remove rdt_config_file there and restart {}; a container can still name a "
                     "group of rdtd as its closID",
                     setting.runtime)});
  out.push_back(daemon(facts));
  return out;
}

}  // namespace rdtd
