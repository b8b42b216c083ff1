// Visits: looks at single processes that may belong elsewhere now: they were renamed, changed their
// user or cgroup, or were moved a moment ago and may have had a thread or child in the making.
//
// No process can take more than its share: each is looked at at most once per min_interval however
// many events it causes, less often the longer a look takes, and visits take turns. Nor can a user:
// the processes of one who has taken too much time wait until the time has come back (UserShares).
#pragma once

#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "rdtd/daemon/looks.hpp"
#include "rdtd/daemon/second_looks.hpp"
#include "rdtd/proc/user_shares.hpp"

namespace rdtd {

class Visits {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds min_interval{20};
  // The kernel may hold a clone(2) that has copied its parent's group and is not in /proc yet.
  static constexpr std::chrono::milliseconds second_look_delay = SecondLooks::delay;
  // Until the next look at a process whose command line or status cannot be read now.
  static constexpr std::chrono::seconds held_up_delay{1};
  // If more wait, the next look comes later: so many looks in that time, whatever users do.
  static constexpr size_t held_up_per_delay = 128;

  explicit Visits(Looks& looks) : looks_(looks) {}

  struct One {
    pid_t pid = 0;
    pid_t only_thread = 0;  // 0: all threads
    // Its children too: those that it forked before it was moved inherited the old group.
    bool children = false;
  };
  void add(One one, std::chrono::milliseconds delay = {});
  // The process of this thread.
  void add_thread(pid_t tid);
  // Each of these processes, and its children, that has not remained alone. Another thread put them
  // in their groups a moment ago.
  void look_for_more(std::span<const pid_t> pids);

  // Visits under way are begun again, with another table.
  void begin_again();
  // Each works until the deadline.
  void find_more(Time deadline);
  void work(Time deadline);
  // When there is something to do; Time::max() if nothing waits.
  [[nodiscard]] Time next_due() const;

 private:
  using Key = std::pair<pid_t, pid_t>;  // process, single thread or 0
  struct Waiting {
    Time due;
    bool children = false;
    std::optional<uid_t> user = {};                 // of one that was put off
    std::multimap<Time, Key>::iterator place = {};  // in due_
  };
  struct Running {
    Key key;
    bool with_children = false;
    std::unique_ptr<Visit> visit;    // null once the process itself is finished, and all are listed
    bool finished = false;           // the visit
    std::deque<pid_t> threads = {};  // whose children are not listed yet
    std::vector<pid_t> children;
    size_t next_child = 0;
    std::unique_ptr<Visit> child;
    std::chrono::nanoseconds cost{};
    std::optional<uid_t> user;  // that the cost is charged to
  };
  void schedule(Key key, Waiting waiting);
  [[nodiscard]] bool many_threads_wait(pid_t pid) const;
  [[nodiscard]] bool put_off(Key key, Waiting waiting);
  void begin(Key key);
  void take_turn(std::list<Running>::iterator running);
  [[nodiscard]] bool turn(Running& running);
  [[nodiscard]] bool turn_of_children(Running& running);
  void list_threads(Running& running);
  void list_children(Running& running);
  void finish(const Visit& visit, bool second_look);
  void end(const Running& running, Time now);

  Looks& looks_;
  std::deque<pid_t> second_looks_;  // at processes that may be alone
  std::multimap<Time, Key> due_;
  std::map<Key, Waiting> waiting_;  // the same by key
  std::map<Key, Waiting> again_;    // to be scheduled when the visit before it is over
  std::map<Key, Time> not_before_;  // of visits that ended a moment ago
  std::list<Running> running_;
  std::set<Key> under_way_;  // those of running_
  std::set<Key> held_up_;    // those that wait because they could not be examined
  UserShares shares_;
};

}  // namespace rdtd
