// CallBudget: how much work each user may request of the daemon. Pure: the caller passes the time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace rdtd {

// What a method costs, in units of about 0.1 ms of the daemon's time on a large machine.
[[nodiscard]] unsigned cost_of(std::string_view member);

// Whether a call of this method has an effect beyond its reply. A call without effect whose sender
// does not expect a reply needs no work at all.
[[nodiscard]] bool has_effect(std::string_view member);

// Of the groups that a call names: calls that wait for polkit must not fill the memory.
inline constexpr size_t max_names = 256;
inline constexpr size_t max_name_length = 255;  // NAME_MAX: a group is a directory
// Likewise of the policy of a lease, in bytes.
inline constexpr size_t max_lease_size = size_t{8} * 1024;

class CallBudget {
 public:
  static constexpr uint64_t burst = 500;       // units
  static constexpr uint64_t per_second = 100;  // units

  // Takes `cost` units from the budget of a user; false, and nothing taken, if too little is left.
  // `now` is in microseconds and never decreases.
  [[nodiscard]] bool spend(uid_t uid, unsigned cost, uint64_t now);
  [[nodiscard]] size_t users() const { return full_at_.size(); }

 private:
  void forget_idle_users(uint64_t now);

  std::map<uid_t, uint64_t> full_at_;  // when the budget is whole again, microseconds
  size_t forget_at_ = 256;             // users
};

}  // namespace rdtd
