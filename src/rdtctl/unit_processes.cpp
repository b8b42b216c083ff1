#include "unit_processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "groups.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/bus/units.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "unit_rule.hpp"

namespace rdtd {

Result<void> for_each_in_units(
    const proc::ProcFs& proc,
    const std::function<void(pid_t, std::span<const std::string_view>)>& use) {
  const auto pids = proc.list();
  if (!pids) return std::unexpected(pids.error());
  for (const pid_t pid : *pids) {
    const auto process = proc.open(pid);
    ProcessFacts facts;
    if (process && (*process)->read(Fact::cgroup, facts))
      use(pid, units_of_cgroup(*facts.cgroup).system);
  }
  return {};
}

Result<std::vector<pid_t>> processes_of_unit(const Context& context, const std::string& unit) {
  auto directory = Directory::open(context.proc);
  if (!directory) return std::unexpected(directory.error());
  const proc::ProcFs proc(std::move(*directory));
  std::vector<pid_t> out;
  const auto looked = for_each_in_units(proc, [&](pid_t pid, const auto& units) {
    if (std::ranges::find(units, unit) != units.end()) out.push_back(pid);
  });
  if (!looked) return std::unexpected(looked.error());
  return out;
}

std::string group_hint(const Context& context, const std::string& name) {
  return is_group(context, name) ? fmt::format("; of the group: rdtctl show {}", name) : "";
}

std::string hint_of_bare_word(const Context& context, const std::string& word) {
  std::error_code unknown;
  if (is_digits(word)) return fmt::format("; of a process: rdtctl explain {}", word);
  if (has_unit_type(word)) return fmt::format("; of a unit: rdtctl explain {}", word);
  if (std::filesystem::is_regular_file(word, unknown))
    return word.ends_with(".toml") ? fmt::format("; of a policy file: rdtctl check {}", word)
                                   : fmt::format("; of a recording: rdtctl history {}", word);
  return group_hint(context, word);
}

std::string no_process_in(const Context& context, const std::string& unit) {
  if (has_wildcard(unit)) return fmt::format("'{}' is a pattern: name one unit", unit);
  const std::string complete = complete_unit_name(unit);
  if (std::string why = why_unit_never(complete, "name"); !why.empty()) return why;
  return (is_unknown_unit(complete) ? fmt::format("there is no unit '{}'", complete)
                                    : fmt::format("no process is in unit '{}'", unit)) +
         group_hint(context, unit);
}

// Whether systemd has loaded the unit; nothing if it does not say.
static std::optional<bool> is_loaded(const std::string& unit) {
  if (has_wildcard(unit)) return std::nullopt;
  auto systemd = Units::connect();
  const auto known = systemd ? systemd->find(unit) : std::nullopt;
  return known ? std::optional(known->loaded) : std::nullopt;
}

bool is_unknown_unit(const std::string& unit) { return !is_loaded(unit).value_or(true); }

bool is_known_unit(const std::string& unit) { return is_loaded(unit).value_or(false); }

}  // namespace rdtd
