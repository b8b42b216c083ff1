#include "rdtd/observe/episode.hpp"

#include <fmt/format.h>

#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd::observe {

namespace {

std::string labels(const std::vector<Part>& parts) {
  std::vector<std::string> names;
  for (const Part& part : parts) names.push_back(printable(group_label(part.group)));
  return join(names, ", ");
}

std::string place(const Episode& episode) {
  return fmt::format("{} {}", printable(episode.resource), to_string(episode.domain));
}

// Of all of them together.
double sum(const std::vector<Part>& parts, double Part::* figure) {
  double out = 0;
  for (const Part& part : parts) out += part.*figure;
  return out;
}

// How the traffic of the group changed: "x 5.3", or both figures where it was nearly nothing.
std::string change_text(const Part& part) {
  constexpr double least = 1 << 20;
  if (part.traffic_before < least)
    return fmt::format("from {} to {}", rate_text(part.traffic_before),
                       rate_text(part.traffic_during));
  return fmt::format("x {:.1f}", part.traffic_during / part.traffic_before);
}

std::string cache_sentence(const Episode& episode) {
  double lost = 0;
  for (const Part& part : episode.sufferers) lost += part.occupancy_before - part.occupancy_during;
  return fmt::format(
      "{}: {} took {} from {} within {:.0f} s, {} traffic went from {} to {}; "
      "traffic of {} {}",
      place(episode), labels(episode.takers), bytes_text(lost), labels(episode.sufferers),
      episode.seconds_to_show, episode.takers.size() > 1 ? "their" : "its",
      rate_text(sum(episode.takers, &Part::traffic_before)),
      rate_text(sum(episode.takers, &Part::traffic_during)),
      printable(group_label(episode.sufferers.front().group)),
      change_text(episode.sufferers.front()));
}

std::string bandwidth_sentence(const Episode& episode) {
  const Part& sufferer = episode.sufferers.front();
  const std::string share =
      episode.ceiling > 0
          ? fmt::format(", {:.0f}% of the {}", 100 * episode.traffic / episode.ceiling,
                        episode.measured ? "measured ceiling" : "most seen")
          : "";
  return fmt::format("{}: {} of traffic{}; {} {} {} of it, and {} went from {} to {}",
                     place(episode), rate_text(episode.traffic), share, labels(episode.takers),
                     episode.takers.size() > 1 ? "have" : "has",
                     rate_text(sum(episode.takers, &Part::traffic_during)),
                     labels(episode.sufferers), rate_text(sufferer.traffic_before),
                     rate_text(sufferer.traffic_during));
}

}  // namespace

std::string_view to_string(Contention kind) {
  switch (kind) {
    case Contention::cache: return "cache";
    case Contention::bandwidth: return "bandwidth";
    case Contention::none: return "none";
  }
  return "none";
}

std::string bytes_text(double bytes) {
  constexpr double mib = 1 << 20;
  if (bytes < mib) return fmt::format("{:.0f} KiB", bytes / 1024);
  return fmt::format("{:.1f} MiB", bytes / mib);
}

std::string rate_text(double bytes_per_second) {
  constexpr double mib = 1 << 20, gib = 1 << 30;
  if (bytes_per_second < gib) return fmt::format("{:.1f} MiB/s", bytes_per_second / mib);
  return fmt::format("{:.1f} GiB/s", bytes_per_second / gib);
}

std::string sentence(const Episode& episode) {
  switch (episode.kind) {
    case Contention::cache: return cache_sentence(episode);
    case Contention::bandwidth: return bandwidth_sentence(episode);
    case Contention::none: break;
  }
  const Part& part = episode.sufferers.front();
  return fmt::format("{}: {} lost {}, but nobody else may fill its ways: it used less",
                     place(episode), printable(group_label(part.group)),
                     bytes_text(part.occupancy_before - part.occupancy_during));
}

}  // namespace rdtd::observe
