// blame: who took whose cache or bandwidth, from a recording or from what rdtd-observer keeps.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "output.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/observe/detector.hpp"
#include "recording_source.hpp"
#include "time_point.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

using observe::Contention;
using observe::Episode;
using observe::Part;
using observe::Stream;

bool concerns(const Episode& episode, const std::string& group) {
  const auto is_it = [&](const Part& part) { return group_label(part.group) == group; };
  return std::ranges::any_of(episode.takers, is_it) ||
         std::ranges::any_of(episode.sufferers, is_it);
}

JsonValue parts_json(const std::vector<Part>& parts) {
  JsonValue out = JsonValue::array();
  for (const Part& part : parts)
    out.push_back({{"group", group_label(part.group)},
                   {"occupancy_bytes_before", part.occupancy_before},
                   {"occupancy_bytes_during", part.occupancy_during},
                   {"bytes_per_second_before", part.traffic_before},
                   {"bytes_per_second_during", part.traffic_during}});
  return out;
}

JsonValue episode_json(const Episode& episode, bool running) {
  return {{"kind", to_string(episode.kind)},
          {"resource", episode.resource},
          {"domain", static_cast<uint32_t>(episode.domain)},
          {"begin_usec", episode.begin_usec},
          {"end_usec", episode.end_usec},
          {"running", running},
          {"takers", parts_json(episode.takers)},
          {"sufferers", parts_json(episode.sufferers)},
          {"text", sentence(episode)}};
}

void print_as_json(const Context& context, const std::vector<Episode>& ended,
                   const std::vector<Episode>& running, const std::vector<Stream>& streams) {
  JsonValue episodes = JsonValue::array(), groups = JsonValue::array();
  for (const Episode& episode : ended) episodes.push_back(episode_json(episode, false));
  for (const Episode& episode : running) episodes.push_back(episode_json(episode, true));
  for (const Stream& stream : streams)
    groups.push_back({{"group", group_label(stream.group)},
                      {"resource", stream.resource},
                      {"domain", static_cast<uint32_t>(stream.domain)},
                      {"least_bytes", stream.least},
                      {"most_bytes", stream.most}});
  print_json(context, {{"episodes", std::move(episodes)}, {"streams", std::move(groups)}});
}

void print_episode(const Episode& episode, bool running) {
  const std::string span =
      span_text(episode.end_usec - std::min(episode.end_usec, episode.begin_usec));
  print("{}  {}{}\n    {}\n", time_text(episode.begin_usec), span, running ? ", and goes on" : "",
        sentence(episode));
}

// A group that gains nothing from ways has them for nothing.
void print_stream(const Stream& stream) {
  const std::string group = group_label(stream.group);
  print(
      "\n{} {}: {} gains nothing from cache: it had {} to {}, and the same traffic. To keep it "
      "small:\n    [group.{}]\n    {} = \"1 way\"\n",
      stream.resource, to_string(stream.domain), group, observe::bytes_text(stream.least),
      observe::bytes_text(stream.most), group, lower(stream.resource));
}

}  // namespace

int verbs::blame(const Context& context, const BlameOptions& options) {
  if (options.group.contains('/')) {
    note("rdtctl: '{}' is a monitoring group: only control groups have ways that others take\n",
         options.group);
    return Exit::usage;
  }
  std::optional<observe::Detector> detector;
  std::vector<Episode> ended;
  const auto recording = read_samples(
      context, options.source,
      [&](const observe::Header& header, const observe::Sample& sample) {
        if (!detector) detector.emplace(header);
        if (sample.begins_file) detector->use(header);
        std::ranges::move(detector->add(sample), std::back_inserter(ended));
      },
      all_before);
  if (!recording) return recording.error();
  std::erase_if(ended,
                [&](const Episode& episode) { return episode.end_usec < recording->from_usec; });
  std::vector<Episode> running = detector->running();
  std::vector<Stream> streams = detector->streams();
  // That nobody is to blame is an answer to who asks about a group.
  const auto is_left_out = [&](const Episode& episode) {
    return options.group.empty() ? episode.kind == Contention::none
                                 : !concerns(episode, options.group);
  };
  std::erase_if(ended, is_left_out);
  std::erase_if(running, is_left_out);
  if (!options.group.empty())
    std::erase_if(streams,
                  [&](const Stream& stream) { return group_label(stream.group) != options.group; });
  if (context.json != Json::off) {
    print_as_json(context, ended, running, streams);
    return Exit::ok;
  }
  for (const Episode& episode : ended) print_episode(episode, false);
  for (const Episode& episode : running) print_episode(episode, true);
  if (ended.empty() && running.empty())
    print("No contention{} from {} to {}, in {}.\n",
          options.group.empty() ? "" : " of group " + options.group,
          time_text(recording->from_usec), time_text(recording->to_usec),
          counted(recording->samples, "sample"));
  for (const Stream& stream : streams) print_stream(stream);
  return Exit::ok;
}

}  // namespace rdtd
