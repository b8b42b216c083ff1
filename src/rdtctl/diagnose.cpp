
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "diagnose_parts.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

using enum Finding::Kind;

// Flags of /proc/cpuinfo (arch/x86/include/asm/cpufeatures.h) that resctrl builds on.
constexpr std::array control_flags = {"cat_l3", "cat_l2", "mba"};
// The names of these in `rdt=`, in the same order.
constexpr std::array<std::string_view, 3> control_features = {"l3cat", "l2cat", "mba"};
constexpr std::array other_flags = {"cdp_l3", "cdp_l2", "cqm_llc", "cqm_mbm_total",
                                    "cqm_mbm_local"};

// The extension that resctrl builds on where /proc/cpuinfo does not show it, and its requirements.
struct Extension {
  std::string_view name, needs;
};

Extension extension_of(MachineFacts::Architecture architecture) {
  if (architecture == MachineFacts::Architecture::arm64)
    return {
        "MPAM",
        "a kernel from 7.1 on, built with CONFIG_ARM64_MPAM=y, and firmware that describes MPAM "
        "to it (ACPI table MPAM); openEuler's kernel 6.6 needs arm64.mpam on its command line"};
  return {"CBQRI (Ssqosid)", "a kernel with resctrl for RISC-V"};
}

// Empty if none turns it off.
std::string_view word_without_mpam(const MachineFacts& facts) {
  if (facts.architecture != MachineFacts::Architecture::arm64) return {};
  for (const std::string_view word : split(facts.command_line, ' '))
    if (word == "arm64.nompam" || word == "arm64.nompam=1") return word;
  return {};
}

// A hypervisor sets this flag.
bool is_virtual(const MachineFacts& facts) { return facts.cpu_flags.contains("hypervisor"); }

