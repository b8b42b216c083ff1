#include "limits.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rdtd {

namespace {

struct MethodCost {
  std::string_view member;
  unsigned cost;
};

constexpr std::array costs = {
    MethodCost{"Check", 10},       MethodCost{"Plan", 10},
    MethodCost{"Reload", 10},      MethodCost{"Reset", 10},
    MethodCost{"Assign", 5},       MethodCost{"Explain", 5},
    MethodCost{"ListGroups", 10},  MethodCost{"GetManagedObjects", 10},
    MethodCost{"GetCounters", 10}, MethodCost{"GetAll", 2},
    MethodCost{"ListRules", 10},   MethodCost{"Adopt", 10},
    MethodCost{"ListLocks", 10},   MethodCost{"Lease", 10},
    MethodCost{"ListLeases", 10},
};

constexpr std::array effective = {std::string_view("Reload"),      std::string_view("Reset"),
                                  std::string_view("Assign"),      std::string_view("Subscribe"),
                                  std::string_view("Unsubscribe"), std::string_view("Set"),
                                  std::string_view("Adopt"),       std::string_view("Lease")};

constexpr uint64_t usec_per_unit = 1'000'000 / CallBudget::per_second;

}  // namespace

unsigned cost_of(std::string_view member) {
  const auto found = std::ranges::find(costs, member, &MethodCost::member);
  return found == costs.end() ? 1 : found->cost;
}

bool has_effect(std::string_view member) {
  return std::ranges::find(effective, member) != effective.end();
}

bool CallBudget::spend(uid_t uid, unsigned cost, uint64_t now) {
  forget_idle_users(now);
  uint64_t& full_at = full_at_[uid];
  const uint64_t after = std::max(full_at, now) + cost * usec_per_unit;
  if (after - now > burst * usec_per_unit) return false;
  full_at = after;
  return true;
}

// Users whose budget is whole again need no entry. The next search waits until the number of users
// has doubled, so that many users do not make each call slower.
void CallBudget::forget_idle_users(uint64_t now) {
  if (full_at_.size() < forget_at_) return;
  std::erase_if(full_at_, [&](const auto& user) { return user.second <= now; });
  forget_at_ = std::max<size_t>(256, 2 * full_at_.size());
}

}  // namespace rdtd
