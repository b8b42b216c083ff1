#include "limits.hpp"

#include <algorithm>
#include <array>

#include "names.hpp"

namespace rdtd {

namespace {

constexpr std::array effective = {std::string_view("Reload"),      std::string_view("Reset"),
                                  std::string_view("Assign"),      std::string_view("Subscribe"),
                                  std::string_view("Unsubscribe"), std::string_view("Set"),
                                  std::string_view("Adopt"),       std::string_view("Lease"),
                                  std::string_view("UpdateLease")};

// The longest and deepest path is that of a group: in its name, any byte may be escaped as three.
constexpr size_t max_path_length = std::string_view(group_path).size() + 1 + 3 * max_name_length;
constexpr auto max_path_depth = 4;

// After so many microseconds a budget of which nothing is left is whole again.
constexpr uint64_t usec_per_second = 1'000'000;
constexpr uint64_t refill_time = CallBudget::burst * usec_per_second / CallBudget::per_second;

}  // namespace

bool has_effect(std::string_view member) {
  return std::ranges::find(effective, member) != effective.end();
}

bool is_possible_path(std::string_view path) {
  return path.size() <= max_path_length && std::ranges::count(path, '/') <= max_path_depth;
}

bool CallBudget::allows(uid_t uid, uint64_t now) const {
  const auto user = full_at_.find(uid);
  return user == full_at_.end() || user->second < now + refill_time;
}

// However long a call took, the user waits for `refill_time` at most.
void CallBudget::charge(uid_t uid, uint64_t took, uint64_t now) {
  forget_idle_users(now);
  uint64_t& full_at = full_at_[uid];
  const uint64_t cost = std::min(std::max(took, least), 2 * burst);
  full_at =
      std::min(std::max(full_at, now) + cost * usec_per_second / per_second, now + 2 * refill_time);
}

// Users whose budget is whole again need no entry. The next search waits until the number of users
// has doubled, so that many users do not make each call slower.
void CallBudget::forget_idle_users(uint64_t now) {
  if (full_at_.size() < forget_at_) return;
  std::erase_if(full_at_, [&](const auto& user) { return user.second <= now; });
  forget_at_ = std::max<size_t>(256, 2 * full_at_.size());
}

}  // namespace rdtd
