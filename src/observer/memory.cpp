#include "rdtd/observer/memory.hpp"

#include <algorithm>

#include "rdtd/model/snapshot.hpp"

namespace rdtd {

namespace {

constexpr size_t most_episodes = 1000, most_pairs = 1000;
constexpr uint64_t log_usec = 60'000'000;

std::vector<std::string> labels(const std::vector<observe::Part>& parts) {
  std::vector<std::string> out;
  for (const observe::Part& part : parts) out.push_back(group_label(part.group));
  return out;
}

}  // namespace

EpisodeRow row_of(const observe::Episode& episode, bool running) {
  return {std::string(to_string(episode.kind)),
          episode.resource,
          static_cast<uint32_t>(episode.domain),
          episode.begin_usec,
          episode.end_usec,
          running,
          labels(episode.takers),
          labels(episode.sufferers),
          sentence(episode)};
}

// For one more.
void Memory::make_room(Counts& counts) {
  if (counts.size() < most_pairs) return;
  counts.erase(std::ranges::min_element(counts, {},
                                        [](const auto& of_pair) { return of_pair.second.last; }));
}

void Memory::count(const EpisodeRow& row, uint64_t number, Counts& counts) {
  for (const std::string& taker : row.takers)
    for (const std::string& sufferer : row.sufferers) {
      const Pair pair{row.resource, row.domain, row.kind, taker, sufferer};
      if (!counts.contains(pair)) make_room(counts);
      const auto [entry, is_new] = counts.try_emplace(
          pair, Counted{.count = {row.resource, row.domain, row.kind, taker, sufferer}});
      entry->second.last = number;
      entry->second.count.episodes++;
      entry->second.count.seconds +=
          static_cast<double>(row.end_usec - std::min(row.end_usec, row.begin_usec)) / 1e6;
    }
}

void Memory::add(const observe::Episode& episode) {
  episodes_.push_back(row_of(episode, false));
  if (episodes_.size() > most_episodes) episodes_.pop_front();
  count(episodes_.back(), ++number_, counts_);
}

std::vector<EpisodeRow> Memory::since(uint64_t usec) const {
  std::vector<EpisodeRow> out;
  for (const EpisodeRow& row : episodes_)
    if (row.end_usec >= usec) out.push_back(row);
  return out;
}

std::vector<ContentionCount> Memory::counts(const std::vector<observe::Episode>& running) const {
  Counts all = counts_;
  for (const observe::Episode& episode : running) count(row_of(episode, true), number_ + 1, all);
  std::vector<ContentionCount> out;
  for (const auto& [pair, of_pair] : all) out.push_back(of_pair.count);
  return out;
}

bool Memory::may_log(const observe::Episode& episode) {
  if (episode.takers.empty()) return false;
  // One that was logged in the future was so before the clock was set back.
  std::erase_if(logged_usec_, [&](const auto& last) {
    return last.second > episode.end_usec || episode.end_usec - last.second >= log_usec;
  });
  const Pair pair{episode.resource, static_cast<uint32_t>(episode.domain),
                  std::string(to_string(episode.kind)), episode.takers.front().group,
                  episode.sufferers.front().group};
  return logged_usec_.size() < most_pairs && logged_usec_.emplace(pair, episode.end_usec).second;
}

}  // namespace rdtd
