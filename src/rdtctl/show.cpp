// show: one control group, with what the policy asks for it.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "groups.hpp"
#include "kernel_facts.hpp"
#include "measure.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "regions.hpp"
#include "value_text.hpp"
#include "verbs.hpp"
#include "words_of_others.hpp"

namespace rdtd {

namespace {

constexpr size_t value_column = 13;  // of show

uint64_t at_share(const std::vector<uint64_t>& sorted, double share) {
  return sorted[static_cast<size_t>(static_cast<double>(sorted.size() - 1) * share)];
}

// Adds the kernel's measurement of a pseudo-locked region. Returns the exit code.
int add_measurement(const Context& context, const std::string& name, const GroupState& state,
                    JsonValue& json, std::string& text) {
  if (state.mode != Mode::pseudo_locked || state.schemata.empty()) {
    note("rdtctl: '{}' is not pseudo-locked: there is nothing to measure\n", printable(name));
    return Exit::failed;
  }
  const Resource resource = state.schemata.begin()->first;
  const auto measured = measure_region({context.debugfs, context.tracing}, name, resource);
  if (!measured) {
    note("rdtctl: the kernel's measurement is not available: {}\n", measured.error().text());
    return measured.error().code == EACCES ? Exit::not_permitted : Exit::failed;
  }
  if (measured->hits) {
    json["hits"] = *measured->hits;
    json["misses"] = *measured->misses;
    text += fmt::format("    Counted: {} hits, {} misses in {}\n", *measured->hits,
                        *measured->misses, to_string(resource));
  } else {
    text += "    Counted: nothing; the kernel has no counters of hits and misses here\n";
  }
  if (const auto& cycles = measured->cycles; !cycles.empty()) {
    const uint64_t median = at_share(cycles, 0.5), p99 = at_share(cycles, 0.99);
    json["read_cycles"] = {
        {"reads", cycles.size()}, {"median", median}, {"p99", p99}, {"max", cycles.back()}};
    text += fmt::format("    Latency: {} cycles (median), {} (p99), {} (max) of {} reads\n", median,
                        p99, cycles.back(), cycles.size());
  }
  return Exit::ok;
}

// "redis" of "redis/" and of its path in resctrl.
std::string name_in(const Context& context, std::string_view given) {
  while (given.size() > 1 && given.ends_with('/')) given.remove_suffix(1);
  for (const std::string& tree : {context.resctrl, Context().resctrl})
    if (given.starts_with(tree + "/")) given.remove_prefix(tree.size() + 1);
  return std::string(given);
}

// The parts of the policy files about the group; empty if there are none, or if the files cannot be
// read or do not fit.
struct PolicyOfGroup {
  std::string place, description;
  std::map<Resource, std::map<DomainId, std::string>> asked;
  std::vector<std::pair<std::string, std::string>> rules;  // the place and the conditions of each
};

// unit "nginx.service", name "tar" or "gzip"
std::string conditions_text(const Rule& rule) {
  std::vector<std::string> out;
  for (const Condition& condition : rule.conditions) {
    std::vector<std::string> patterns;
    for (const Located<std::string>& pattern : condition.patterns)
      patterns.push_back(fmt::format("\"{}\"", pattern.value));
    out.push_back(fmt::format("{} {}", to_string(condition.kind), join(patterns, " or ")));
  }
  return join(out, ", ");
}

PolicyOfGroup policy_of(const Context& context, const TreeMachine& machine,
                        const std::string& directory) {
  PolicyOfGroup out;
  if (lacks_policy(context)) return out;
  const auto prepared = prepare_for(machine, find_policy_files(context.root));
  if (!prepared) return out;
  for (const Group& group : prepared->policy.groups)
    if (group_directory(group.name.value) == directory) {
      out.place = group.name.where.text();
      out.description = group.description;
    }
  for (const GroupTarget& target : prepared->plan.groups)
    if (target.directory == directory) out.asked = target.asked;
  for (const Rule& rule : prepared->policy.rules)
    if (group_directory(rule.group.value) == directory)
      out.rules.emplace_back(rule.where.text(), conditions_text(rule));
  return out;
}

// "12: redis-server 4001, io_thd 4002, ..."; the number alone on another machine.
std::string tasks_text(const Context& context, const std::vector<pid_t>& tasks) {
  constexpr size_t most = 8;
  std::string out = std::to_string(tasks.size());
  if (context.snapshot_given || tasks.empty()) return out;
  std::vector<std::string> names;
  for (const pid_t task : tasks) {
    if (names.size() == most) break;
    names.push_back(fmt::format("{} {}", name_of_process(context, task), task));
  }
  return fmt::format("{}: {}{}", out, join(names, ", "), tasks.size() > most ? ", ..." : "");
}

// "4 ways 256 KiB (f)", "0=20%;1=100%"
std::string granted_text(const Capabilities& capabilities, const Resource& resource,
                         const DomainValues& values) {
  std::map<DomainId, std::string> texts;
  for (const auto& [domain, value] : values)
    texts[domain] = amount_text(capabilities, resource, domain, value) +
                    (is_cache(resource) ? fmt::format(" ({})", to_string(Cbm{value})) : "");
  return domains_text(capabilities, resource, texts);
}

// The kernel's counts of the group: "Occupancy", "1.25 MiB".
std::vector<std::pair<std::string, std::string>> usage_lines(const Context& context,
                                                             const std::string& directory) {
  const Usage used = usage_of(measure_usage(context), group_label(directory));
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, counter] :
       {std::pair("Occupancy", "llc_occupancy"), {"Bandwidth", "mbm_total_bytes"}})
    if (const Used amount = used.of(counter); amount.amount || amount.reason)
      out.emplace_back(name, used_text(counter, amount));
  return out;
}

