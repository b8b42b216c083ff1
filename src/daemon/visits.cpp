#include "rdtd/daemon/visits.hpp"

#include <algorithm>

#include "rdtd/base/cooldown.hpp"

namespace rdtd {

namespace {

// Children of one process that are visited in a turn of it.
constexpr size_t children_per_turn = 8;
// Between two looks at a process.
constexpr Cooldown pause_after_look{20, Visits::min_interval};
// Before a process is looked at again that the kernel refused to move: it may have lacked memory.
constexpr std::chrono::seconds refused_delay{1};
// Threads of one process that wait for visits of their own.
constexpr size_t max_single_threads = 16;
// More visits than this are replaced by one look at all processes.
constexpr size_t max_waiting = 65536;
// Pauses that are kept in mind before those that are over are forgotten.
constexpr size_t max_pauses = 1024;

}  // namespace

void Visits::schedule(Key key, Waiting waiting) {
  if (const auto found = not_before_.find(key); found != not_before_.end())
    waiting.due = std::max(waiting.due, found->second);
  const auto after_this_one = [&] {
    Waiting& again = again_[key];
    again = {std::max(again.due, waiting.due), again.children || waiting.children};
  };
  if (under_way_.contains(key)) return after_this_one();
  const auto [place, is_new] = waiting_.emplace(key, waiting);
  if (is_new) {
    place->second.place = due_.emplace(waiting.due, key);
  } else if (waiting.due < place->second.due) {
    // Something new: the look that waits comes after this one.
    due_.erase(place->second.place);
    waiting.place = due_.emplace(waiting.due, key);
    std::swap(place->second, waiting);
    after_this_one();
  } else if (place->second.due < waiting.due) {
    after_this_one();
  } else {
    place->second.children = place->second.children || waiting.children;
  }
}

// Whether so many threads of a process wait that one visit to all of them costs less.
bool Visits::many_threads_wait(pid_t pid) const {
  auto next = waiting_.lower_bound({pid, 1});
  for (size_t count = 0; next != waiting_.end() && next->first.first == pid; ++next)
    if (++count >= max_single_threads) return true;
  return false;
}

void Visits::add(One one, std::chrono::milliseconds delay) {
  if (waiting_.size() >= max_waiting) {
    looks_.overflowed = true;
    return;
  }
  if (one.only_thread != 0 && many_threads_wait(one.pid)) one.only_thread = 0;
  schedule({one.pid, one.only_thread}, {looks_.system.now() + delay, one.children});
}

void Visits::add_thread(pid_t tid) {
  const auto process = looks_.system.processes.process_of(tid);
  if (process) add({.pid = *process});
  if (!process && !proc::ended(process.error())) looks_.overflowed = true;
}

void Visits::look_for_more(std::span<const pid_t> pids) {
  if (second_looks_.size() >= max_waiting) {
    looks_.overflowed = true;
    return;
  }
  second_looks_.insert(second_looks_.end(), pids.begin(), pids.end());
}

void Visits::begin_again() {
  for (Running& running : running_) {
    running.child.reset();
    running.visit.reset();
    under_way_.erase(running.key);
    schedule(running.key, {looks_.system.now(), running.with_children});
  }
  running_.clear();
}

Visits::Time Visits::next_due() const {
  if (!running_.empty() || !second_looks_.empty()) return Time::min();
  return due_.empty() ? Time::max() : due_.begin()->first;
}

void Visits::find_more(Time deadline) {
  while (!second_looks_.empty() && looks_.system.now() < deadline) {
    const pid_t pid = second_looks_.front();
    second_looks_.pop_front();
    if (!looks_.table->counted_by_value.empty() || !looks_.system.processes.is_alone(pid))
      add({.pid = pid, .children = true});
  }
}

void Visits::finish(const Visit& visit, bool second_look) {
  const Assignment& result = visit.result();
  looks_.note(visit);
  if (result.kind == Assignment::Kind::no_group) looks_.out_of_date = true;
  if (result.kind == Assignment::Kind::held_up) {
    add({.pid = visit.pid()}, held_up_delay * (1 + held_up_.size() / held_up_per_delay));
    if (!looks_.overflowed) held_up_.insert({visit.pid(), 0});
  }
  if (result.kind == Assignment::Kind::unknown) looks_.overflowed = true;
  if (result.kind == Assignment::Kind::refused && !second_look)
    schedule({visit.pid(), 0}, {looks_.system.now() + refused_delay, true});
  // If the kernel does not say where threads are, each look moves them, and there is no third one.
  // One for a manual assignment is a second look itself.
  const bool is_last = second_look || result.manual;
  if (result.moved == 0 || (is_last && result.moved == result.unseen)) return;
  looks_.report(visit.pid(), result);
  schedule({visit.pid(), 0}, {looks_.system.now() + second_look_delay, true});
}

// Each child has its own visit. True once all are done.
bool Visits::turn_of_children(Running& running) {
  for (size_t child = 0; child < children_per_turn; child++) {
    if (!running.child) {
      if (running.next_child == running.children.size()) return true;
      running.child = std::make_unique<Visit>(
          looks_.placement(), running.children[running.next_child++], Visit::Options{});
    }
    if (!running.child->step(Looks::threads_per_turn)) return false;
    finish(*running.child, false);
    running.child.reset();
  }
  return false;
}

// True once the visit is over.
bool Visits::turn(Running& running) {
  if (!running.visit) return turn_of_children(running);
  if (!running.finished) {
    if (!running.visit->step(Looks::threads_per_turn)) return false;
    running.finished = true;
    finish(*running.visit, running.with_children);
    running.user = running.visit->user();
    if (running.with_children) list_threads(running);
    if (running.threads.size() > Looks::threads_per_turn) return false;
  }
  list_children(running);
  if (!running.threads.empty()) return false;
  running.visit.reset();
  return running.children.empty();
}

void Visits::list_threads(Running& running) {
  const auto threads = running.visit->threads();
  if (threads) running.threads.assign(threads->begin(), threads->end());
  if (!threads && !proc::ended(threads.error())) looks_.overflowed = true;
}

// Those of some threads, for there is a file for each.
void Visits::list_children(Running& running) {
  if (running.threads.empty()) return;
  const size_t count = std::min(running.threads.size(), Looks::threads_per_turn);
  const auto end = running.threads.begin() + static_cast<std::ptrdiff_t>(count);
  const std::vector<pid_t> threads(running.threads.begin(), end);
  running.threads.erase(running.threads.begin(), end);
  const auto children = running.visit->children(threads);
  if (children) running.children.insert(running.children.end(), children->begin(), children->end());
  if (children) return;
  if (!proc::ended(children.error())) looks_.overflowed = true;
  running.threads.clear();
}

void Visits::end(const Running& running, Time now) {
  under_way_.erase(running.key);
  const Time rested = now + pause_after_look.after(running.cost);
  not_before_[running.key] = rested;
  // Root is not kept waiting.
  if (running.user.value_or(0) != 0) shares_.charge(*running.user, running.cost, now);
  const auto again = again_.find(running.key);
  if (again == again_.end()) return;
  const Waiting waiting = again->second;
  again_.erase(again);
  schedule(running.key, waiting);
}

void Visits::take_turn(std::list<Running>::iterator running) {
  const Time begin = looks_.system.now();
  const bool over = turn(*running);
  const Time now = looks_.system.now();
  running->cost += now - begin;
  if (!over) return;
  end(*running, now);
  running_.erase(running);
}

// True if its user has taken too much time: then it waits. Whose it is is asked once, since very
// many of one user may be due at once.
bool Visits::put_off(Key key, Waiting waiting) {
  const Time now = looks_.system.now();
  if (!shares_.anybody_exhausted(now)) return false;
  if (!waiting.user) {
    const auto process = looks_.system.processes.open(key.first);
    waiting.user = process ? responsible_user(**process) : std::nullopt;
  }
  if (waiting.user.value_or(0) == 0 || !shares_.exhausted(*waiting.user, now)) return false;
  waiting.due = shares_.affordable_at(*waiting.user, now);
  schedule(key, waiting);
  return true;
}

void Visits::begin(Key key) {
  held_up_.erase(key);
  const Waiting waiting = waiting_.extract(key).mapped();
  if (put_off(key, waiting)) return;
  under_way_.insert(key);
  running_.push_back({.key = key, .with_children = waiting.children});
  running_.back().visit = std::make_unique<Visit>(
      looks_.placement(), key.first, Visit::Options{.only_thread = key.second, .manual_too = true});
  take_turn(std::prev(running_.end()));
}

void Visits::work(Time deadline) {
  Time now = looks_.system.now();
  if (not_before_.size() > max_pauses)
    std::erase_if(not_before_, [&](const auto& entry) { return entry.second <= now; });
  for (; now < deadline; now = looks_.system.now()) {
    const bool due = !due_.empty() && due_.begin()->first <= now;
    if (!due && running_.empty()) return;
    if (due) {
      const Key key = due_.begin()->second;
      due_.erase(due_.begin());
      begin(key);
    }
    // One that takes several turns keeps no other one waiting.
    if (!running_.empty()) {
      running_.splice(running_.end(), running_, running_.begin());
      take_turn(std::prev(running_.end()));
    }
  }
}

}  // namespace rdtd
