#include "group_cpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "names.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// The highest CPU number that a policy may name.
constexpr uint32_t highest_cpu = 65535;

std::string cpus(IdRange range) {
  return fmt::format("CPU{} {}", range.first == range.last ? "" : "s", to_string(range));
}

const char* are(IdRange range) { return range.first == range.last ? "is" : "are"; }

// The CPUs that are taken, with their holders.
class Holders {
 public:
  struct Held {
    IdRange cpus;
    std::string name;
    Location where;
  };

  [[nodiscard]] std::optional<Held> find(IdRange range) const {
    const auto held = by_last_.lower_bound(range.first);
    if (held == by_last_.end() || held->second.cpus.first > range.last) return std::nullopt;
    Held out = held->second;
    out.cpus = {std::max(range.first, out.cpus.first), std::min(range.last, out.cpus.last)};
    return out;
  }
  [[nodiscard]] std::optional<Held> find(const IdList& list) const {
    for (const IdRange range : list)
      if (auto held = find(range)) return held;
    return std::nullopt;
  }
  // Adds the ranges up to the first that somebody has, and returns that.
  std::optional<Held> add(const IdList& list, const std::string& name, Located<CpuSet>& to) {
    for (const IdRange range : list) {
      if (auto held = find(range)) return held;
      by_last_[range.last] = {range, name, to.where};
      for (uint32_t cpu = range.first; cpu <= range.last; cpu++)
        to.value.insert(to.value.end(), cpu);
    }
    return std::nullopt;
  }

 private:
  std::map<uint32_t, Held> by_last_;
};

// The CPUs of the monitoring groups of one control group.
class MonitorDivider {
 public:
  MonitorDivider(Group& group, const GroupCpus& lists, const Holders& groups,
                 std::vector<Diagnostic>& problems)
      : group_(group), lists_(lists), groups_(groups), problems_(problems) {}

  void add(MonitorCpus& monitor, const IdList& list) {
    if (list.empty() || !may_have(monitor, list)) return;
    if (const auto held = taken_.add(list, monitor.group.value, monitor.cpus))
      error(monitor, fmt::format("{} {} given to two monitoring groups of '{}': here and to '{}' "
                                 "in {}",
                                 cpus(held->cpus), are(held->cpus), group_.name.value, held->name,
                                 held->where.text()));
  }

 private:
  void error(const MonitorCpus& monitor, std::string message, std::string hint = {}) {
    problems_.push_back({Severity::error, monitor.cpus.where, std::move(message), std::move(hint)});
  }

  // The kernel gives a monitoring group only CPUs of its control group.
  bool may_have(const MonitorCpus& monitor, const IdList& list) {
    const std::string& name = group_.name.value;
    if (name == "default") {
      const auto held = groups_.find(list);
      if (held)
        error(monitor,
              fmt::format("{} of monitoring group 'default/{}' {} given to group '{}' in {}",
                          cpus(held->cpus), monitor.group.value, are(held->cpus), held->name,
                          held->where.text()),
              fmt::format("write 'monitor_cpus' in [group.{}]", held->name));
      return !held;
    }
    if (lists_.own.empty()) {
      if (!lists_.has_own)
        error(monitor,
              fmt::format("group '{}' has no 'cpus' of which 'monitor_cpus' could be a part", name),
              "write 'cpus' in the group, or 'monitor_cpus' in [group.default]");
      return false;
    }
    const auto missing = first_missing(list, lists_.own);
    if (missing)
      error(monitor, fmt::format("{} of monitoring group '{}/{}' {} not in 'cpus' of the group",
                                 cpus(*missing), name, monitor.group.value, are(*missing)));
    return !missing;
  }

  Group& group_;
  const GroupCpus& lists_;
  const Holders& groups_;
  std::vector<Diagnostic>& problems_;
  Holders taken_;
};

}  // namespace

namespace {

// "0-3" of "0..3", "0x0f", "0 to 3" and "0 1 2 3".
std::string hint_for_cpus(std::string_view text) {
  constexpr size_t longest_list = 64;
  const std::string example = "for example \"0-3,8\"";
  if (text.size() > longest_list) return example;
  const std::string list(trim(text));
  if (list == "*" || lower(list) == "all")
    return "name them, as in \"0-3,8\"; to give a group every process, write a [[rule]] with "
           "name = \"*\"";
  constexpr size_t most_listed = 1024;
  const auto listed =
      list.contains('^') ? parse_cpu_list_with_exceptions(list, most_listed) : std::nullopt;
  if (listed && !listed->empty()) return fmt::format("write \"{}\"", format_cpu_list(*listed));
  if (list.starts_with("0x")) {
    const auto mask = parse_unsigned<uint64_t>(std::string_view(list).substr(2), 16);
    CpuSet cpus;
    for (unsigned cpu = 0; mask && cpu < 64; cpu++)
      if ((*mask >> cpu & 1U) != 0) cpus.insert(cpu);
    return cpus.empty() ? example : fmt::format("write \"{}\"", format_cpu_list(cpus));
  }
  if (const auto first = parse_unsigned<uint32_t>(std::string_view(list).substr(0, list.find('-')));
      first && *first < highest_cpu && list.find('-') + 1 == list.size())
    return fmt::format("write the last CPU too, as in \"{}{}\"", list,
                       std::min(*first + 3, highest_cpu));
  if (list.starts_with('!') || list.starts_with('~'))
    return "write the CPUs that the group has, as in \"0-3,8\"";
  for (const std::string_view word : {"node", "numa", "socket", "isolated", "package"})
    if (lower(list).starts_with(word))
      return "write the numbers of its CPUs, as in \"0-3,8\"; 'lscpu' lists those of each node";
  const auto meant = id_list_meant(text, highest_cpu);
  return meant ? fmt::format("write \"{}\"", *meant) : example;
}

}  // namespace

