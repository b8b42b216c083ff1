// import: the control groups as they stand, as a policy that yields them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "output.hpp"
#include "rdtd/policy/policy.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

std::string amount(Resource resource, uint32_t value) {
  return is_cache(resource) ? fmt::format("\"0x{}\"", to_string(Cbm{value}))
                            : fmt::format("\"{}%\"", value);
}

// One amount where it is the same on every domain, else a table.
std::string amounts(Resource resource, const DomainValues& values) {
  if (std::ranges::all_of(
          values, [&](const auto& entry) { return entry.second == values.begin()->second; }))
    return amount(resource, values.begin()->second);
  std::string table;
  for (const auto& [domain, value] : values)
    table += fmt::format("{}\"{}\" = {}", table.empty() ? "" : ", ", to_string(domain),
                         amount(resource, value));
  return "{ " + table + " }";
}

std::string key(const std::string& name) {
  const bool bare = std::ranges::all_of(
      name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
  if (bare) return name;
  std::string quoted;
  for (const char c : name)
    quoted += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
  return "\"" + quoted + "\"";
}

// A policy cannot say everything that resctrl can: with cdp a cache is there in halves, and
// mba_MBps counts in MB/s.
bool can_be_said(const TreeMachine& machine, Resource resource) {
  if (is_cache(resource)) return resource == Resource::L3 || resource == Resource::L2;
  return resource == Resource::MB &&
         machine.capabilities.bandwidths.at(resource).unit == BandwidthUnit::percent;
}

// What is as it would be without being asked for is left out.
bool says_something(const TreeMachine& machine, Resource resource, const DomainValues& values) {
  const auto& bandwidths = machine.capabilities.bandwidths;
  return is_cache(resource) || values != bandwidths.at(resource).unlimited;
}

bool is_untouched_root(const TreeMachine& machine, const GroupState& state) {
  return std::ranges::all_of(state.schemata, [&](const auto& entry) {
    const auto& [resource, values] = entry;
    if (!is_cache(resource))
      return !can_be_said(machine, resource) || !says_something(machine, resource, values);
    const Cbm all = machine.capabilities.caches.at(resource).cbm_mask;
    return std::ranges::all_of(values, [&](const auto& value) { return Cbm{value.second} == all; });
  });
}

}  // namespace

int verbs::import(const Context& context) {
  const auto machine = read_machine(context);
  if (!machine) return report(machine.error());
  fmt::print("# The control groups of {} as they stood.\n", machine->tree.path());
  std::set<Resource> left_out;
  for (const auto& [directory, state] : machine->snapshot.groups) {
    if (state.mode == Mode::pseudo_locked || state.mode == Mode::pseudo_locksetup) {
      fmt::print(
          stderr,
          "rdtctl: group '{}' is a pseudo-locked region, which a policy cannot make: left out\n",
          directory);
      continue;
    }
    if (directory == root_group && is_untouched_root(*machine, state)) continue;
    fmt::print("\n[group.{}]\n", key(group_label(directory)));
    for (const auto& [resource, values] : state.schemata)
      if (!can_be_said(*machine, resource))
        left_out.insert(resource);
      else if (says_something(*machine, resource, values))
        fmt::print("{} = {}\n", resource_key(resource), amounts(resource, values));
    if (state.mode == Mode::exclusive) fmt::print("exclusive = true\n");
    if (directory != root_group && !state.cpus.empty())
      fmt::print("cpus = \"{}\"\n", format_cpu_list(state.cpus));
  }
  for (const Resource resource : left_out)
    fmt::print(stderr,
               "rdtctl: {} as this resctrl counts it cannot be said in a policy of this version: "
               "left out\n",
               to_string(resource));
  return Exit::ok;
}

}  // namespace rdtd
