#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lock_devices.hpp"
#include "output.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/plan/step.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// The label of I/O devices is not that of a monitoring group, although it contains a '/'.
bool is_of_devices(const PlannedStep& step) { return step.group == group_label(io_group); }

// Of groups or monitoring groups: "1 group created, 2 changed". Empty if there are none.
std::string done_to(const std::vector<PlannedStep>& steps, bool monitoring) {
  constexpr auto words = std::to_array<std::string_view>({"created", "changed", "removed"});
  constexpr size_t created = 0, changed = 1, removed = 2;
  std::map<std::string, size_t> done;  // by group
  for (const PlannedStep& step : steps) {
    if (is_of_devices(step) || step.group.contains('/') != monitoring) continue;
    size_t& word = done.try_emplace(step.group, changed).first->second;
    if (step.kind == "create") word = created;
    if (step.kind == "remove") word = removed;
  }
  std::string out;
  for (size_t word = 0; word < words.size(); word++) {
    const auto count = static_cast<size_t>(
        std::ranges::count(done, word, &std::pair<const std::string, size_t>::second));
    if (count == 0) continue;
    const std::string groups = counted(count, monitoring ? "monitoring group" : "group");
    out += out.empty() ? groups : fmt::format(", {}", count);
    out += fmt::format(" {}", words.at(word));
  }
  return out;
}

std::string done_text(const std::vector<PlannedStep>& steps) {
  if (steps.empty()) return "The groups were as the policy wants them; its rules are loaded.";
  std::vector<std::string> out;
  for (const bool monitoring : {false, true})
    if (std::string text = done_to(steps, monitoring); !text.empty()) out.push_back(text);
  if (std::ranges::any_of(steps, is_of_devices)) out.emplace_back("ways of I/O devices changed");
  return fmt::format("Done: {}.", join(out, "; "));
}

}  // namespace

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
  print("{}\n", done_text(planned->steps));
  check_loaded(context);
  return Exit::ok;
}

}  // namespace rdtd
