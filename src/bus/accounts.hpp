// Accounts: charges each user for the time of the loop thread that the user's calls take. Root is
// not charged.
#pragma once

#include <systemd/sd-event.h>

#include <cstdint>
#include <optional>

#include "limits.hpp"
#include "rdtd/bus/reads.hpp"

namespace rdtd {

// CLOCK_MONOTONIC, microseconds.
[[nodiscard]] uint64_t monotonic_now();
// CLOCK_THREAD_CPUTIME_ID, microseconds.
[[nodiscard]] uint64_t thread_time();

inline constexpr const char* no_time_left =
    "this user's requests take too much time; try again in some seconds";

class Accounts {
 public:
  Accounts() = default;
  Accounts(const Accounts&) = delete;
  Accounts& operator=(const Accounts&) = delete;
  ~Accounts() { sd_event_source_disable_unref(turn_ended_); }

  [[nodiscard]] int attach(sd_event* event);
  // Whether the user has anything left.
  [[nodiscard]] bool allows(uid_t uid) const;
  // Charges this user for the work of the loop thread from here to the end of this turn of the
  // loop.
  void begin(uid_t uid);
  // For work that others have with a call.
  void charge(uid_t uid, uint64_t usec);

 private:
  struct Work {
    uid_t uid;
    uint64_t begin;  // thread_time()
  };
  void settle();
  static int on_turn_ended(sd_event_source*, void* self);

  CallBudget budget_;
  std::optional<Work> work_;
  sd_event_source* turn_ended_ = nullptr;
};

}  // namespace rdtd
