#include "accounts.hpp"

#include "rdtd/base/clock.hpp"

namespace rdtd {

uint64_t monotonic_now() { return clock_usec(CLOCK_MONOTONIC); }

uint64_t thread_time() { return clock_usec(CLOCK_THREAD_CPUTIME_ID); }

// sd-bus handles one message in a turn, and nothing comes before this source in the next one.
int Accounts::attach(sd_event* event) {
  int r = sd_event_add_defer(event, &turn_ended_, on_turn_ended, this);
  if (r >= 0) r = sd_event_source_set_priority(turn_ended_, SD_EVENT_PRIORITY_IMPORTANT);
  return r < 0 ? r : sd_event_source_set_enabled(turn_ended_, SD_EVENT_OFF);
}

bool Accounts::allows(uid_t uid) const { return uid == 0 || budget_.allows(uid, monotonic_now()); }

void Accounts::begin(uid_t uid) {
  settle();
  if (uid == 0) return;
  work_ = Work{uid, thread_time()};
  (void)sd_event_source_set_enabled(turn_ended_, SD_EVENT_ONESHOT);
}

void Accounts::charge(uid_t uid, uint64_t usec) {
  if (uid != 0) budget_.charge(uid, usec, monotonic_now());
}

void Accounts::settle() {
  if (work_) charge(work_->uid, thread_time() - work_->begin);
  work_.reset();
}

int Accounts::on_turn_ended(sd_event_source*, void* self) {
  static_cast<Accounts*>(self)->settle();
  return 0;
}

}  // namespace rdtd
