// blame: who took whose cache or bandwidth, from a recording or from what rdtd-observer keeps.
#include <fmt/format.h>

#include <vector>

#include "contention.hpp"
#include "output.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/policy.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "time_point.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

using observe::Episode;
using observe::Part;
using observe::Stream;

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

void print_as_json(const Context& context, const FoundContention& found) {
  JsonValue episodes = JsonValue::array(), groups = JsonValue::array();
  for (const FoundEpisode& one : found.episodes)
    episodes.push_back(episode_json(one.episode, one.running));
  for (const Stream& stream : found.streams)
    groups.push_back({{"group", group_label(stream.group)},
                      {"resource", stream.resource},
                      {"domain", static_cast<uint32_t>(stream.domain)},
                      {"least_bytes", stream.least},
                      {"most_bytes", stream.most}});
  print_json(context, {{"samples", found.read.samples},
                       {"judged_samples", found.judged.count()},
                       {"episodes", std::move(episodes)},
                       {"streams", std::move(groups)}});
}

void print_episode(const Context& context, const Episode& episode, bool running) {
  const std::string span =
      span_text(episode.end_usec - std::min(episode.end_usec, episode.begin_usec));
  print("{}  {}{}\n{}\n", time_text(episode.begin_usec), span, running ? ", and goes on" : "",
        wrapped(context, "    " + sentence(episode), 4));
}

// A group that gains nothing from ways has them for nothing. The policy's lines are for copying:
// there are none for a name that a policy cannot have.
void print_stream(const Context& context, const Stream& stream) {
  const std::string group = group_label(stream.group);
  const std::string key = lower(stream.resource);
  const bool has_lines = !group_name_problem(group) && toml_key(key) == key;
  const std::string text = fmt::format(
      "{} {}: {} gains nothing from cache: it had {} to {}, and the same traffic.{}",
      stream.resource, to_string(stream.domain), group, observe::bytes_text(stream.least),
      observe::bytes_text(stream.most), has_lines ? " To keep it small:" : "");
  print("\n{}\n", wrapped(context, text, 0));
  if (has_lines) print("    [group.{}]\n    {} = \"1 way\"\n", toml_key(group), key);
}

}  // namespace

int verbs::blame(const Context& context, const BlameOptions& options) {
  if (is_mon_group(group_directory(options.group))) {
    note("rdtctl: '{}' is a monitoring group: only control groups have ways that others take\n",
         options.group);
    return Exit::usage;
  }
  const auto found = find_contention(context, options.source, options.group);
  if (!found) return found.error();
  if (!options.group.empty() && !found->has_group)
    return report_no_group(options.source, options.group);
  if (context.json != Json::off) {
    print_as_json(context, *found);
    return Exit::ok;
  }
  for (const FoundEpisode& one : found->episodes) print_episode(context, one.episode, one.running);
  const std::string of = options.group.empty() ? "" : " of group " + options.group;
  if (found->episodes.empty())
    print("{}\n", found->judged.text("No contention" + of,
                                     fmt::format("Contention{} cannot be seen", of), found->read));
  for (const Stream& stream : found->streams) print_stream(context, stream);
  return Exit::ok;
}

}  // namespace rdtd