Finding processor(const MachineFacts& facts) {
  if (facts.architecture != MachineFacts::Architecture::x86) {
    const Extension extension = extension_of(facts.architecture);
    if (facts.mount_options || facts.kernel_has_resctrl)
      return {fine, fmt::format("the kernel offers resctrl, by {}", extension.name), ""};
    if (const std::string_view word = word_without_mpam(facts); !word.empty())
      return {problem, fmt::format("the kernel command line turns MPAM off: {}", word),
              fmt::format("remove {} from the boot loader's configuration and reboot", word)};
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
  if (has.empty() && !facts.mount_options && !facts.kernel_has_resctrl) {
    if (is_virtual(facts))
      return {problem,
              fmt::format("this is a virtual machine, and its host passes no RDT on to it: the "
                          "flags of the processor include none of {}",
                          fmt::join(control_flags, ", ")),
              "run rdtd on the host: its rules match a virtual machine by its name (vm = ...)"};
    return {problem,
            fmt::format("the processor has no RDT: its flags include none of {}",
                        fmt::join(control_flags, ", ")),
            "use a machine with Intel RDT or AMD QoS; a virtual machine has it only if its host "
            "passes it through"};
  }
  for (const char* flag : other_flags)
    if (facts.cpu_flags.contains(flag)) has.emplace_back(flag);
  return {fine,
          has.empty() ? "the kernel offers resctrl, although /proc/cpuinfo shows no flag of it"
                      : fmt::format("the processor has {}", join(has, ", ")),
          ""};
}

// /proc/filesystems shows resctrl only where the kernel can use it.
Finding kernel(const MachineFacts& facts) {
  if (facts.kernel_config.empty())
    return {problem, "the kernel has no resctrl, or found nothing that resctrl can use",
            "use one that was built with CONFIG_X86_CPU_RESCTRL=y: "
            "zgrep X86_CPU_RESCTRL /proc/config.gz shows whether this one was; if so, see dmesg | "
            "grep -i resctrl"};
  if (!facts.built_with_resctrl)
    return {problem, fmt::format("the kernel was built without resctrl ({})", facts.kernel_config),
            "use one that was built with CONFIG_X86_CPU_RESCTRL=y"};
  return {problem,
          fmt::format("the kernel was built with resctrl ({}), but found nothing that resctrl can "
                      "use",
                      facts.kernel_config),
          is_virtual(facts) ? "this is a virtual machine, and its host passes on only a flag: run "
                              "rdtd on the host"
                            : "see dmesg | grep -i resctrl"};
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

// The kernel turns L3 CAT and counters of Skylake-SP and Cascade Lake off by itself, whose errata
// make them unreliable (__check_quirks_intel() in arch/x86/kernel/cpu/resctrl/core.c). Throttling
// of other processors of Intel is not offered if its steps are not linear
// (__get_mem_config_intel()).
Finding not_offered(const MachineFacts& facts, const Feature& feature) {
  const Finding::Kind kind = is_control(feature.flag) ? problem : warning;
  const std::string what = fmt::format("the processor has {}, but the kernel does not offer {}",
                                       feature.flag, feature.offered.front());
  const bool is_intel = facts.vendor == "GenuineIntel";
  constexpr unsigned skylake_x = 85;
  const bool is_throttling = std::string_view(feature.flag) == "mba";
  const bool has_erratum = !is_throttling && std::string_view(feature.flag) != "cat_l2";
  if (is_intel && facts.family == 6 && facts.model == skylake_x && has_erratum)
    return {kind,
            what +
                ": it turns this off by itself on processors with an erratum (Skylake-SP, "
                "Cascade Lake)",
            fmt::format("to use it nevertheless, add rdt={} to the kernel command line and reboot",
                        feature.word)};
  if (is_virtual(facts))
    return {kind, what, "this is a virtual machine, and its host passes on only a flag"};
  if (is_throttling && is_intel)
    return {warning,
            what + ": its steps are not linear on this processor, which no kernel supports",
            "a policy with mb is for other machines: unsupported = \"skip\" in [daemon] leaves it "
            "out here"};
  if (is_throttling && facts.vendor == "HygonGenuine")
    return {kind, what + ": before Linux 6.19, it knows processors of Hygon only in part",
            "use Linux 6.19 or newer, or an update of an older release from 2026 on"};
  return {kind, what, "dmesg | grep -i resctrl may show why"};
}

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
    out.push_back(not_offered(facts, feature));
  }
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

Finding daemon(const MachineFacts& facts) {
  if (facts.daemon_hangs)
    return {problem, "rdtd runs, but does not answer", "journalctl -u rdtd may show why"};
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
  const bool valid = !facts.no_policy && facts.policy_error.empty() && facts.plan_error.empty();
  if (!valid || !facts.files_in_force || !facts.last_reload_error.empty()) return;
  if (facts.files_in_force->empty())
    out.push_back({warning, "the policy is valid, but nothing of it is in force",
                   fmt::format("rdtctl reload puts {} in force",
                               counted(facts.active_files.size(), "file"))});
  else if (facts.files_have_changed || facts.active_files != *facts.files_in_force)
    out.push_back({warning, "the policy files have changed since they were loaded",
                   "rdtctl reload puts them in force"});
  else if (facts.daemon_state == "running")
    out.push_back({fine,
                   fmt::format("the policy is valid and in force ({})",
                               counted(facts.files_in_force->size(), "file")),
                   ""});
}

Finding unreadable_tree(const MachineFacts& facts) {
  const bool not_permitted = facts.tree_error_code == EACCES || facts.tree_error_code == EPERM;
  return {problem, facts.tree_error,
          not_permitted ? "try again as root, or as a member of the user group 'rdtd'"
          : facts.kernel_too_old
              ? "use Linux 4.19 or newer"
              : "umount and mount resctrl again; if it stays, report it with rdtctl snapshot"};
}

// Reports the problems with the mounted tree, or with the policy on it.
void check_tree(const MachineFacts& facts, std::vector<Finding>& out) {
  if (!facts.tree_error.empty()) return out.push_back(unreadable_tree(facts));
  if (facts.offered) check_features(facts, out);
  const auto before = static_cast<std::ptrdiff_t>(out.size());
  for (const std::string& cache : facts.caches_without_ways)
    out.push_back({problem, fmt::format("the kernel reports no ways of {} (cbm_mask is 0)", cache),
                   "this is a fault of the kernel's driver: report it to its maintainers"});
  check_cdp(facts, out);
  check_names(facts, out);
  out.push_back(count_closids(facts));
  count_rmids(facts, out);
  check_counted_traffic(facts, out);
  const bool explained = std::any_of(out.begin() + before, out.end(), [](const Finding& finding) {
    return finding.kind == problem;
  });
  if (!facts.plan_error.empty() && !explained)
    out.push_back({problem,
                   fmt::format("this machine cannot have the policy: {}", facts.plan_error),
                   "rdtctl check shows all errors"});
}

void check_runtimes(const MachineFacts& facts, std::vector<Finding>& out) {
  for (const RuntimeSetting& setting : facts.runtimes)
    out.push_back(
        {warning,
         fmt::format("{} manages RDT itself ({}): it deletes every group that it does not know",
                     setting.runtime, setting.place),
         fmt::format("remove rdt_config_file there and restart {}; a container can still name a "
                     "group of rdtd as its closID",
                     setting.runtime)});
  if (!facts.mixed_drivers_cgroup.empty())
    out.push_back(
        {warning,
         fmt::format("the kubelet and containerd use different cgroup drivers ({}): rules by unit "
                     "and cgroup do not find these pods",
                     facts.mixed_drivers_cgroup),
         "set SystemdCgroup = true in containerd's configuration"});
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
    out.push_back(kernel(facts));
  // If nothing can be divided, mounting resctrl does not help.
  bool useless = !off.empty();
  for (size_t i = 0; i < control_flags.size(); i++)
    if (facts.cpu_flags.contains(control_flags[i]) &&
        std::ranges::find(off, control_features[i], &TurnedOff::feature) == off.end())
      useless = false;
  if (!facts.mount_options && (out.front().kind == problem || !facts.kernel_has_resctrl || useless))
    return out;
  out.push_back(find_mount(facts));
  check_policy(facts, out);
  if (facts.mount_options) check_tree(facts, out);
  for (const MachineFacts::UnitName& unit : facts.wrong_units) out.push_back(wrong_unit(unit));
  check_runtimes(facts, out);
  if (facts.guard_without_observer)
    out.push_back(
        {warning, std::string(guard_without_observer), "systemctl enable --now rdtd-observer"});
  if (!facts.guard_problem.empty())
    out.push_back({warning, fmt::format("the guard of the policy: {}", facts.guard_problem),
                   "rdtctl explain guard; see rdtd-observer(8)"});
  out.push_back(daemon(facts));
  return out;
}

}  // namespace rdtd
