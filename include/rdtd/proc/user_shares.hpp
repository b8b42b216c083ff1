// UserShares: how much of a thread's time the processes of each user have taken lately. A user who
// has taken too much has to wait, so that the processes of others do not: one process can cost as
// much as hundreds of others, for example in a cgroup with a very long path. For one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>

namespace rdtd {

class UserShares {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // The time that a user can take at once; it comes back as a quarter of the time that passes.
  static constexpr std::chrono::milliseconds allowance{10};
  static constexpr int part = 4;
  // The most that a user can owe: nobody waits for more than a second.
  static constexpr std::chrono::milliseconds most_owed{1000 / part};
  // Users that are kept in mind; more are treated as new ones.
  static constexpr size_t max_users = 1024;

  void charge(uid_t user, std::chrono::nanoseconds cost, Time now);
  [[nodiscard]] bool exhausted(uid_t user, Time now) const;
  // When exhausted() is false again; `now` if it is.
  [[nodiscard]] Time affordable_at(uid_t user, Time now) const;
  [[nodiscard]] bool anybody_exhausted(Time now) const { return now < last_exhausted_; }
  // How many users have not yet been given back all that they have taken.
  [[nodiscard]] size_t debtors(Time now) const;
  // The processes of a user who has been charged are not to be looked at before then, whether
  // others wait or not: one look takes so long that others would wait for its end.
  void rest(uid_t user, Time until);
  // In the past if the user need not rest.
  [[nodiscard]] Time resting_until(uid_t user) const;
  [[nodiscard]] bool anybody_rests(Time now) const { return now < last_rest_; }

 private:
  struct Share {
    std::chrono::nanoseconds taken{};  // when it was charged last
    Time charged{};
    Time rest{};
  };
  [[nodiscard]] static std::chrono::nanoseconds taken(const Share& share, Time now);
  std::map<uid_t, Share> shares_;
  Time last_rest_{}, last_exhausted_{};
};

}  // namespace rdtd
