#include "unit_processes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "groups.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/bus/units.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/proc/proc_fs.hpp"
#include "unit_rule.hpp"

namespace rdtd {

Result<std::vector<pid_t>> processes_of_unit(const Context& context, const std::string& unit) {
  auto directory = Directory::open(context.proc);
  if (!directory) return std::unexpected(directory.error());
  const proc::ProcFs proc(std::move(*directory));
  const auto pids = proc.list();
  if (!pids) return std::unexpected(pids.error());
  std::vector<pid_t> out;
  for (const pid_t pid : *pids) {
    const auto process = proc.open(pid);
    ProcessFacts facts;
    if (!process || !(*process)->read(Fact::cgroup, facts)) continue;
    const auto units = units_of_cgroup(*facts.cgroup).system;
    if (std::ranges::find(units, unit) != units.end()) out.push_back(pid);
  }
  return out;
}

std::string group_hint(const Context& context, const std::string& name) {
  return is_group(context, name) ? fmt::format("; of the group: rdtctl show {}", name) : "";
}

std::string no_process_in(const Context& context, const std::string& unit) {
  if (has_wildcard(unit)) return fmt::format("'{}' is a pattern: name one unit", unit);
  const std::string complete = complete_unit_name(unit);
  if (std::string why = why_unit_never(complete, "name"); !why.empty()) return why;
  return (is_unknown_unit(complete) ? fmt::format("there is no unit '{}'", complete)
                                    : fmt::format("no process is in unit '{}'", unit)) +
         group_hint(context, unit);
}

bool is_unknown_unit(const std::string& unit) {
  if (has_wildcard(unit)) return false;
  auto systemd = Units::connect();
  const auto known = systemd ? systemd->find(unit) : std::nullopt;
  return known && !known->loaded;
}

}  // namespace rdtd
