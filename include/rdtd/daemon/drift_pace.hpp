// DriftPace: how soon a change by another tool is looked at. At once, unless a tool changes the
// same group again and again: then at growing intervals, so that rdtd does not fight with it.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace rdtd {

class DriftPace {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Changes that come together are looked at together.
  static constexpr std::chrono::milliseconds first_delay{100};
  static constexpr std::chrono::milliseconds longest_delay{30'000};
  // More changes than this to one group in this time are too many.
  static constexpr size_t max_changes = 5;
  static constexpr std::chrono::seconds window{10};
  // A group that others leave alone for this long is like any other again.
  static constexpr std::chrono::seconds calm{90};
  // A change that is looked at after the longest delay comes within this time of the one before.
  static constexpr std::chrono::seconds lately{40};
  static constexpr std::chrono::minutes tolerated{2};

  // A look has found these groups changed by others, by directory. Returns those that have been
  // changed too often, once for each.
  [[nodiscard]] std::vector<std::string> found(const std::set<std::string>& groups, Time now);
  // Whether the changes of the group are not worth a line in the log each.
  [[nodiscard]] bool too_often(const std::string& group) const;
  // Those that have been changed too often for longer than `tolerated`, the last time within
  // `lately`.
  [[nodiscard]] std::set<std::string> unsettled(Time now) const;
  // A look could not restore something of these groups, or not put all of the policy in force
  // (`load_failed`). What the kernel refuses is undone, which looks like another change: until it
  // succeeds, the next look at these, or at any group, waits longer each time.
  void tried(std::set<std::string> refused, bool load_failed);
  // From a change of the group to the look.
  [[nodiscard]] std::chrono::milliseconds delay(const std::string& group) const;

 private:
  struct Group {
    std::deque<Time> changes;  // in the window
    std::chrono::milliseconds delay = first_delay;
    Time since{};  // when the delay grew first
  };
  [[nodiscard]] std::chrono::milliseconds delay_of(const std::string& group) const;

  std::map<std::string, Group> groups_;
  std::set<std::string> refused_;
  bool load_failed_ = false;
  std::chrono::milliseconds retry_delay_ = first_delay;
};

}  // namespace rdtd
