#include <fmt/format.h>

#include <map>
#include <optional>

#include "explain_text.hpp"
#include "output.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/policy/comm_name.hpp"
#include "unit_processes.hpp"
#include "unit_rule.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

JsonValue to_json(pid_t pid, const Explanation& explanation) {
  JsonValue trials = JsonValue::array();
  for (const auto& trial : explanation.trials)
    trials.push_back({{"rule", trial.place},
                      {"group", trial.group},
                      {"matched", trial.matched},
                      {"reason", trial.reason}});
  JsonValue threads = JsonValue::array();
  for (const auto& [tid, group] : explanation.threads)
    threads.push_back({{"tid", tid}, {"group", group}});
  return {{"pid", pid}, {"name", explanation.name}, {"rules", trials}, {"threads", threads}};
}

void print_explanation(const Context& context, pid_t pid, const Explanation& explanation) {
  print("{}\n", emphasized(context, fmt::format("{} ({})", printable(explanation.name), pid)));
  for (const auto& trial : explanation.trials) {
    print("  {}  {}{}", trial.place, trial.matched ? "matches  " : "no: ",
          trial.matched ? destination_text(trial.group) : printable(trial.reason));
    print("{}\n", trial.matched && !trial.reason.empty() ? fmt::format(": {}", trial.reason) : "");
  }
  if (explanation.trials.empty() || !explanation.trials.back().matched)
    print("  no rule matches: it stays in the group that it started in\n");
  std::map<std::string, std::vector<std::string>> by_group;
  for (const auto& [tid, group] : explanation.threads)
    by_group[group].push_back(std::to_string(tid));
  for (const auto& [group, tids] : by_group)
    print("  in group {}: {}\n", group,
          tids.size() == 1 && tids.front() == std::to_string(pid)
              ? "its only thread"
              : fmt::format("threads {}", join(tids, " ")));
}

// Of a service that has no process: what its rule would be.
std::string how_to_describe(const std::string& unit) {
  constexpr std::string_view type = ".service";
  if (!unit.ends_with(type) || has_wildcard(unit) || !why_unit_never(unit, "name").empty())
    return {};
  const std::string name = unit.substr(0, std::min(unit.find('@'), unit.size() - type.size()));
  return fmt::format("; of one that it starts: rdtctl explain --unit {} --name {}", unit,
                     name.substr(0, longest_comm));
}

}  // namespace

int verbs::explain(const Context& context, std::optional<pid_t> pid, const std::string& unit) {
  std::vector<pid_t> processes;
  if (pid) {
    processes.push_back(*pid);
  } else {
    const auto found = processes_of_unit(context, complete_unit_name(unit));
    if (!found) return report(found.error());
    processes = *found;
    if (processes.empty()) {
      // A word without a type may be the name of something else.
      const bool may_be_name = !has_unit_type(unit) && group_hint(context, unit).empty();
      note("rdtctl: {}{}\n", no_process_in(context, unit),
           may_be_name ? fmt::format("; of a name: rdtctl explain --name {}",
                                     unit.find_first_of(" *?[") != std::string::npos
                                         ? fmt::format("'{}'", unit)
                                         : unit)
                       : how_to_describe(unit));
      return Exit::failed;
    }
  }
  auto client = Client::connect();
  if (!client) return report(client.error());
  JsonValue json = JsonValue::array();
  int status = Exit::ok;
  for (const pid_t one : processes) {
    const auto explanation = client->explain(one);
    // Of a unit's many processes one may end meanwhile.
    if (!explanation && processes.size() > 1 &&
        explanation.error().kind == Client::Failure::Kind::no_such_process)
      continue;
    if (!explanation) {
      status = report(explanation.error());
      // Another one may be explained.
      if (explanation.error().kind == Client::Failure::Kind::refused) continue;
      return status;
    }
    json.push_back(to_json(one, *explanation));
    if (context.json == Json::off) print_explanation(context, one, *explanation);
  }
  if (context.json != Json::off && (status == Exit::ok || !json.empty()))
    print_json(context, {{"processes", json}});
  return status;
}

}  // namespace rdtd