void print_group(const Context& context, const TreeMachine& machine, const std::string& directory,
                 const PolicyOfGroup& policy) {
  const GroupState& state = machine.snapshot.groups.at(directory);
  const auto line = [&](std::string_view name, const std::string& text) {
    print("{}\n", wrapped(context, fmt::format("{:>11}: {}", name, text), value_column));
  };
  const auto values_line = [&](std::string_view name, const std::string& text) {
    const size_t width = context.columns == 0 ? widest_line : context.columns;
    print("{}\n", break_entries(fmt::format("{:>11}: {}", name, text), width, value_column));
  };
  print("{}\n", emphasized(context, group_label(directory)));
  if (!policy.description.empty()) line("Description", policy.description);
  line("Made by", made_by(machine, directory));
  if (!policy.place.empty()) line("Policy", policy.place);
  line("Mode", std::string(to_string(state.mode)));
  line("CPUs", state.cpus.empty() ? "none of its own" : format_cpu_list(state.cpus));
  const resctrl::Members members =
      machine.tree.read_members(directory).value_or(resctrl::Members{});
  line("Tasks", tasks_text(context, members.tasks));
  for (const auto& [name, amount] : usage_lines(context, directory)) line(name, amount);
  if (!members.iommu_groups.empty())
    line("Devices", resctrl::iommu_groups_text(members.iommu_groups));
  for (const auto& [mon_group, cpus] : machine.snapshot.mon_cpus)
    if (control_group_of(mon_group) == directory)
      line("Counted", fmt::format("CPUs {} in {}", format_cpu_list(cpus), group_label(mon_group)));
  for (const auto& [resource, values] : state.schemata) {
    values_line(to_string(resource), granted_text(machine.capabilities, resource, values));
    if (const auto asked = policy.asked.find(resource); asked != policy.asked.end())
      values_line("asked", domains_text(machine.capabilities, resource, asked->second));
  }
  if (const std::string counter = limited_counter(machine, directory); !counter.empty())
    line("MB limits", fmt::format("{} (mba_MBps_event)", printable(counter)));
  for (const auto& [place, conditions] : policy.rules)
    line("Rule", fmt::format("{}  {}", place, conditions));
  if (state.mode == Mode::pseudo_locked) line("Device", device_of_lock(directory));
}

