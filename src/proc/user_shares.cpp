#include "rdtd/proc/user_shares.hpp"

#include <algorithm>

namespace rdtd {

std::chrono::nanoseconds UserShares::taken(const Share& share, Time now) {
  return std::max<std::chrono::nanoseconds>(share.taken - (now - share.charged) / part, {});
}

void UserShares::charge(uid_t user, std::chrono::nanoseconds cost, Time now) {
  if (shares_.size() >= max_users && !shares_.contains(user)) {
    std::erase_if(shares_,
                  [&](const auto& entry) { return taken(entry.second, now).count() == 0; });
    if (shares_.size() >= max_users) shares_.clear();
  }
  Share& share = shares_[user];
  share = {taken(share, now) + cost, now};
}

bool UserShares::exhausted(uid_t user, Time now) const {
  const auto found = shares_.find(user);
  return found != shares_.end() && taken(found->second, now) > allowance;
}

}  // namespace rdtd
