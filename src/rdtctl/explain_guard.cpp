// explain --guard: what the guard of rdtd-observer lets each group have now, and its last steps.
#include <fmt/format.h>

#include <cctype>

#include "output.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/observe/episode.hpp"
#include "rdtd/observe/guard.hpp"
#include "time_point.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

constexpr size_t steps_shown = 10;

JsonValue to_json(const GuardStatus& guard) {
  JsonValue amounts = JsonValue::array(), steps = JsonValue::array();
  for (const GuardAmount& row : guard.amounts) {
    JsonValue seen = JsonValue::array();
    for (const GuardSeen& at : row.seen)
      seen.push_back({{"amount", at.amount}, {"bytes_per_second", at.bytes_per_second}});
    amounts.push_back({{"group", row.group},
                       {"resource", row.resource},
                       {"domain", row.domain},
                       {"unit", row.unit},
                       {"amount", row.amount},
                       {"least", row.least},
                       {"most", row.most},
                       {"state", row.state},
                       {"seen", std::move(seen)}});
  }
  for (const GuardStepRow& step : guard.steps)
    steps.push_back({{"time_usec", step.time_usec}, {"mode", step.mode}, {"text", step.text}});
  return {{"mode", guard.mode},
          {"problem", guard.problem},
          {"amounts", std::move(amounts)},
          {"steps", std::move(steps)}};
}

void print_amounts(const Context& context, const GuardStatus& guard) {
  std::vector<std::vector<std::string>> rows;
  for (const GuardAmount& row : guard.amounts) {
    const observe::Range range{row.least, row.most, row.unit == "percent"};
    const auto text = [&](double amount) { return observe::amount_text(range, amount); };
    std::vector<std::string> seen;
    for (const GuardSeen& at : row.seen)
      seen.push_back(
          fmt::format("{} at {}", observe::rate_text(at.bytes_per_second), text(at.amount)));
    rows.push_back({row.group, fmt::format("{} {}", row.resource, row.domain), text(row.amount),
                    fmt::format("{}..{}", text(row.least), text(row.most)), join(seen, ", ")});
  }
  if (rows.empty()) return;
  print("\n");
  print_table(context, {{"GROUP"}, {"DOMAIN"}, {"MB", true}, {"RANGE", true}, {"TRAFFIC SEEN"}},
              rows);
  for (const GuardAmount& row : guard.amounts)
    if (!row.state.empty())
      print("{} in {} {}: {}\n", row.group, row.resource, row.domain, printable(row.state));
}

void print_guard(const Context& context, const GuardStatus& guard) {
  if (!guard.problem.empty()) {
    std::string text = printable(guard.problem);
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    print("{}\n", text);
  }
  // A policy that cannot be read does not say what its mode is.
  if (guard.mode == "off" && !guard.problem.empty()) return;
  if (guard.mode == "off") {
    print(
        "The guard is off: [guard] mode = \"shadow\" in a policy file lets it say what it would "
        "do.\n");
    return;
  }
  print("{}\n", guard.mode == "on"
                    ? "The guard is on: it changes mb within the ranges of the policy."
                    : "The guard is in shadow: it says what it would do, and changes nothing.");
  // A problem may be why.
  if (guard.amounts.empty() && guard.problem.empty())
    print("No group that has a range of mb was seen yet.\n");
  print_amounts(context, guard);
  if (guard.steps.empty()) return;
  print("\n");
  const size_t left_out = guard.steps.size() - std::min(guard.steps.size(), steps_shown);
  if (left_out > 0) print("{} before these:\n", counted(left_out, "step"));
  for (size_t i = left_out; i < guard.steps.size(); ++i)
    print("{}  {}{}\n", time_text(guard.steps[i].time_usec),
          guard.steps[i].mode == "on" ? "" : "in shadow: ", printable(guard.steps[i].text));
}

}  // namespace

int verbs::explain_guard(const Context& context) {
  auto client = Client::connect();
  if (!client) return report(client.error());
  const auto observed = client->observed(UINT64_MAX);
  if (!observed) {
    if (observed.error().kind != Client::Failure::Kind::not_running &&
        observed.error().kind != Client::Failure::Kind::not_on_bus)
      return report(observed.error());
    note("rdtctl: rdtd-observer is not running: systemctl enable --now rdtd-observer\n");
    return Exit::not_running;
  }
  if (context.json != Json::off)
    print_json(context, to_json(observed->guard));
  else
    print_guard(context, observed->guard);
  return Exit::ok;
}

}  // namespace rdtd
