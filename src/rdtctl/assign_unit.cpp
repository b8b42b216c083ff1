// assign --unit: a rule in a policy file of its own, in force after a reload.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <vector>

#include "policy_file.hpp"
#include "print.hpp"
#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"
#include "unit_processes.hpp"
#include "unit_rule.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// "redis" of "redis/web", a monitoring group.
std::string_view control_group_name(std::string_view label) {
  return label.substr(0, label.find('/'));
}

// Another rule decides about the unit: which one, for a process of the unit.
std::optional<std::string> earlier_rule(const Context& context, Client& client,
                                        const std::string& unit, const std::string& group) {
  const auto processes = processes_of_unit(context, unit);
  for (const pid_t pid : processes ? *processes : std::vector<pid_t>{}) {
    const auto explanation = client.explain(pid);
    if (!explanation) continue;  // it may have ended
    const auto decides =
        std::ranges::find_if(explanation->trials, [](const auto& trial) { return trial.matched; });
    // A manual assignment is about this process alone.
    if (decides == explanation->trials.end() || control_group_name(decides->group) == group ||
        !decides->place.contains(':'))
      continue;
    return fmt::format(
        "process {} ({}) of unit '{}' belongs in group '{}': the rule at {} matches "
        "first",
        pid, printable(explanation->name), unit, decides->group, decides->place);
  }
  return std::nullopt;
}

}  // namespace

int verbs::assign_unit(const Context& context, const std::string& group, const std::string& unit,
                       bool runtime) {
  const std::string complete = complete_unit_name(unit);
  if (const std::string why = why_unit_never(complete, "assign"); !why.empty()) {
    note("rdtctl: {}\n", why);
    return Exit::usage;
  }
  const std::string file = unit_rule_file(complete);
  const auto lasting = std::filesystem::path(lasting_directory) / file;
  std::error_code ignored;
  // A file in /etc replaces the file of the same name in /run.
  if (runtime && std::filesystem::exists(std::filesystem::symlink_status(lasting, ignored))) {
    note("rdtctl: '{}' assigns the unit permanently and takes precedence: remove it first\n",
         lasting.string());
    return Exit::failed;
  }
  auto client = Client::connect();
  if (!client) return report(client.error());
  // A connection to the bus is no proof that the daemon runs.
  if (const auto running = client->properties(); !running) return report(running.error());
  const auto directory = open_policy_directory(runtime ? runtime_directory : lasting_directory);
  if (!directory) return report_file(directory.error());
  const int exit = put_in_force(*client, *directory, file, unit_rule_text(group, complete));
  if (exit != Exit::ok) return exit;
  if (const auto other = earlier_rule(context, *client, complete, group)) {
    note("rdtctl: {}\nrdtctl: the rule of '{}' is in force, but comes after it\n", *other,
         directory->path_of(file));
    return Exit::failed;
  }
  if (is_unknown_unit(complete))
    note("rdtctl: warning: there is no unit '{}' now: the rule waits for it\n", complete);
  const std::string place = group == leave_group ? "stays in the groups where its processes are"
                                                 : fmt::format("is in group '{}'", group);
  note("rdtctl: unit '{}' {}{}: '{}'\n", complete, place, runtime ? " until the next boot" : "",
       directory->path_of(file));
  return Exit::ok;
}

}  // namespace rdtd
