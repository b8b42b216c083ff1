// init: a first policy, from the services that run: each is measured for some seconds, the user
// names those that others must not disturb, and these get ways of their own.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "interruption.hpp"
#include "output.hpp"
#include "policy_file.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "rdtd/bus/units.hpp"
#include "rdtd/proc/proc_fs.hpp"
#include "unit_processes.hpp"
#include "unit_rule.hpp"
#include "usage.hpp"
#include "verbs.hpp"
#include "watch_groups.hpp"
#include "wrong_units.hpp"

namespace rdtd {

namespace {

constexpr const char* file_name = "10-init.toml";
constexpr int measured_ms = 3000;
// More are not measured: each takes an RMID.
constexpr size_t most_measured = 24;
constexpr size_t most_protected = 10;

struct Service {
  std::string unit;
  std::vector<pid_t> pids;
  std::optional<double> occupancy, traffic;  // bytes, bytes/s
};

Result<std::vector<Service>> running_services(const proc::ProcFs& proc) {
  std::map<std::string, std::vector<pid_t>> units;
  const auto looked = for_each_in_units(proc, [&](pid_t pid, const auto& of) {
    if (!of.empty() && of.back().ends_with(".service"))
      units[std::string(of.back())].push_back(pid);
  });
  if (!looked) return std::unexpected(looked.error());
  std::vector<Service> out;
  for (auto& [unit, processes] : units) out.push_back({unit, std::move(processes), {}, {}});
  // The first ones are measured.
  std::ranges::stable_sort(out, std::greater{}, [](const Service& one) { return one.pids.size(); });
  return out;
}

// Sums over the groups; nothing where the kernel counts nothing.
std::optional<double> sum_of(const std::vector<Usage>& usage, const std::set<std::string>& groups,
                             const char* counter) {
  std::optional<double> out;
  for (const Usage& one : usage)
    if (const auto amount = one.of(counter).amount; amount && groups.contains(one.directory))
      out = out.value_or(0) + *amount;
  return out;
}

// A machine that counts nothing, or has no RMID left, is no error: the figures are missing then.
void measure(const Context& context, const proc::ProcFs& proc, std::vector<Service>& services) {
  const auto tree = Tree::open(context.resctrl);
  if (!tree) return;
  WatchGroups::remove_left_behind(tree->filesystem(), proc);
  std::vector<std::unique_ptr<WatchGroups>> groups;
  std::vector<Service*> measured;
  for (Service& service : services) {
    if (groups.size() == most_measured) break;
    auto group = std::make_unique<WatchGroups>(tree->filesystem(), proc,
                                               static_cast<unsigned>(groups.size()) + 1);
    if (const auto put = group->put(service.pids); !put) {
      if (put.error().code == ENOSPC || put.error().code == EBUSY) break;  // no RMID is left
      continue;
    }
    groups.push_back(std::move(group));
    measured.push_back(&service);
  }
  if (groups.empty()) return;
  note("Measuring {} of {} for {} s ...\n", groups.size(), counted(services.size(), "service"),
       measured_ms / 1000);
  const auto before = read_usage(*tree);
  if (!interrupted()) (void)::poll(nullptr, 0, measured_ms);
  const auto after = read_usage(*tree);
  if (!before || !after) return;
  const std::vector<Usage> usage = usage_between(*before, *after, Domains::summed);
  for (size_t i = 0; i < groups.size(); ++i) {
    measured[i]->occupancy = sum_of(usage, groups[i]->directories(), "llc_occupancy");
    measured[i]->traffic = sum_of(usage, groups[i]->directories(), "mbm_total_bytes");
  }
}

void print_services(const Context& context, const std::vector<Service>& services) {
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < services.size(); ++i)
    rows.push_back({std::to_string(i + 1), services[i].unit,
                    std::to_string(services[i].pids.size()),
                    used_text("llc_occupancy", {services[i].occupancy, {}}),
                    used_text("mbm_total_bytes", {services[i].traffic, {}})});
  print_table(context,
              {{"", true}, {"UNIT"}, {"PROCESSES", true}, {"OCCUPANCY", true}, {"BANDWIDTH", true}},
              rows);
}

// By their numbers or names; what is neither is said, and asked again. Empty: the end of the input.
std::vector<std::string> ask_which(const std::vector<Service>& services) {
  for (std::string line; !interrupted();) {
    note("\nWhich of these must others not disturb? Numbers or names: ");
    if (!std::getline(std::cin, line)) return {};
    std::ranges::replace(line, ',', ' ');
    std::vector<std::string> out;
    bool good = true;
    for (const std::string_view word : split(line, ' ')) {
      if (word.empty()) continue;
      const auto number = parse_unsigned<uint32_t>(word);
      const std::string name = number ? "" : complete_unit_name(std::string(word));
      const auto found = std::ranges::find(services, name, &Service::unit);
      if (number && *number >= 1 && *number <= services.size())
        out.push_back(services[*number - 1].unit);
      else if (found != services.end())
        out.push_back(name);
      else
        note("'{}' is none of them.\n", word);
      good = good &&
             (found != services.end() || (number && *number >= 1 && *number <= services.size()));
    }
    if (good && !out.empty()) return out;
  }
  return {};
}

// "redis-server" of "redis-server.service", as names of groups may be.
std::string group_name(std::string_view unit) {
  unit = unit.substr(0, unit.rfind('.'));
  std::string out;
  for (const char c : unit)
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ? c : '-';
  constexpr size_t longest = 60;  // a number may follow
  out.resize(std::min(out.size(), longest));
  const bool is_taken = out.empty() || out.front() == '-' || out == "default";
  return is_taken || group_name_problem(out) ? "unit-" + out : out;
}

// The groups in resctrl that rdtd did not make: their names are taken.
std::set<std::string> groups_of_others(const Context& context) {
  std::set<std::string> out;
  if (const auto machine = read_machine(context))
    for (const auto& [directory, state] : machine->snapshot.groups)
      if (directory != root_group && !machine->snapshot.owned.contains(directory))
        out.insert(group_label(directory));
  return out;
}

// Half of the cache for all of them together: the rest of the machine needs some too.
std::string policy_text(const std::vector<std::string>& units, std::set<std::string> names) {
  std::string out =
      "# Written by 'rdtctl init'. rdtd.toml(5) describes the language; 'rdtctl edit' changes "
      "this.\n# 'rdtctl suggest -g GROUP' measures how much of the cache a group needs.\n";
  for (const std::string& unit : units) {
    std::string group = group_name(unit);
    for (int i = 2; !names.insert(group).second; ++i)
      group = fmt::format("{}-{}", group_name(unit), i);
    out += fmt::format(
        "\n# Ways of the cache that nobody else fills.\n[group.{}]\nl3 = \"{}%\"\nexclusive = "
        "true\n\n[[rule]]\ngroup = {}\nunit = {}\n",
        group, 50 / units.size(), toml_string(group), toml_string(unit));
  }
  return out;
}

bool confirms() {
  note("\nWrite this to {}/{}, and put it in force? [Y/n] ", lasting_directory,
       std::string(file_name));
  std::string line;
  return std::getline(std::cin, line) &&
         (line.empty() || line == "y" || line == "Y" || line == "yes");
}

// Checks for obstacles before anything is measured. Returns the exit code.
int check_start(const Context& context, const verbs::InitOptions& options) {
  const std::vector<PolicyFile> files = find_policy_files(context.root);
  const auto active = std::ranges::find(files, PolicyFile::State::active, &PolicyFile::state);
  if (active != files.end()) {
    note("rdtctl: there is a policy already: {}\nrdtctl: 'rdtctl edit' changes it\n", active->path);
    return Exit::failed;
  }
  if ((options.protect.empty() || !options.yes) && ::isatty(STDIN_FILENO) != 1) {
    note(
        "rdtctl: init asks its questions on a terminal; without one, it requires --protect UNIT "
        "and "
        "--yes\n");
    return Exit::usage;
  }
  if (const auto may = may_install_policy_file(file_name); !may) return report_file(may.error());
  const auto machine = read_machine(context);
  if (!machine) return report(machine.error());
  if (machine->capabilities.caches.empty() ||
      (!machine->capabilities.caches.contains(Resource::L3) &&
       !machine->capabilities.caches.contains(Resource::L3CODE))) {
    std::vector<std::string> others;
    for (const auto& [resource, cache] : machine->capabilities.caches)
      others.emplace_back(to_string(resource));
    for (const auto& [resource, bandwidth] : machine->capabilities.bandwidths)
      others.emplace_back(to_string(resource));
    note("rdtctl: init gives services ways of the L3 cache, which this machine cannot divide: {}\n",
         others.empty() ? "'rdtctl doctor' says why"
                        : fmt::format("it divides {}; 'rdtctl edit 10-NAME' opens a policy file",
                                      join(others, ", ")));
    return Exit::no_resctrl;
  }
  return Exit::ok;
}

// Half of the cache is not to go to a slip. A unit that is stopped is known to systemd.
std::optional<int> refuse_unknown(const Context& context, const std::string& unit) {
  if (!is_unknown_unit(unit)) return std::nullopt;
  note("rdtctl: there is no unit '{}', and no process is in one{}\n", unit,
       nearest_question(unit, running_units(context)));
  return Exit::failed;
}

}  // namespace