void add_policy(JsonValue& json, const PolicyOfGroup& policy) {
  if (!policy.place.empty()) json["policy"] = policy.place;
  if (!policy.description.empty()) json["description"] = policy.description;
  if (!policy.asked.empty()) json["asked"] = asked_json(policy.asked);
  for (const auto& [place, conditions] : policy.rules)
    json["rules"].push_back({{"rule", place}, {"conditions", conditions}});
}

// "show topology": a word for what another verb shows.
std::string hint_of_word(const std::string& word) {
  auto meaning = meaning_of_verb("show " + word);
  if (!meaning) meaning = meaning_of_verb(word);
  if (!meaning || (meaning->sentence.empty() && meaning->words.empty())) return "";
  if (meaning->sentence.contains("{}") || join(meaning->words, " ") == "show") return "";
  // A user who asks to see something does not want it changed.
  if (meaning->sentence.empty() ? !changes_nothing(meaning->words.front())
                                : meaning->sentence.contains("rdtctl reset"))
    return "";
  return meaning->sentence.empty()
             ? fmt::format("; 'rdtctl {}' shows that", join(meaning->words, " "))
             : fmt::format("; {}", meaning->sentence);
}

// The hint about the name of a group that does not exist.
std::string hint_of_no_group(const Context& context, const TreeMachine& machine,
                             const std::string& group, bool is_verb) {
  if (is_verb) return fmt::format("; 'rdtctl {}' is a verb of its own", group);
  if (group == "root" || group == "/") return "; the resctrl root is 'default'";
  if (!policy_of(context, machine, group).place.empty())
    return "; the policy has it: 'rdtctl reload' puts it in force";
  if (const size_t slash = group.find('/');
      slash != std::string::npos && slash > 0 &&
      machine.snapshot.groups.contains(group_directory(group.substr(0, slash))))
    return "; 'rdtctl top' shows monitoring groups below their control groups";
  std::vector<std::string> names;
  for (const auto& [name, state] : machine.snapshot.groups) names.push_back(group_label(name));
  for (const std::string& meant : {group, lower(group)})
    if (std::string question = nearest_question(meant, names); !question.empty()) return question;
  if (std::string other = hint_of_word(group); !other.empty()) return other;
  if (is_digits(group)) return fmt::format("; of a process: rdtctl explain {}", group);
  if (has_unit_type(group)) return fmt::format("; of a unit: rdtctl explain {}", group);
  if (has_wildcard(group))
    return "; show takes a name and no pattern: 'rdtctl list' shows all groups";
  return "";
}

int report_missing(const Context& context, const TreeMachine& machine, const std::string& group,
                   bool is_verb) {
  note("rdtctl: there is no group '{}' in {}{}\n", group, machine.tree.path(),
       hint_of_no_group(context, machine, group, is_verb));
  return Exit::failed;
}

}  // namespace

int verbs::show(const Context& context, const std::string& given, bool measure, bool is_verb) {
  const auto machine = read_machine(context);
  if (!machine) return report(machine.error());
  const std::string group = name_in(context, given);
  const std::string directory = group_directory(group);
  if (machine->snapshot.unreadable.contains(directory)) {
    note("rdtctl: group '{}' cannot be read, or says what this rdtctl does not know\n",
         printable(group));
    return Exit::failed;
  }
  if (!machine->snapshot.groups.contains(directory))
    return report_missing(context, *machine, group, is_verb);
  JsonValue json = group_json(*machine, directory);
  const GroupState& state = machine->snapshot.groups.at(directory);
  std::string measured;
  if (measure)
    if (const int exit = add_measurement(context, directory, state, json, measured);
        exit != Exit::ok)
      return exit;
  if (context.json != Json::off) {
    if (state.mode == Mode::pseudo_locked) json["device"] = device_of_lock(directory);
    json["bandwidth_units"] = bandwidth_units_json(machine->capabilities);
    add_policy(json, policy_of(context, *machine, directory));
    print_json(context, json);
    return Exit::ok;
  }
  print_group(context, *machine, directory, policy_of(context, *machine, directory));
  print("{}", measured);
  return Exit::ok;
}

}  // namespace rdtd
