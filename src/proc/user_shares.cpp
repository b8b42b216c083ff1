#include "rdtd/proc/user_shares.hpp"

#include <algorithm>

namespace rdtd {

std::chrono::nanoseconds UserShares::taken(const Share& share, Time now) {
  return std::max<std::chrono::nanoseconds>(share.taken - (now - share.charged) / part, {});
}

void UserShares::charge(uid_t user, std::chrono::nanoseconds cost, Time now) {
  if (shares_.size() >= max_users && !shares_.contains(user)) {
    std::erase_if(shares_, [&](const auto& entry) {
      return taken(entry.second, now).count() == 0 && entry.second.rest <= now;
    });
    // One who rests is not forgotten for others.
    if (shares_.size() >= max_users)
      std::erase_if(shares_, [&](const auto& entry) { return entry.second.rest <= now; });
    if (shares_.size() >= max_users) return;
  }
  Share& share = shares_[user];
  share.taken = std::min<std::chrono::nanoseconds>(taken(share, now) + cost, allowance + most_owed);
  share.charged = now;
  last_exhausted_ = std::max(last_exhausted_, affordable_at(user, now));
}

void UserShares::rest(uid_t user, Time until) {
  if (const auto share = shares_.find(user); share != shares_.end()) share->second.rest = until;
  last_rest_ = std::max(last_rest_, until);
}

UserShares::Time UserShares::resting_until(uid_t user) const {
  const auto found = shares_.find(user);
  return found == shares_.end() ? Time{} : found->second.rest;
}

bool UserShares::exhausted(uid_t user, Time now) const {
  const auto found = shares_.find(user);
  return found != shares_.end() && taken(found->second, now) > allowance;
}

UserShares::Time UserShares::affordable_at(uid_t user, Time now) const {
  const auto found = shares_.find(user);
  if (found == shares_.end()) return now;
  const auto too_much = taken(found->second, now) - allowance;
  return now + std::max<std::chrono::nanoseconds>(part * too_much, {});
}

size_t UserShares::debtors(Time now) const {
  return static_cast<size_t>(std::ranges::count_if(
      shares_, [&](const auto& entry) { return taken(entry.second, now).count() > 0; }));
}

}  // namespace rdtd
