#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

#include "output.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

std::string time_text(uint64_t usec) {
  if (usec == 0) return "never";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(usec / 1'000'000)));
}

}  // namespace

int status(const Context& context) {
  auto client = Client::connect();
  const auto daemon = client ? client->properties() : std::unexpected(client.error());
  if (!daemon) {
    const int exit = report(daemon.error());
    if (context.json == Json::off) (void)list(context);
    return exit;
  }
  const auto groups = client->list_groups();
  if (!groups) return report(groups.error());
  const int exit = daemon->state == "running" ? Exit::ok : Exit::degraded;
  if (context.json != Json::off) {
    JsonValue list = JsonValue::array();
    for (const Client::GroupRow& group : *groups)
      list.push_back({{"group", group.name},
                      {"asked", group.asked},
                      {"granted", group.granted},
                      {"mode", group.mode},
                      {"cpus", group.cpus},
                      {"rules", group.rules},
                      {"tasks", group.tasks}});
    print_json(context, {{"state", daemon->state},
                         {"config_files", daemon->config_files},
                         {"last_reload_error", daemon->last_reload_error},
                         {"last_reload_timestamp_usec", daemon->last_reload_timestamp},
                         {"events_seen", daemon->events_seen},
                         {"event_overruns", daemon->event_overruns},
                         {"assigned", daemon->assigned()},
                         {"drift", daemon->drift},
                         {"groups", list}});
    return exit;
  }
  fmt::print("      State: {}\n     Policy: {} file{}, loaded {}\n     Events: {} seen, {} lost\n   Assigned: {} threads\n      Drift: {}\n",
             emphasized(context, daemon->state), daemon->config_files.size(), daemon->config_files.size() == 1 ? "" : "s",
             time_text(daemon->last_reload_timestamp), daemon->events_seen, daemon->event_overruns, daemon->assigned(), daemon->drift);
  if (!daemon->last_reload_error.empty()) fmt::print("Last reload failed, the policy before it is in force:\n{}\n", daemon->last_reload_error);
  fmt::print("\n");
  std::vector<std::vector<std::string>> rows;
  for (const Client::GroupRow& group : *groups)
    rows.push_back({group.name, std::to_string(group.tasks), std::to_string(group.rules), group.mode, group.cpus, group.asked, group.granted});
  print_table(context, {{"GROUP"}, {"TASKS", true}, {"RULES", true}, {"MODE"}, {"CPUS"}, {"ASKED"}, {"GRANTED"}}, rows);
  return exit;
}

}  // namespace rdtd