int verbs::init(const Context& context, const InitOptions& options) {
  if (const int exit = check_start(context, options); exit != Exit::ok) return exit;
  std::vector<std::string> units;
  for (const std::string& unit : options.protect) {
    units.push_back(complete_unit_name(unit));
    if (has_wildcard(unit)) {
      note("rdtctl: --protect takes the name of one unit, not a pattern: write a rule for it\n");
      return Exit::usage;
    }
    if (const std::string why = why_unit_never(units.back(), "protect"); !why.empty()) {
      note("rdtctl: {}\n", why);
      return Exit::usage;
    }
    const auto pids = processes_of_unit(context, units.back());
    if (!pids || !pids->empty()) continue;
    if (const auto exit = refuse_unknown(context, units.back())) return *exit;
    note("rdtctl: warning: no process is in unit '{}' now\n", units.back());
  }
  if (units.empty()) {
    auto directory = Directory::open(context.proc);
    if (!directory) return report(directory.error());
    const proc::ProcFs proc(std::move(*directory));
    auto services = running_services(proc);
    if (!services) return report(services.error());
    note_interruptions();
    measure(context, proc, *services);
    std::ranges::stable_sort(*services, std::greater{},
                             [](const Service& service) { return service.traffic.value_or(0); });
    print_services(context, *services);
    units = ask_which(*services);
  }
  std::ranges::sort(units);
  units.erase(std::ranges::unique(units).begin(), units.end());
  if (units.empty()) {
    note("\nrdtctl: nothing was written\n");
    return Exit::failed;
  }
  if (units.size() > most_protected) {
    note("rdtctl: init protects {} services at most: {} would leave none of them much\n",
         most_protected, units.size());
    return Exit::usage;
  }
  const std::string text = policy_text(units, groups_of_others(context));
  print("{}{}", options.protect.empty() ? "\n" : "", text);
  if (!check_policy_file(context, file_name, text)) return Exit::failed;
  if (!options.yes && !confirms()) {
    note("rdtctl: nothing was written\n");
    return Exit::failed;
  }
  return install_policy_file(file_name, text);
}

}  // namespace rdtd
