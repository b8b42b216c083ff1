#include <fmt/format.h>

#include <map>

#include "groups.hpp"
#include "hidden_policies.hpp"
#include "output.hpp"
#include "plan_changes.hpp"
#include "policy_file.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/read.hpp"
#include "unified_diff.hpp"
#include "value_text.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

std::string granted_text(const Capabilities& capabilities, Resource resource, DomainId domain,
                         uint32_t value) {
  if (!is_cache(resource)) return amount_text(capabilities, resource, domain, value);
  const Cbm mask{value};
  return ways_text(mask, capabilities.caches.at(resource).way_bytes.at(domain) * mask.count());
}

// The amounts that were requested for and granted to one group, partition or the I/O devices, a row
// for the domains that are alike.
void add_grants(const Capabilities& capabilities, const std::string& name, const GroupTarget& group,
                std::vector<std::vector<std::string>>& rows) {
  for (const auto& [resource, values] : group.state.schemata) {
    const auto asked = group.asked.find(resource);
    std::map<std::pair<std::string, std::string>, CpuSet> alike;
    for (const auto& [domain, value] : values) {
      const bool was_asked = asked != group.asked.end() && asked->second.contains(domain);
      // A partition has a row of its own.
      std::string note = is_cache(resource) ? group.exclusivity(resource, domain) : "";
      if (!group.partition.empty() && !note.ends_with(not_from_devices)) note.clear();
      alike[{was_asked ? asked->second.at(domain) : "",
             granted_text(capabilities, resource, domain, value) +
                 (note.empty() ? "" : ", " + printable(note))}]
          .insert(static_cast<unsigned>(domain));
    }
    std::map<unsigned, std::vector<std::string>> by_domain;  // the lowest one first
    for (const auto& [texts, domains] : alike)
      by_domain[*domains.begin()] = {name, std::string(to_string(resource)),
                                     format_cpu_list(domains), texts.first, texts.second};
    for (auto& [first, row] : by_domain) rows.push_back(std::move(row));
  }
}

std::vector<std::vector<std::string>> grants(const Planned& planned) {
  const Capabilities& capabilities = planned.machine.capabilities;
  std::vector<std::vector<std::string>> rows;
  for (const GroupTarget& group : planned.plan.groups)
    add_grants(capabilities, group_label(group.directory), group, rows);
  for (const PartitionTarget& partition : planned.plan.partitions)
    add_grants(capabilities, "partition " + partition.partition, partition, rows);
  for (const LockTarget& lock : planned.plan.locks) {
    const auto& [name, resource, domain, mask] = lock.region;
    rows.push_back({name, std::string(to_string(resource)), to_string(domain), lock.asked,
                    granted_text(capabilities, resource, domain, mask.bits) + ", locked"});
  }
  if (const IoTarget& io = planned.plan.io)
    add_grants(capabilities, group_label(io->directory), *io, rows);
  return rows;
}

void print_file_diff(const std::string& file, const std::string& before, const std::string& after) {
  print("{}", unified_diff(file, before, after));
}

void print_io_diff(const Planned& planned) {
  const std::string owner(io_group);
  const bool leaves = !planned.plan.io && planned.machine.snapshot.owned.contains(owner);
  const Schemata& before = planned.machine.snapshot.io;
  const Schemata& after = planned.plan.io ? planned.plan.io->state.schemata : before;
  const auto text = [](const Schemata& schemata, Resource resource) {
    const auto masks = schemata.find(resource);
    return masks == schemata.end() ? "" : format_values(resource, masks->second) + "\n";
  };
  for (const Resource resource : {Resource::L3, Resource::L3CODE})
    print_file_diff(resctrl::io_file(resource, "io_alloc_cbm"), text(before, resource),
                    leaves ? "" : text(after, resource));
}

// resctrl's files before and after.
void print_unified(const Planned& planned) {
  std::map<std::string, std::pair<const GroupState*, const GroupState*>> groups;
  for (const GroupTarget& group : planned.plan.groups)
    groups[group.directory].second = &group.state;
  for (const auto& [name, state] : planned.machine.snapshot.groups)
    if (groups.contains(name) || planned.machine.snapshot.owned.contains(name))
      groups[name].first = &state;
  for (const auto& [name, states] : groups) {
    const std::string prefix = name == root_group ? "" : name + "/";
    const auto schemata = [](const GroupState* state) {
      return state == nullptr ? "" : format_schemata(state->schemata);
    };
    print_file_diff(prefix + "schemata", schemata(states.first), schemata(states.second));
    if (name == root_group) continue;        // its CPUs and mode follow from the others
    if (states.second == nullptr) continue;  // it goes, with its other files
    const GroupState fresh;                  // as a group is that has just been made
    const GroupState &before = states.first == nullptr ? fresh : *states.first,
                     &after = *states.second;
    print_file_diff(prefix + "cpus_list", format_cpu_list(before.cpus) + "\n",
                    format_cpu_list(after.cpus) + "\n");
    print_file_diff(prefix + "mode", fmt::format("{}\n", to_string(before.mode)),
                    fmt::format("{}\n", to_string(after.mode)));
  }
  print_io_diff(planned);
  // A monitoring group has CPUs, and its tasks, which no plan knows.
  for (const auto* part : parts(planned.plan.changes))
    for (const Step& step : *part) {
      if (!is_mon_group(group_of(step))) continue;
      if (const auto* cpus = std::get_if<WriteCpus>(&step))
        print_file_diff(group_of(step) + "/cpus_list", format_cpu_list(cpus->before) + "\n",
                        format_cpu_list(cpus->after) + "\n");
      else
        print("Only in {}: {}\n",
              std::holds_alternative<RemoveGroup>(step) ? "resctrl" : "the plan", group_of(step));
    }
}

