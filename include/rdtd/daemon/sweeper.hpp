// Sweeper: looks at processes for the loop thread, in slices of bounded time: at all of them, or at
// single ones.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <utility>

#include "rdtd/daemon/looks.hpp"
#include "rdtd/daemon/sweep.hpp"
#include "rdtd/daemon/visits.hpp"

namespace rdtd {

class Sweeper {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Sweeper(const System& system, ManualAssignments& manual, Looks::Moved moved)
      : looks_(system, manual, std::move(moved)), visits_(looks_), sweep_(looks_, visits_) {}

  // From now on, looks use this table. Those under way are begun again with it.
  void use(std::shared_ptr<const RuleTable> table);

  void sweep(Sweep::All all) { sweep_.add(std::move(all)); }
  void visit(Visits::One one, std::chrono::milliseconds delay = {}) { visits_.add(one, delay); }
  void visit_thread(pid_t tid) { visits_.add_thread(tid); }
  void look_for_more(std::span<const pid_t> pids) { visits_.look_for_more(pids); }

  // Whether visits were dropped, or could not be carried out, since the last call: all processes
  // must be looked at.
  [[nodiscard]] bool take_overflow() { return std::exchange(looks_.overflowed, false); }
  // The monitoring groups that templates wanted since the last call.
  [[nodiscard]] std::set<std::string> take_monitored() {
    return std::exchange(looks_.monitored, {});
  }
  [[nodiscard]] bool wants_monitoring() const { return !looks_.monitored.empty(); }
  // Whether a look at all processes is under way.
  [[nodiscard]] bool sweeps() const { return sweep_.next_due() != Time::max(); }
  // Works until the deadline.
  void slice(Time deadline);
  // When slice has something to do; Time::max() if nothing waits.
  [[nodiscard]] Time next_due() const;
  // A group of the table was removed since the table was made.
  [[nodiscard]] bool table_out_of_date() const { return looks_.out_of_date; }

 private:
  Looks looks_;
  Visits visits_;
  Sweep sweep_;
};

}  // namespace rdtd
