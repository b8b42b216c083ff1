// The files of /proc/PID, each parser on the same text.
#include <algorithm>

#include "fuzz/input.hpp"
#include "rdtd/model/machine.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/proc/parse.hpp"

using namespace rdtd;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const std::string cgroup = proc::parse_cgroup(text);
  const CgroupUnits units = units_of_cgroup(cgroup);
  for (const auto& names : {units.system, units.user})
    fuzz::require(std::ranges::all_of(names, has_unit_type), "every unit has a type", cgroup);
  if (const auto status = proc::parse_status(text))
    fuzz::require(status->parent >= 0, "no pid is negative");
  (void)proc::parse_credentials(text);
  (void)proc::first_thread_ended(text);
  (void)proc::parse_start_time(text);
  const auto pids = proc::parse_pids(text);
  fuzz::require(std::ranges::all_of(pids, [](pid_t pid) { return pid > 0; }), "pids are positive");
  (void)proc::parse_resctrl_group(text);
  if (const auto mount = find_mount_options(text))
    fuzz::require(parse_mount_options(format_mount_options(*mount)) == *mount,
                  "mount options that are formatted are parsed to the same options");
  return 0;
}
