#include "contention.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "rdtd/model/snapshot.hpp"

namespace rdtd {

namespace {

bool concerns(const observe::Episode& episode, const std::string& label) {
  const auto is_it = [&](const observe::Part& part) { return group_label(part.group) == label; };
  return std::ranges::any_of(episode.takers, is_it) ||
         std::ranges::any_of(episode.sufferers, is_it);
}

}  // namespace

std::expected<FoundContention, int> find_contention(const Context& context,
                                                    const verbs::RecordingSource& source,
                                                    const std::string& group) {
  FoundContention out;
  out.judged = JudgedSamples(group);
  std::optional<observe::Detector> detector;
  int64_t clock_ahead_usec = 0;
  LastFound<FoundEpisode> found;
  const auto take = [&](std::vector<observe::Episode> episodes, bool running) {
    for (observe::Episode& episode : episodes)
      if (group.empty() ? episode.kind != observe::Contention::none : concerns(episode, group))
        found.add({std::move(episode), running, clock_ahead_usec});
  };
  auto recording = read_samples(
      context, source,
      [&](const observe::Header& header, const observe::Sample& sample) {
        if (!detector) detector.emplace(header);
        if (sample.begins_file) detector->use(header);
        if (!group.empty() && !out.has_group)
          out.has_group = std::ranges::any_of(sample.counters, [&](const DomainCounters& row) {
            return group_label(row.group) == group;
          });
        out.judged.add(sample);
        clock_ahead_usec = static_cast<int64_t>(sample.time_usec - sample.monotonic_usec);
        take(detector->add(sample), false);
      },
      all_before);
  if (!recording) return std::unexpected(recording.error());
  out.read = std::move(*recording);
  take(detector->running(), true);
  out.episodes = found.take_period(
      [&](const FoundEpisode& one) {
        return !one.running && one.episode.end_usec < out.read.from_usec;
      },
      "episodes");
  out.streams = detector->streams();
  if (!group.empty())
    std::erase_if(out.streams, [&](const observe::Stream& stream) {
      return group_label(stream.group) != group;
    });
  out.domains = detector->traffic();
  return out;
}

}  // namespace rdtd
