// Limits of the requests of each user to the daemon. Pure: the caller passes the time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace rdtd {

// Whether a call of this method has an effect beyond its reply. A call without effect whose sender
// does not expect a reply needs no work at all.
[[nodiscard]] bool has_effect(std::string_view member);

// Of the groups that a call names: calls that wait for polkit must not fill the memory.
inline constexpr size_t max_names = 256;
inline constexpr size_t max_name_length = 255;  // NAME_MAX: a group is a directory
// Likewise of the policy of a lease, in bytes.
inline constexpr size_t max_lease_size = size_t{8} * 1024;
// Of all values in a call, in bytes: as many names as may be, and what describes them.
inline constexpr size_t max_call_size = size_t{80} * 1024;

// Whether an object here can have this path. sd-bus looks up each prefix of a path, and hashes all
// of it each time.
[[nodiscard]] bool is_possible_path(std::string_view path);

// How much time of the loop thread each user may take. The times of calls are known afterwards
// only, so that a user may exceed the budget with one call, and then waits for longer.
class CallBudget {
 public:
  static constexpr uint64_t burst = 500'000;       // microseconds
  static constexpr uint64_t per_second = 100'000;  // microseconds
  // The least cost of a call: the bus and sd-bus have work with it, too.
  static constexpr uint64_t least = 1'000;  // microseconds

  // `now` is in microseconds and never decreases.
  [[nodiscard]] bool allows(uid_t uid, uint64_t now) const;
  void charge(uid_t uid, uint64_t took, uint64_t now);
  [[nodiscard]] size_t users() const { return full_at_.size(); }

 private:
  void forget_idle_users(uint64_t now);

  std::map<uid_t, uint64_t> full_at_;  // when the budget is whole again, microseconds
  size_t forget_at_ = 256;             // users
};

}  // namespace rdtd
