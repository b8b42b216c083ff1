// The findings of doctor about the mount of resctrl.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "diagnose_parts.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/machine.hpp"

namespace rdtd {

namespace {

using enum Finding::Kind;

// The reason why an option makes the mount fail on this processor (rdt_enable_ctx() and
// supports_mba_mbps() in the kernel): "no cdp_l3"; else "".
std::string lacking(const MachineFacts& facts, std::string_view option) {
  const auto lacks = [&](std::string_view flag) { return !may_have(facts, flag); };
  if (option == "cdp" && lacks("cdp_l3")) return "no cdp_l3";
  if (option == "cdpl2" && lacks("cdp_l2")) return "no cdp_l2";
  if (option != "mba_MBps") return "";
  if (lacks("mba")) return "no mba";
  return lacks("cqm_mbm_local") && lacks("cqm_mbm_total")
             ? "neither cqm_mbm_local nor cqm_mbm_total"
             : "";
}

// Of AMD and Hygon: they throttle by rates.
bool is_rated(const MachineFacts& facts) {
  return facts.vendor == "AuthenticAMD" || facts.vendor == "HygonGenuine";
}

bool is_arm(const MachineFacts& facts) {
  return facts.architecture == MachineFacts::Architecture::arm64;
}

// Other requirements of the options, where the processor could have them.
std::string also_needed(const MachineFacts& facts, const std::vector<std::string_view>& options) {
  if (is_arm(facts) || std::ranges::find(options, "mba_MBps") == options.end()) return "";
  return fmt::format("; mba_MBps needs a BIOS without sub-NUMA clustering (SNC){}",
                     may_have(facts, "cqm_mbm_local")
                         ? ""
                         : ", and on this processor, which has no cqm_mbm_local, Linux 6.14");
}

bool is_cdp(std::string_view option) { return option == "cdp" || option == "cdpl2"; }

std::string how_to_unset(std::string_view option) {
  return fmt::format(
      "systemctl edit sys-fs-resctrl.mount, remove {} from Options=, then systemctl restart "
      "sys-fs-resctrl.mount rdtd",
      option);
}

Finding failed_mount(const MachineFacts& facts) {
  const std::string& options = *facts.failed_mount_options;
  for (const std::string_view option : split(options, ',')) {
    if (option == "mba_MBps" && is_rated(facts))
      return {
          problem,
          "sys-fs-resctrl.mount has failed: it has the option mba_MBps, which kernels have only "
          "for processors of Intel",
          how_to_unset(option)};
    if (is_cdp(option) && is_arm(facts))
      return {problem,
              fmt::format("sys-fs-resctrl.mount has failed: it has the option {}, and kernels for "
                          "Arm may lack it",
                          option),
              fmt::format("if dmesg says \"CDP not supported\", this one was built without {}: {}",
                          needed_for_cdp_on_arm, how_to_unset(option))};
    if (const std::string what = lacking(facts, option); !what.empty())
      return {problem,
              fmt::format("sys-fs-resctrl.mount has failed: it has the option {}, and the "
                          "processor has {}",
                          option, what),
              how_to_unset(option)};
  }
  return {problem,
          fmt::format("sys-fs-resctrl.mount has failed{}",
                      options.empty() ? "" : fmt::format("; it has the options {}", options)),
          "journalctl -u sys-fs-resctrl.mount and dmesg show why; a processor may not have what an "
          "option needs, and after EBUSY, resctrl is mounted in another mount namespace: grep "
          "resctrl /proc/*/mounts shows where" +
              also_needed(facts, split(options, ','))};
}

bool is_read_only(std::string_view options) {
  return std::ranges::any_of(split(options, ','),
                             [](std::string_view option) { return option == "ro"; });
}

}  // namespace

Finding find_mount(const MachineFacts& facts) {
  if (facts.mount_options && is_read_only(*facts.mount_options))
    return {problem,
            fmt::format("resctrl is mounted read-only on {} ({})", facts.mount_point,
                        *facts.mount_options),
            facts.container.empty()
                ? fmt::format("mount -o remount,rw {}", facts.mount_point)
                : "mount it writable into the container (in a pod: readOnly: false)"};
  if (facts.mount_options)
    return {fine,
            fmt::format("resctrl is mounted on {} ({})", facts.mount_point, *facts.mount_options),
            ""};
  if (!facts.mounted_elsewhere.empty())
    return {problem,
            fmt::format("resctrl is mounted on {}, and can be mounted only once",
                        facts.mounted_elsewhere),
            fmt::format("umount {}, then systemctl start sys-fs-resctrl.mount",
                        facts.mounted_elsewhere)};
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
    const bool possible = may_have(facts, flag);
    out.push_back({problem,
                   fmt::format("the policy divides code and data ({}), but {}", where,
                               possible ? fmt::format("resctrl is mounted without {}", option)
                                        : fmt::format("the processor has no {}", flag)),
                   possible
                       ? (is_arm(facts) ? fmt::format("if the kernel was built with {}: {}",
                                                      needed_for_cdp_on_arm, how_to_mount(wanted))
                                        : how_to_mount(wanted))
                       : "remove these amounts, or set unsupported = \"skip\" in [daemon]"});
  };
  wanted.cdp |= !facts.l3_halves_requested.empty() && may_have(facts, "cdp_l3");
  wanted.cdpl2 |= !facts.l2_halves_requested.empty() && may_have(facts, "cdp_l2");
  check(facts.l3_halves_requested, "cdp_l3", mounted.cdp, "cdp");
  check(facts.l2_halves_requested, "cdp_l2", mounted.cdpl2, "cdpl2");
}

}  // namespace rdtd
