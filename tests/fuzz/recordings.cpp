// Recordings of what the groups used: any file, its curves, and who took what in it.
#include "fuzz/input.hpp"
#include "rdtd/observe/detector.hpp"
#include "rdtd/observe/guard.hpp"
#include "rdtd/observe/series.hpp"

using namespace rdtd;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto recording = observe::parse_recording(fuzz::text_of(data, size));
  if (!recording) {
    fuzz::require(recording.error().line >= 1 && !recording.error().why.empty(),
                  "a refusal has a line and a reason");
    return 0;
  }
  std::string written = observe::header_line(recording->header);
  for (const observe::Sample& sample : recording->samples) written += observe::sample_line(sample);
  const auto again = observe::parse_recording(written);
  fuzz::require(again && again->samples.size() == recording->samples.size(),
                "what was read is written as a recording");
  for (const size_t points : {size_t{1}, size_t{7}}) {
    observe::SeriesBuilder builder(points, recording->header.interval);
    for (const observe::Sample& sample : recording->samples) builder.add(recording->header, sample);
    for (const observe::Series& series : builder.series()) {
      fuzz::require(
          series.occupancy.size() <= points && series.traffic.size() == series.occupancy.size(),
          "a curve has a value or a gap for each part");
      (void)observe::extent_of(series.traffic);
    }
  }
  observe::Detector detector(recording->header);
  observe::Guard guard({.protected_groups = {"a", "redis"},
                        .ranges = {{"b", {{std::nullopt, {10, 100, true}}}},
                                   {"", {{DomainId{0}, {1e9, 8e9, false}}}}}});
  guard.use(recording->header);
  for (const observe::Sample& sample : recording->samples) {
    for (const observe::Episode& episode : detector.add(sample))
      fuzz::require(!episode.sufferers.empty() && !sentence(episode).empty(),
                    "an episode has a sufferer and a sentence");
    for (const observe::GuardStep& step : guard.add(sample, detector.traffic()))
      fuzz::require(step.after >= step.range.least && step.after <= step.range.most &&
                        !sentence(step).empty(),
                    "a step stays within its range");
  }
  (void)guard.states();
  (void)detector.streams();
  return 0;
}
