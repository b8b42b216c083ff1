// Quota: how many things of a kind each user has: at most so many for one user, and for all.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>

namespace rdtd {

// The ids below are those of the system: login.defs(5).
[[nodiscard]] constexpr bool is_ordinary_user(uid_t user) { return user >= 1000; }

class Quota {
 public:
  struct Limits {
    size_t of_user = 0;
    size_t of_all = 0;
    bool root_too = true;  // false: root is limited by of_all only
  };
  explicit Quota(Limits limits) : limits_(limits) {}

  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] bool all_full() const { return all_ >= limits_.of_all; }
  // Whether one more for this user would be too many, for this user or for all.
  [[nodiscard]] bool full(uid_t user) const {
    const auto of_user = of_user_.find(user);
    return all_full() || ((limits_.root_too || user != 0) && of_user != of_user_.end() &&
                          of_user->second >= limits_.of_user);
  }
  void take(uid_t user) {
    all_++;
    of_user_[user]++;
  }
  // False if it would be too many.
  [[nodiscard]] bool try_take(uid_t user) {
    if (full(user)) return false;
    take(user);
    return true;
  }
  void give_back(uid_t user) {
    const auto of_user = of_user_.find(user);
    if (of_user == of_user_.end()) return;
    all_--;
    if (--of_user->second == 0) of_user_.erase(of_user);
  }

 private:
  Limits limits_;
  size_t all_ = 0;
  std::map<uid_t, size_t> of_user_;  // of those who have any
};

}  // namespace rdtd
