// history --replay: what the guard of the policy files would have done in a recording. The same
// functions as in rdtd-observer, so the same steps where the recording is what it saw.
#include <algorithm>
#include <optional>
#include <vector>

#include "judged_samples.hpp"
#include "output.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/observer/guard_policy.hpp"
#include "rdtd/policy/parse.hpp"
#include "recording_source.hpp"
#include "time_point.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

JsonValue step_json(const observe::GuardStep& step) {
  return {{"time_usec", step.time_usec},
          {"group", group_label(step.group)},
          {"resource", step.resource},
          {"domain", static_cast<uint32_t>(step.domain)},
          {"direction", to_string(step.direction)},
          {"unit", step.range.percent ? "percent" : "bytes_per_second"},
          {"before", step.before},
          {"after", step.after},
          {"reason", step.reason}};
}

int refuse(const char* what) {
  note("rdtctl: {}\n", std::string(what));
  return Exit::failed;
}

}  // namespace

int verbs::replay(const Context& context, const RecordingSource& source) {
  const auto files = find_policy_files(context.root);
  const auto parsed = parse_or_report(context, files);
  if (!parsed) return parsed.error();
  const observe::GuardRules rules = guard_rules(parsed->policy);
  if (rules.protected_groups.empty())
    return refuse("no group of the policy is protected: write protected = true in a [group.NAME]");
  if (!rules.has_range())
    return refuse("no group of the policy has a range: write mb = \"10%..100%\" in a [group.NAME]");
  observe::Guard guard(rules);
  std::optional<observe::Detector> detector;
  LastFound<observe::GuardStep> found;
  JudgedSamples judged("");
  const auto recording = read_samples(
      context, source,
      [&](const observe::Header& header, const observe::Sample& sample) {
        if (!detector) detector.emplace(header);
        if (sample.begins_file) {
          detector->use(header);
          guard.use(header);
        }
        judged.add(sample);
        (void)detector->add(sample);
        for (observe::GuardStep& step : guard.add(sample, detector->traffic()))
          found.add(std::move(step));
      },
      all_before);
  if (!recording) return recording.error();
  const auto steps = found.take_period(
      [&](const observe::GuardStep& step) { return step.time_usec < recording->from_usec; },
      "steps");
  if (context.json != Json::off) {
    JsonValue rows = JsonValue::array();
    for (const observe::GuardStep& step : steps) rows.push_back(step_json(step));
    print_json(context, {{"steps", std::move(rows)}});
    return Exit::ok;
  }
  for (const observe::GuardStep& step : steps)
    print("{}  {}\n", time_text(step.time_usec), sentence(step));
  if (steps.empty()) print("{}\n", judged.text("No step", "No step is possible", *recording));
  return Exit::ok;
}

}  // namespace rdtd
