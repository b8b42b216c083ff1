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
  bool left_out = false;
  const auto take = [&](std::vector<observe::Episode> episodes, bool running) {
    for (observe::Episode& episode : episodes)
      if (group.empty() ? episode.kind != observe::Contention::none : concerns(episode, group))
        out.episodes.push_back({std::move(episode), running, clock_ahead_usec});
    left_out |= keep_last(out.episodes, 2 * most_found);
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
  const size_t before = std::erase_if(out.episodes, [&](const FoundEpisode& found) {
    return !found.running && found.episode.end_usec < out.read.from_usec;
  });
  // Those that were left out are older than any of the ones that are before the period.
  if (keep_last(out.episodes, most_found) || (left_out && before == 0)) warn_of_more("episodes");
  out.streams = detector->streams();
  if (!group.empty())
    std::erase_if(out.streams, [&](const observe::Stream& stream) {
      return group_label(stream.group) != group;
    });
  out.domains = detector->traffic();
  return out;
}

}  // namespace rdtd
