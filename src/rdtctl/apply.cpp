#include <fmt/format.h>

#include "lock_devices.hpp"
#include "output.hpp"
#include "rdtd/plan/step.hpp"
#include "verbs.hpp"

namespace rdtd {

// apply: a reload that prints its changes.
int verbs::apply(const Context& context) {
  auto client = Client::connect();
  const auto planned = client ? client->plan() : std::unexpected(client.error());
  if (!planned) return report(context, planned.error());
  if (const auto reloaded = client->reload(); !reloaded) return report(context, reloaded.error());
  renew_device_access(context);
  if (context.json != Json::off) {
    JsonValue steps = JsonValue::array();
    for (const PlannedStep& step : planned->steps)
      steps.push_back({{"step", step.kind}, {"group", step.group}, {"text", step.text}});
    print_json(context, {{"steps", steps}, {"summary", planned->summary}});
    return Exit::ok;
  }
  for (const PlannedStep& step : planned->steps)
    print("{}\n", break_step(step.text, width_of_text(context)));
  print("{}\n", planned->steps.empty()
                    ? "The groups were as the policy wants them; its rules are loaded."
                    : "Done, as planned: " + planned->summary);
  check_loaded(context);
  return Exit::ok;
}

}  // namespace rdtd
