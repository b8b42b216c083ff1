#include "rule_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "names.hpp"
#include "pattern_check.hpp"
#include "pattern_finding.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/container.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/policy/monitor_template.hpp"
#include "unknown_key.hpp"

namespace rdtd {

namespace {

void check_monitor(const FileReader& in, const Located<std::string>& monitor) {
  for (const std::string_view specifier : {"%u", "%U", "$USER", "$UID"})
    if (monitor.value == specifier)
      return in.error(monitor.where,
                      fmt::format("'{}' cannot be the name of a monitoring group", monitor.value),
                      "write monitor = \"{user}\"");
  if (const std::string word = lower(monitor.value);
      is_one_of(word, {"false", "no", "off", "none", "never"}))
    in.warning(monitor.where, fmt::format("'{}' is the name of a monitoring group", monitor.value),
               "without 'monitor', there is none: remove this line");
  else if (is_one_of(word, {"true", "yes", "on", "auto", "always"}))
    in.warning(monitor.where, fmt::format("'{}' is the name of a monitoring group", monitor.value),
               "write monitor = \"NAME\", or \"{unit}\" for one of each unit");
  if (!is_monitor_template(monitor.value)) return check_name(in, "monitoring group", monitor);
  std::string plain;  // "${user}" and "{{user}}"
  for (const char c : monitor.value)
    if (c != '$' && (c == '{' || c == '}' ? !plain.ends_with(c) : true)) plain += c;
  if (plain != monitor.value && !parse_monitor_template(monitor.value) &&
      parse_monitor_template(plain))
    return in.error(monitor.where,
                    fmt::format("'{}' cannot be the name of monitoring groups", monitor.value),
                    fmt::format("write monitor = \"{}\"", plain));
  const bool of_user = monitor.value == "{uid}" || monitor.value == "{username}";
  if (const auto parsed = parse_monitor_template(monitor.value); !parsed)
    in.error(
        monitor.where,
        fmt::format("'{}' cannot be the name of monitoring groups: {}", monitor.value,
                    parsed.error()),
        of_user ? "write monitor = \"{user}\"" : "write monitor = \"{unit}\" or \"pod-{pod}\"");
}

constexpr size_t most_vcpus = 1024;  // of a rule

std::string hint_for_vcpus(std::string_view text) {
  if (text == "*" || lower(text) == "all")
    return "leave 'vcpu' out: 'vm' alone is the whole machine";
  const auto listed =
      text.contains('^') ? parse_cpu_list_with_exceptions(text, most_vcpus) : std::nullopt;
  return listed && !listed->empty() ? pattern::write(format_cpu_list(*listed))
                                    : "write \"0-3\" or \"0,2\"";
}

// QEMU's threads of virtual CPUs, where it names them, as libvirt lets it: "CPU 0/KVM".
void read_vcpus(const FileReader& in, const toml::key& key, const toml::node& node, Rule& rule,
                size_t& vcpus_left) {
  Located<std::string> numbers{.value = {}, .where = in.at(node)};
  if (const auto* array = node.as_array()) {
    for (const toml::node& one : *array)
      if (const auto number = one.value_exact<int64_t>())
        numbers.value += fmt::format("{}{}", numbers.value.empty() ? "" : ",", *number);
      else
        return in.wrong_type(key, one, "an integer", "write [0, 1] or \"0-1\"");
  } else if (node.is_integer()) {
    numbers.value = fmt::format("{}", *node.value<int64_t>());
  }
  const auto list =
      numbers.value.empty() && !node.is_array() ? in.string(key, node) : std::optional(numbers);
  if (!list) return;
  const auto cpus = parse_cpu_list(list->value, most_vcpus);
  if (!cpus || cpus->empty())
    return in.error(list->where, fmt::format("'{}' is not a list of virtual CPUs", list->value),
                    hint_for_vcpus(list->value));
  if (cpus->size() > vcpus_left)
    return in.error(
        list->where,
        fmt::format("the rules of a policy name {} virtual CPUs at most", most_vcpus_of_policy),
        "leave 'vcpu' out of some: 'vm' alone is the whole machine");
  vcpus_left -= cpus->size();
  Condition condition{ConditionKind::thread, {}};
  for (const unsigned cpu : *cpus)
    condition.patterns.push_back({fmt::format("CPU {}/KVM", cpu), list->where});
  rule.conditions.push_back(std::move(condition));
}

// Threads of that name are virtual CPUs only in a virtual machine.
void check_vcpus(const FileReader& in, const toml::table& table) {
  if (!table.contains("vcpu")) return;
  const auto& where = in.at(*table.get("vcpu"));
  if (!table.contains("vm"))
    in.error(where, "'vcpu' is for the virtual machine that 'vm' names", "write vm = \"NAME\" too");
  if (table.contains("thread"))
    in.error(where, "'vcpu' and 'thread' both name threads", "remove one of them");
}

// Whether each of the units is a service that holds no others.
bool are_services(const Condition& units) {
  return !units.patterns.empty() &&
         std::ranges::all_of(units.patterns, [](const Located<std::string>& unit) {
           return unit.value.ends_with(".service") && !unit.value.starts_with("user@") &&
                  !unit.value.starts_with('*');
         });
}

// containerd makes containers directly below these.
bool hold_containers(const Condition& units) {
  return std::ranges::any_of(units.patterns, [](const Located<std::string>& unit) {
    return std::ranges::find(mixed_driver_parents, "/system.slice/" + unit.value) !=
           mixed_driver_parents.end();
  });
}

// KubeVirt's machines have no scope of their own, and those of libvirt are in no container.
void check_vm_place(const FileReader& in, const Rule& rule) {
  const auto vm = std::ranges::find(rule.conditions, ConditionKind::vm, &Condition::kind);
  if (vm == rule.conditions.end()) return;
  for (const ConditionKind kind : {ConditionKind::pod, ConditionKind::container})
    if (std::ranges::find(rule.conditions, kind, &Condition::kind) != rule.conditions.end())
      in.warning(
          vm->patterns.front().where,
          fmt::format("'vm' and '{}' match no process together: 'vm' is a machine of libvirt "
                      "or Proxmox VE, outside of containers",
                      to_string(kind)),
          "a machine of KubeVirt is the pod virt-launcher-NAME-*");
}

// name = "web rule" beside unit = "nginx.service": more likely the title of the rule.
void check_title(const FileReader& in, const Rule& rule) {
  const auto name = std::ranges::find(rule.conditions, ConditionKind::name, &Condition::kind);
  if (name == rule.conditions.end() || rule.conditions.size() < 2 || name->patterns.size() != 1)
    return;
  const auto& [text, where] = name->patterns.front();
  // Processes have names with blanks too: "Web Content".
  const std::string last = lower(text.substr(text.rfind(' ') + 1));
  if (text.contains(' ') && is_one_of(last, {"rule", "policy"}))
    in.warning(where, fmt::format("'{}' is the name of the processes that the rule matches", text),
               "if it is the name of the rule, write it as a comment (#)");
}

// A process of these is in no service of the system's manager.
void check_place(const FileReader& in, const Rule& rule) {
  constexpr auto elsewhere = std::to_array<std::pair<ConditionKind, std::string_view>>(
      {{ConditionKind::user_unit, "the units of users are in user@UID.service"},
       {ConditionKind::vm, "virtual machines are in scopes of their own"},
       {ConditionKind::pod, "pods are in slices of their own"},
       {ConditionKind::container, "containers with a name are in scopes of their own"}});
  const auto units = std::ranges::find(rule.conditions, ConditionKind::unit, &Condition::kind);
  if (units == rule.conditions.end() || !are_services(*units)) return;
  for (const auto& [kind, where] : elsewhere) {
    const bool of_container = kind == ConditionKind::pod || kind == ConditionKind::container;
    if (of_container && hold_containers(*units)) continue;
    if (std::ranges::find(rule.conditions, kind, &Condition::kind) != rule.conditions.end())
      in.warning(
          units->patterns.front().where,
          fmt::format("'unit' and '{}' match no process together: {}", to_string(kind), where),
          "all conditions of a rule must hold: write two rules");
  }
}

}  // namespace

Rule read_rule(const FileReader& in, const toml::table& table, size_t& vcpus_left) {
  Rule rule;
  rule.where = in.at(table);
  rule.where.width = std::min(rule.where.width, 8U);  // "[[rule]]"
  bool has_group = false;
  const size_t before = in.problems();
  FileReader::Keys keys = {{"group",
                            [&](const auto& k, const auto& n) {
                              has_group = true;
                              if (auto name = in.string(k, n)) rule.group = *name;
                            }},
                           {"monitor", [&](const auto& k, const auto& n) {
                              if (n.is_boolean())
                                return in.wrong_type(k, n, "a string", "write monitor = \"NAME\"");
                              rule.monitor = in.string(k, n);
                              if (rule.monitor) check_monitor(in, *rule.monitor);
                            }}};
  for (const ConditionKind kind : condition_kinds)
    keys.emplace_back(to_string(kind), [&, kind](const auto& k, const auto& n) {
      Condition condition{kind, in.strings(k, n, pattern::is_identity(kind))};
      // The hint for pods without a namespace is given at the key that names the namespace.
      const bool has_namespace =
          kind == ConditionKind::pod &&
          std::ranges::any_of(table, [](const auto& e) { return is_namespace_key(e.first.str()); });
      if (!has_namespace || std::ranges::any_of(condition.patterns, [](const auto& pod) {
            return pod.value.contains('/');
          }))
        check_patterns(in, condition, n.is_array());
      rule.conditions.push_back(std::move(condition));
    });
  keys.emplace_back("vcpu",
                    [&](const auto& k, const auto& n) { read_vcpus(in, k, n, rule, vcpus_left); });
  in.read_table(table, "[[rule]]", keys);
  check_vcpus(in, table);
  check_place(in, rule);
  if (in.problems() == before) check_title(in, rule);
  check_vm_place(in, rule);
  has_group = has_group || std::ranges::any_of(table, [](const auto& e) {
                return is_word_for_group_of_rule(e.first.str());
              });
  if (!has_group) in.error(rule.where, "a rule must name its group", "write group = \"NAME\"");
  if (rule.leaves() && rule.monitor)
    in.error(rule.monitor->where,
             "'monitor' in a rule with group = \"leave\": processes stay where they are",
             "remove 'monitor', or name a group");
  if (rule.conditions.empty() && in.problems() == before)
    in.error(rule.where, "a rule needs a condition",
             "for example unit = \"NAME.service\" or name = \"NAME\"");
  return rule;
}

}  // namespace rdtd
