#include "rdtd/daemon/drift_pace.hpp"

#include <algorithm>
#include <utility>

namespace rdtd {

std::vector<std::string> DriftPace::found(const std::set<std::string>& groups, Time now) {
  std::erase_if(groups_,
                [&](const auto& entry) { return now - entry.second.changes.back() > calm; });
  std::vector<std::string> out;
  for (const std::string& name : groups) {
    Group& group = groups_[name];
    group.changes.push_back(now);
    while (now - group.changes.front() > window) group.changes.pop_front();
    const bool again = group.delay > first_delay;
    if (!again && group.changes.size() <= max_changes) continue;
    group.delay = std::min(2 * group.delay, longest_delay);
    if (again) continue;
    group.since = now;
    out.push_back(name);
  }
  return out;
}

void DriftPace::tried(std::set<std::string> refused, bool load_failed) {
  refused_ = std::move(refused);
  load_failed_ = load_failed;
  const bool failed = load_failed_ || !refused_.empty();
  retry_delay_ = failed ? std::min(2 * retry_delay_, longest_delay) : first_delay;
}

bool DriftPace::too_often(const std::string& group) const { return delay_of(group) > first_delay; }

std::set<std::string> DriftPace::unsettled(Time now) const {
  std::set<std::string> out;
  for (const auto& [name, group] : groups_)
    if (group.delay > first_delay && now - group.since > tolerated &&
        now - group.changes.back() <= lately)
      out.insert(name);
  return out;
}

std::chrono::milliseconds DriftPace::delay(const std::string& group) const {
  const bool waits = load_failed_ || refused_.contains(group);
  return waits ? std::max(delay_of(group), retry_delay_) : delay_of(group);
}

std::chrono::milliseconds DriftPace::delay_of(const std::string& group) const {
  const auto found = groups_.find(group);
  return found == groups_.end() ? first_delay : found->second.delay;
}

}  // namespace rdtd
