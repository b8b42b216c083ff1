#include "wrong_units.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "rdtd/base/text.hpp"
#include "rdtd/bus/units.hpp"
#include "rdtd/proc/proc_fs.hpp"
#include "unit_processes.hpp"

namespace rdtd {

namespace {

// Asking about each unit takes systemd a moment.
constexpr size_t most_units = 256;

Diagnostic warning_of(const WrongUnit& unit, const std::vector<std::string>& running) {
  if (!unit.alias_of.empty())
    return {Severity::warning, unit.where,
            fmt::format("'{}' is an alias of '{}', and no rule matches an alias", unit.name,
                        unit.alias_of),
            fmt::format("write \"{}\"", unit.alias_of)};
  const auto nearest = nearest_name(unit.name, running);
  return {Severity::warning, unit.where, fmt::format("systemd knows no unit '{}'", unit.name),
          nearest ? did_you_mean(*nearest)
                  : "one that is installed or created later is known from then on"};
}

}  // namespace

std::vector<std::string> running_units(const Context& context) {
  std::set<std::string> out;
  if (auto directory = Directory::open(context.proc))
    (void)for_each_in_units(proc::ProcFs(std::move(*directory)), [&](pid_t, const auto& of) {
      if (!of.empty()) out.emplace(of.back());
    });
  return {out.begin(), out.end()};
}

std::vector<WrongUnit> find_wrong_units(const Policy& policy) {
  std::map<std::string, Location> places;
  for (const Rule& rule : policy.rules)
    for (const auto& condition : rule.conditions)
      if (condition.kind == ConditionKind::unit)
        for (const Located<std::string>& unit : condition.patterns)
          if (places.size() < most_units && unit.value.find_first_of("*?[\\") == std::string::npos)
            places.emplace(unit.value, unit.where);
  auto units = places.empty() ? std::nullopt : Units::connect();
  std::vector<WrongUnit> out;
  if (!units) return out;
  for (const auto& [name, where] : places) {
    const auto unit = units->find(name);
    if (!unit) return {};  // no systemd here
    if (!unit->loaded || unit->id != name)
      out.push_back({name, where, unit->loaded ? unit->id : ""});
  }
  return out;
}

std::vector<Diagnostic> unknown_units(const Context& context, const Policy& policy) {
  std::vector<Diagnostic> out;
  const std::vector<WrongUnit> wrong =
      context.elsewhere ? std::vector<WrongUnit>{} : find_wrong_units(policy);
  if (wrong.empty()) return out;
  const std::vector<std::string> running = running_units(context);
  for (const WrongUnit& unit : wrong) out.push_back(warning_of(unit, running));
  return out;
}

}  // namespace rdtd