// The values that the step changes, as objects; `text` says the same to people.
void add_values(JsonValue& out, const Step& step) {
  if (const auto* write = std::get_if<WriteSchemata>(&step)) {
    out["before"] = schemata_json(write->before);
    out["after"] = schemata_json(write->after);
  } else if (const auto* cpus = std::get_if<WriteCpus>(&step)) {
    out["before"] = format_cpu_list(cpus->before);
    out["after"] = format_cpu_list(cpus->after);
  } else if (const auto* mode = std::get_if<SetMode>(&step)) {
    out["after"] = to_string(mode->after);
  } else if (const auto* io = std::get_if<SetIoAlloc>(&step)) {
    out["after"] = io->enabled;
  }
}

JsonValue plan_json(const Planned& planned) {
  JsonValue groups = JsonValue::array();
  for (const GroupTarget& group : planned.plan.groups)
    groups.push_back({{"group", group_label(group.directory)},
                      {"description", group.description},
                      {"asked", asked_json(group.asked)},
                      {"granted", schemata_json(group.state.schemata)},
                      {"exclusive", group.exclusive},
                      {"mode", to_string(group.state.mode)},
                      {"cpus", format_cpu_list(group.state.cpus)},
                      {"monitor_cpus", monitor_cpus_json(group.mon_cpus, group.directory)}});
  JsonValue partitions = JsonValue::array();
  for (const PartitionTarget& partition : planned.plan.partitions)
    partitions.push_back({{"partition", partition.partition},
                          {"asked", asked_json(partition.asked)},
                          {"granted", schemata_json(partition.state.schemata)}});
  JsonValue locks = JsonValue::array();
  for (const LockTarget& lock : planned.plan.locks)
    locks.push_back({{"pseudo_lock", lock.region.group},
                     {"resource", to_string(lock.region.resource)},
                     {"domain", static_cast<uint32_t>(lock.region.domain)},
                     {"asked", lock.asked},
                     {"mask", to_string(lock.region.mask)},
                     {"bytes", lock.bytes},
                     {"owner", lock.owner.empty() ? "root" : lock.owner},
                     {"group", lock.user_group.empty() ? "root" : lock.user_group},
                     {"mode", fmt::format("{:04o}", lock.mode)}});
  JsonValue steps = JsonValue::array();
  for (const auto* part : parts(planned.plan.changes))
    for (const Step& step : *part) {
      JsonValue& row = steps.emplace_back(JsonValue{{"step", std::string(kind_of(step))},
                                                    {"group", group_label(group_of(step))},
                                                    {"text", format_step(step)}});
      add_values(row, step);
    }
  JsonValue out = {{"groups", groups},
                   {"bandwidth_units", bandwidth_units_json(planned.machine.capabilities)},
                   {"partitions", partitions},
                   {"pseudo_locks", locks},
                   {"steps", steps},
                   {"summary", plan_summary(planned.plan)}};
  if (const IoTarget& io = planned.plan.io)
    out["io"] = {{"asked", asked_json(io->asked)}, {"granted", schemata_json(io->state.schemata)}};
  return out;
}

}  // namespace

void verbs::print_planned(const Context& context, const Planned& planned) {
  print_table(context,
              {{"GROUP"},
               {"RESOURCE"},
               {"DOMAINS", true, true},
               {"ASKED"},
               {.name = "GRANTED", .whole = true}},
              grants(planned));
  print("\n");
  print_changes(context, planned.machine.capabilities, planned.plan.changes);
  print("{}\n", plan_summary(planned.plan));
}

int verbs::plan(const Context& context, const std::vector<std::string>& files,
                bool detailed_exitcode, bool unified) {
  const auto planned = files.empty()
                           ? plan_files(context)
                           : plan_files(context, read_named_files(context, files, "plan"));
  if (!planned) return planned.error();
  if (files.empty())
    note_diagnostics(context, hidden_policies(context.root, find_policy_files(context.root)), {});
  if (context.json != Json::off) {
    print_json(context, plan_json(*planned));
  } else if (unified) {
    print_unified(*planned);
  } else {
    print_planned(context, *planned);
  }
  return detailed_exitcode && !planned->plan.changes_nothing() ? Exit::changes_pending : Exit::ok;
}

}  // namespace rdtd
