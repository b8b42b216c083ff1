#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rdtd::fake {

namespace {

constexpr pid_t no_task = 4000000;  // beyond pid_max of a guest

const std::vector<std::string>& names() {
  static const std::vector<std::string> all = {"a", "b", "c", "d", "e", "f"};
  return all;
}

const std::vector<std::string>& odd_directories() {
  static const std::vector<std::string> all = {"info",
                                               "info/x",
                                               "mon_groups",
                                               "mon_groups/mon_groups",
                                               "mon_data",
                                               "mon_data/x",
                                               "x\ny",
                                               "a/x",
                                               "a/mon_groups",
                                               "a/mon_data",
                                               "schemata",
                                               "schemata/x",
                                               "none/x",
                                               "info/L3",
                                               "info/L3/x",
                                               "a/mon_groups/m/x",
                                               ".hidden",
                                               "a/",
                                               std::string(300, 'n')};
  return all;
}

// When the last CPU of a domain goes, Linux may use the domain in the workers for its counters
// after it was freed, and the machine hangs or crashes (tests/vm/scenarios/hotplug has the patch).
bool is_last_with_counters(const Resctrl& state, unsigned cpu) {
  return state.machine.num_rmids > 0 &&
         std::ranges::any_of(state.machine.mon_domains, [&](const auto& domain) {
           return domain.second.contains(cpu) &&
                  std::ranges::count_if(domain.second, [&](unsigned other) {
                    return state.online.contains(other);
                  }) == 1;
         });
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string("\\n") : std::string(1, c);
  return out;
}

std::string Command::shown() const {
  switch (kind) {
    case Kind::make: return "make " + escaped(path);
    case Kind::remove: return "remove " + escaped(path);
    case Kind::read: return "read " + escaped(path);
    case Kind::list: return "list " + escaped(path);
    case Kind::write: return fmt::format("write {} '{}'", path, escaped(text.substr(0, 200)));
    case Kind::open_tasks: return "open tasks of " + path;
    case Kind::add: return fmt::format("write {} to the open tasks", tid);
    case Kind::fork: return "fork";
    case Kind::kill: return fmt::format("kill {}", tid);
    case Kind::offline: return fmt::format("take CPU {} offline", cpu);
    case Kind::online: return fmt::format("bring CPU {} online", cpu);
  }
  return {};
}

unsigned Generator::below(size_t count) {
  return static_cast<unsigned>(random_() % (count == 0 ? 1 : count));
}

// A control group or a monitoring group, mostly one that exists.
std::string Generator::group(const Resctrl& state) {
  if (one_in(12)) return pick(names());
  const Group& group = pick(state.groups);
  if (group.mon_groups.empty() || !one_in(3)) return group.name;
  const std::string directory = group.name.empty() ? "" : group.name + "/";
  return directory + "mon_groups/" + pick(group.mon_groups).name;
}

std::string Generator::any_path(const Resctrl& state) {
  static const std::vector<std::string> files = {
      "cpus",     "cpus_list",  "mode", "schemata",           "size",
      "tasks",    "mon_groups", "none", "mon_data/mon_L3_00", "mon_data/mon_L3_01/llc_occupancy",
      "mon_data", "mon_data/x", ""};
  if (one_in(8)) return pick(odd_directories());
  const std::string directory = group(state);
  const std::string file = pick(files);
  return directory + (directory.empty() || file.empty() ? "" : "/") + file;
}

Command Generator::next(const Resctrl& state, const std::vector<pid_t>& children) {
  using Kind = Command::Kind;
  const unsigned kind = below(100);
  if (kind < 12) {
    if (one_in(4)) return {.kind = Kind::make, .path = pick(odd_directories())};
    if (!one_in(3)) return {.kind = Kind::make, .path = pick(names())};
    const std::string& name = pick(state.groups).name;
    const std::string directory = (name.empty() ? "" : name + "/") + "mon_groups/";
    return {.kind = Kind::make, .path = directory + pick(names())};
  }
  if (kind < 20)
    return {.kind = Kind::remove, .path = one_in(4) ? pick(odd_directories()) : group(state)};
  if (kind < 25) return {.kind = Kind::read, .path = any_path(state)};
  if (kind < 28) return {.kind = Kind::list, .path = any_path(state)};
  if (kind < 31) return {.kind = Kind::open_tasks, .path = group(state)};
  if (kind < 34) return {.kind = Kind::add, .tid = one_in(5) ? no_task : pick(children)};
  if (kind < 36) return {.kind = Kind::fork};
  if (kind < 37 && children.size() > 2) return {.kind = Kind::kill, .tid = pick(children)};
  if (kind < 39) {
    // CPU 0 cannot be taken offline.
    const unsigned cpu = 1 + below(state.machine.cpus.size() - 1);
    if (!state.online.contains(cpu)) return {.kind = Kind::online, .cpu = cpu};
    if (!is_last_with_counters(state, cpu)) return {.kind = Kind::offline, .cpu = cpu};
  }
  return write(state, children);
}

Command Generator::write(const Resctrl& state, const std::vector<pid_t>& children) {
  static const std::vector<std::string> modes = {"shareable\n",
                                                 "exclusive\n",
                                                 "exclusive\n",
                                                 "pseudo-locksetup\n",
                                                 "pseudo-locksetup\n",
                                                 "pseudo-locked\n",
                                                 "exclusive",
                                                 "",
                                                 "\n",
                                                 " shareable\n"};
  Command command{.kind = Command::Kind::write, .path = group(state)};
  if (!command.path.empty()) command.path += "/";
  const unsigned kind = below(20);
  if (kind < 10) {
    command.path += "schemata";
    command.text = schemata(state);
  } else if (kind < 13) {
    command.path += "mode";
    command.text = pick(modes);
  } else if (kind < 16) {
    const bool list = !one_in(3);
    command.path += list ? "cpus_list" : "cpus";
    command.text = cpus(state, list);
  } else if (kind < 19) {
    command.path += "tasks";
    command.text = tasks(children);
  } else {
    command.path = any_path(state);
    command.text = one_in(3) ? std::string(5000, '1') : "1\n";
    // These would move a task that other tests or the guest need.
    if (command.path.ends_with("tasks")) command.text = "none\n";
  }
  return command;
}

std::string Generator::schemata(const Resctrl& state) {
  std::string text = row(state);
  if (one_in(4)) text += "\n" + row(state);
  if (one_in(40)) text += "\n";
  if (!one_in(30)) text += "\n";
  return text;
}

std::string Generator::row(const Resctrl& state) {
  static const std::vector<std::string> odd = {"",
                                               ":",
                                               "L3",
                                               "L3:",
                                               "L2:",
                                               "XX:0=1",
                                               "L3:0",
                                               "L2:=f",
                                               "L3 :",
                                               "L2:;",
                                               "L3:0=f;;1",
                                               "MB:x=10",
                                               "L3:0=f=1",
                                               "SMBA:0=1",
                                               "l3:0=f",
                                               "L2: 0=f",
                                               "L3:9",
                                               "L3:9=f",
                                               "L3:99999999999999999999=f",
                                               "L2:4294967296=f",
                                               "MB:-1=10",
                                               "L2:0=f;"};
  if (one_in(10) || state.machine.controls.empty()) return pick(odd);
  auto control = state.machine.controls.begin();
  std::advance(control, below(state.machine.controls.size()));
  std::string text = (one_in(10) ? " " : "") + std::string(to_string(control->first));
  text += one_in(10) ? " :" : ":";
  const unsigned count = 1 + below(2);
  for (unsigned i = 0; i < count; i++) {
    auto domain = control->second.domains.begin();
    std::advance(domain, below(control->second.domains.size()));
    text += fmt::format("{}{}={}", i == 0 ? "" : ";", one_in(30) ? "7" : to_string(domain->first),
                        value(control->second, control->first));
  }
  return text;
}

std::string Generator::value(const Control& control, Resource resource) {
  static const std::vector<std::string> odd = {"",
                                               "x",
                                               "0",
                                               "-1",
                                               "0x3",
                                               "+3",
                                               " 3 ",
                                               "3.",
                                               "0xg",
                                               "fg",
                                               "1 2",
                                               "fffffffff",
                                               "ffffffffffffffffff"};
  if (one_in(10)) return pick(odd);
  if (!is_cache(resource)) return std::to_string(below(130));
  const unsigned ways = control.cbm_mask.count();
  if (one_in(8)) return fmt::format("{:x}", below(1U << (ways + 1)));
  // Few ways mostly, so that some groups do not overlap.
  const unsigned count = 1 + below(one_in(4) ? ways : 3);
  return to_string(Cbm::range(below(ways - count + 1), count));
}

std::string Generator::cpus(const Resctrl& state, bool list) {
  static const std::vector<std::string> odd_lists = {
      "",          "\n",     "x\n",           "9\n",      "0-9\n",
      "1-0\n",     "all\n",  "0-3:1/2\n",     "N\n",      "-1\n",
      "0,",        "1 ",     "1,,2 3\n",      "1-\n",     "0-3:\n",
      "0-3:0/2\n", "0-1x\n", "99999999999\n", "0-3:3/2\n"};
  static const std::vector<std::string> odd_masks = {
      "", "\n", "x\n", "100\n", "0,3\n", "1,0\n", "fffffffff\n", ",1\n", "1 \n", "00000001\n"};
  if (one_in(3)) return pick(list ? odd_lists : odd_masks);
  CpuSet cpus;
  uint32_t mask = 0;
  for (const unsigned cpu : state.machine.cpus)
    if (one_in(2)) {
      cpus.insert(cpu);
      mask |= 1U << cpu;
    }
  return (list ? format_cpu_list(cpus) : fmt::format("{:x}", mask)) + (one_in(5) ? "" : "\n");
}

std::string Generator::tasks(const std::vector<pid_t>& children) {
  static const std::vector<std::string> odd = {
      "", "\n", "x\n", "-1\n", "0\n", ",\n", "1 2\n", "\n1\n", "-0\n", "99999999999\n", "0x\n"};
  if (one_in(5)) return pick(odd);
  std::string text;
  const unsigned count = 1 + below(3);
  for (unsigned i = 0; i < count; i++)
    text += fmt::format("{}{}",
                        i == 0      ? ""
                        : one_in(4) ? ", "
                                    : ",",
                        one_in(10) ? no_task : pick(children));
  return text + (one_in(4) ? "" : "\n");
}

}  // namespace rdtd::fake
