#include "rdtd/daemon/refused_parts.hpp"

#include <algorithm>
#include <utility>

namespace rdtd {

bool RefusedParts::add(const std::string& directory, std::string why, bool existed, Time now,
                       bool once_more) {
  const bool is_root = directory == root_group;
  const auto [entry, is_first] = parts_.try_emplace(directory);
  if (is_first && once_more) return true;
  Part& part = entry->second;
  if (!part.pause.is_over(now)) return !is_root && !std::exchange(part.stays, true);
  part.why = std::move(why);
  part.pause.begin(now);
  part.stays = existed && !is_root;
  return true;
}

bool RefusedParts::contains(const std::string& directory) const {
  const auto found = parts_.find(directory);
  return found != parts_.end() && found->second.pause.has_begun();
}

void RefusedParts::leave_out(Snapshot& snapshot, Time now) const {
  const auto next = std::ranges::min_element(parts_, {}, [](const auto& entry) {
    const GrowingPause& pause = entry.second.pause;
    return pause.has_begun() ? pause.end() : Time::max();
  });
  for (auto entry = parts_.begin(); entry != parts_.end(); ++entry) {
    const auto& [directory, part] = *entry;
    if (!part.pause.has_begun() || (entry == next && part.pause.is_over(now))) continue;
    snapshot.refused.emplace(directory, part.why);
    if (part.stays) snapshot.owned.erase(directory);
  }
}

// Their processes keep their limits, as when no daemon runs.
void RefusedParts::leave_alone(Snapshot& snapshot) const {
  for (const auto& [directory, part] : parts_)
    if (part.stays) snapshot.owned.erase(directory);
}

void RefusedParts::keep_only(const std::map<std::string, std::string>& left_out) {
  std::erase_if(parts_, [&](const auto& part) { return !left_out.contains(part.first); });
}

}  // namespace rdtd