// "0,1-2" of [0, "1-2"]; "" if the array has something else.
static std::string list_in_array(const toml::array& array) {
  std::string list;
  for (const toml::node& one : array) {
    const auto* text = one.as_string();
    const auto* number = one.as_integer();
    if (text == nullptr && number == nullptr) return {};
    list +=
        (list.empty() ? "" : ",") + (text != nullptr ? text->get() : std::to_string(number->get()));
  }
  const auto cpus = parse_id_list(list, highest_cpu);
  if (!cpus) return {};
  std::vector<std::string> ranges;
  for (const IdRange range : *cpus) ranges.push_back(to_string(range));
  constexpr size_t most_ranges = 8;
  return ranges.size() > most_ranges ? "" : join(ranges, ",");
}

IdList read_cpus(const FileReader& in, const toml::key& key, const toml::node& node) {
  constexpr std::string_view required = "a string, an integer or an array of integers";
  std::vector<IdRange> cpus;
  const auto add_number = [&](const toml::node& element) {
    const auto* number = element.as_integer();
    if (number == nullptr) {
      const auto* array = node.as_array();
      const std::string list = array == nullptr ? "" : list_in_array(*array);
      // One string takes the place of the whole array.
      if (!list.empty())
        in.error(in.at(node),
                 fmt::format("'{}' must be {}, not an array with strings", key.str(), required),
                 fmt::format("write {} = \"{}\"", key.str(), list));
      else
        in.wrong_type(key, element, required, hint_for_cpus(""));
      return false;
    }
    if (number->flags() != toml::value_flags::none) {
      const std::string mask = fmt::format("{:#x}", number->get());
      in.error(in.at(element),
               fmt::format("'{}' takes the numbers of CPUs, not {}", key.str(), mask),
               &element == &node ? hint_for_cpus(mask) : "");
      return false;
    }
    if (number->get() < 0 || number->get() > highest_cpu) {
      in.error(in.at(element), fmt::format("{} is not a CPU number: they range from 0 to {}",
                                           number->get(), highest_cpu));
      return false;
    }
    const auto cpu = static_cast<uint32_t>(number->get());
    cpus.push_back({cpu, cpu});
    return true;
  };
  if (const auto* text = node.as_string()) {
    auto list = parse_id_list(text->get(), highest_cpu);
    if (list) return std::move(*list);
    in.error(in.at(node), fmt::format("'{}' is not a CPU list: {}", text->get(), list.error()),
             hint_for_cpus(text->get()));
    return {};
  }
  const toml::array* array = node.as_array();
  if (array == nullptr) return add_number(node) ? cpus : IdList{};
  if (array->empty()) in.error(in.at(node), fmt::format("'{}' is an empty array", key.str()));
  for (const toml::node& element : *array)
    if (!add_number(element)) return {};
  return merge_ids(std::move(cpus));
}

void read_monitor_cpus(const FileReader& in, const toml::key& key, const toml::node& node,
                       Group& group, GroupCpus& out) {
  const toml::table* table = node.as_table();
  if (table == nullptr)
    return in.wrong_type(key, node, "a table from monitoring groups to their CPUs",
                         "write monitor_cpus = { NAME = \"0-3\" }");
  if (table->empty())
    in.error(in.at(node), "'monitor_cpus' is an empty table",
             "write monitor_cpus = { NAME = \"0-3\" }");
  // As they are written: the table has them by name.
  std::map<Location, const toml::key*> names;
  for (const auto& [name, list] : *table) names.emplace(in.at(name), &name);
  for (const auto& [where, name] : names) {
    const toml::node& list = *table->get(*name);
    group.monitor_cpus.push_back(
        {.group = {std::string(name->str()), where}, .cpus = {{}, in.at(list)}});
    check_name(in, "monitoring group", group.monitor_cpus.back().group);
    out.monitored.push_back(read_cpus(in, *name, list));
  }
}

std::vector<Diagnostic> divide_cpus(std::vector<Group>& groups,
                                    const std::map<std::string, GroupCpus>& lists) {
  std::vector<Diagnostic> problems;
  Holders holders;
  for (Group& group : groups) {
    if (!group.cpus || group.name.value == "default") continue;
    const IdList& list = lists.at(group.name.value).own;
    if (const auto held = holders.add(list, group.name.value, *group.cpus))
      problems.push_back(
          {Severity::error, group.cpus->where,
           fmt::format("{} {} given to two groups: here and to '{}' in {}", cpus(held->cpus),
                       are(held->cpus), held->name, held->where.text())});
  }
  for (Group& group : groups) {
    if (group.monitor_cpus.empty()) continue;
    const GroupCpus& own = lists.at(group.name.value);
    MonitorDivider divider(group, own, holders, problems);
    for (size_t i = 0; i < group.monitor_cpus.size(); i++)
      divider.add(group.monitor_cpus[i], own.monitored[i]);
  }
  return problems;
}

}  // namespace rdtd
