#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "kernel_facts.hpp"
#include "output.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

JsonValue event_json(const Client::Event& event) {
  using enum Client::Event::Kind;
  switch (event.kind) {
    case assigned:
      return {
          {"event", "assigned"}, {"pid", event.pid}, {"group", event.group}, {"rule", event.rule}};
    case reloaded: return {{"event", "reloaded"}, {"success", event.success}};
    case drift: return {{"event", "drift"}, {"what", event.what}};
    case lease_ended:
      return {{"event", "lease ended"}, {"lease", event.lease}, {"reason", event.what}};
    case episode: return {{"event", "episode"}, {"text", event.what}};
    case started: return {{"event", "started"}};
    case stopped: return {{"event", "stopped"}};
  }
  return {};
}

// "4711 (tar)"; the number alone if the process has ended already.
std::string process_text(const Context& context, uint32_t pid) {
  const std::string name = name_of_process(context, static_cast<pid_t>(pid));
  return name.empty() ? std::to_string(pid) : fmt::format("{} ({})", pid, name);
}

std::string event_text(const Context& context, const Client::Event& event) {
  using enum Client::Event::Kind;
  switch (event.kind) {
    case assigned:
      return fmt::format("assigned  {} to {}, {}", process_text(context, event.pid), event.group,
                         event.rule.empty() ? "manually" : event.rule);
    case reloaded: return event.success ? "reloaded" : "reload failed: rdtctl status shows why";
    case drift: return fmt::format("drift     {}", event.what);
    case lease_ended: return fmt::format("lease     {} ended: {}", event.lease, event.what);
    case episode: return fmt::format("episode   {}", event.what);
    case started: return "started   rdtd is on the bus";
    case stopped: return "stopped   rdtd has left the bus";
  }
  return {};
}

}  // namespace

int verbs::events(const Context& context, size_t most) {
  auto client = Client::connect();
  if (!client) return report(client.error());
  // One line per event, flushed at once, for a program that reads them.
  Context by_line = context;
  if (context.json != Json::off) by_line.json = Json::compact;
  size_t printed = 0;
  const auto followed = client->follow([&](const Client::Event& event) {
    const auto now = std::chrono::system_clock::now();
    if (context.json != Json::off) {
      JsonValue json = event_json(event);
      json["timestamp_usec"] =
          std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
      print_json(by_line, std::move(json));
    } else {
      print("{:%F %T}  {}\n", fmt::localtime(std::chrono::system_clock::to_time_t(now)),
            event_text(context, event));
    }
    (void)std::fflush(stdout);
    return ++printed != most;
  });
  return followed ? Exit::ok : report(followed.error());
}

}  // namespace rdtd
