#include "rdtd/daemon/sweeper.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "rdtd/resctrl/counters.hpp"

namespace rdtd {

namespace {

// A process that is born while a pass goes on inherits its parent's group, which the pass may not
// have corrected yet.
constexpr int max_passes = 5;
// Threads that one visit looks at before the next one has its turn.
constexpr size_t threads_per_turn = 64;
// Children of one process that are visited in a turn of it.
constexpr size_t children_per_turn = 8;
// The time between two looks at a process is at least this many times the length of a look.
constexpr int pause_per_cost = 20;
// Threads of one process that wait for visits of their own.
constexpr size_t max_single_threads = 16;
// More visits than this are replaced by one look at all processes.
constexpr size_t max_waiting = 65536;

}  // namespace

void Sweeper::use(std::shared_ptr<const RuleTable> table) {
  table_ = std::move(table);
  out_of_date_ = false;
  for (Running& running : running_) {
    running.child.reset();
    running.visit.reset();
    under_way_.erase(running.key);
    schedule(running.key, {system_.now(), running.with_children});
  }
  running_.clear();
  if (pass_) {
    pass_->visit.reset();
    pass_->release.reset();
    pass_->number = 0;
    pass_->again = false;
    pass_->begin = Time::min();
    if (const auto begun = begin_pass(); !begun) end_sweep(std::unexpected(begun.error()));
  }
}

void Sweeper::schedule(Key key, Waiting waiting) {
  if (const auto found = not_before_.find(key); found != not_before_.end())
    waiting.due = std::max(waiting.due, found->second);
  const auto after_this_one = [&] {
    Waiting& again = again_[key];
    again = {std::max(again.due, waiting.due), again.children || waiting.children};
  };
  if (under_way_.contains(key)) return after_this_one();
  const auto [place, is_new] = waiting_.emplace(key, waiting);
  if (is_new) {
    due_.emplace(waiting.due, key);
  } else if (waiting.due < place->second.due) {
    // Something new: the look that waits comes after this one.
    const auto [begin, end] = due_.equal_range(place->second.due);
    due_.erase(std::find_if(begin, end, [&](const auto& entry) { return entry.second == key; }));
    due_.emplace(waiting.due, key);
    std::swap(place->second, waiting);
    after_this_one();
  } else if (place->second.due < waiting.due) {
    after_this_one();
  } else {
    place->second.children = place->second.children || waiting.children;
  }
}

// Whether so many threads of a process wait that one visit to all of them costs less.
bool Sweeper::many_threads_wait(pid_t pid) const {
  auto next = waiting_.lower_bound({pid, 1});
  for (size_t count = 0; next != waiting_.end() && next->first.first == pid; ++next)
    if (++count >= max_single_threads) return true;
  return false;
}

void Sweeper::visit(One one, std::chrono::milliseconds delay) {
  if (waiting_.size() >= max_waiting) {
    overflowed_ = true;
    return;
  }
  if (one.only_thread != 0 && many_threads_wait(one.pid)) one.only_thread = 0;
  schedule({one.pid, one.only_thread}, {system_.now() + delay, one.children});
}

void Sweeper::look_for_more(std::span<const pid_t> pids) {
  if (second_looks_.size() >= max_waiting) {
    overflowed_ = true;
    return;
  }
  second_looks_.insert(second_looks_.end(), pids.begin(), pids.end());
}

Sweeper::Time Sweeper::next_due() const {
  if (!running_.empty() || !second_looks_.empty()) return Time::min();
  const Time visit = due_.empty() ? Time::max() : due_.begin()->first;
  if (pass_) return std::min(visit, pass_->begin);
  return requested_.empty() ? visit : Time::min();
}

bool Sweeper::slice(Time deadline) {
  if (!table_) return false;
  // A part of the time for each, so that none keeps another waiting.
  const auto part = (deadline - system_.now()) / 4;
  const bool more_looks = look_for_more(system_.now() + part);
  const bool more_visits = work_on_visits(system_.now() + part);
  const bool more_sweep = work_on_sweep(deadline);
  return more_looks || more_visits || more_sweep;
}

bool Sweeper::look_for_more(Time deadline) {
  while (system_.now() < deadline) {
    if (second_looks_.empty()) return false;
    const pid_t pid = second_looks_.front();
    second_looks_.pop_front();
    if (!system_.processes.is_alone(pid)) visit({.pid = pid, .children = true});
  }
  return true;
}

// A process that was assigned manually meanwhile is where no rule has put it.
void Sweeper::report_moved(pid_t pid, const Assignment& result) {
  if (result.moved > 0 && result.kind != Assignment::Kind::unmatched) moved_(pid, result, *table_);
}

void Sweeper::finish_visit(const Visit& visit, bool second_look) {
  const Assignment& result = visit.result();
  if (result.kind == Assignment::Kind::no_group) out_of_date_ = true;
  if (result.kind == Assignment::Kind::held_up) this->visit({.pid = visit.pid()}, held_up_delay);
  if (result.kind == Assignment::Kind::unknown) overflowed_ = true;
  // If the kernel does not say where threads are, each look moves them, and there is no third one.
  if (result.moved == 0 || (second_look && result.moved == result.unseen)) return;
  report_moved(visit.pid(), result);
  schedule({visit.pid(), 0}, {system_.now() + second_look_delay, true});
}

// Each child has its own visit. True once all are done.
bool Sweeper::turn_of_children(Running& running) {
  for (size_t child = 0; child < children_per_turn; child++) {
    if (!running.child) {
      if (running.next_child == running.children.size()) return true;
      running.child = std::make_unique<Visit>(placement(), running.children[running.next_child++],
                                              Visit::Options{});
    }
    if (!running.child->step(threads_per_turn)) return false;
    finish_visit(*running.child, false);
    running.child.reset();
  }
  return false;
}

// True once the visit is over.
bool Sweeper::turn(Running& running) {
  if (!running.visit) return turn_of_children(running);
  if (!running.visit->step(threads_per_turn)) return false;
  finish_visit(*running.visit, running.with_children);
  if (running.with_children) {
    auto children = running.visit->children();
    if (children) running.children = std::move(*children);
    if (!children && !proc::ended(children.error())) overflowed_ = true;
  }
  running.visit.reset();
  return running.children.empty();
}

bool Sweeper::work_on_visits(Time deadline) {
  const auto take_turn = [&](Running& running) {
    const Time begin = system_.now();
    const bool over = turn(running);
    const Time end = system_.now();
    running.cost += end - begin;
    if (!over) return false;
    under_way_.erase(running.key);
    not_before_[running.key] =
        end + std::max<std::chrono::nanoseconds>(min_interval, running.cost * pause_per_cost);
    if (const auto again = again_.find(running.key); again != again_.end()) {
      const Waiting waiting = again->second;
      again_.erase(again);
      schedule(running.key, waiting);
    }
    return true;
  };
  Time now = system_.now();
  if (not_before_.size() > 1024)
    std::erase_if(not_before_, [&](const auto& entry) { return entry.second <= now; });
  while (now < deadline) {
    const bool due = !due_.empty() && due_.begin()->first <= now;
    if (!due && running_.empty()) return false;
    if (due) {
      const Key key = due_.begin()->second;
      due_.erase(due_.begin());
      const Waiting waiting = waiting_.extract(key).mapped();
      under_way_.insert(key);
      Running running{.key = key, .with_children = waiting.children};
      running.visit = std::make_unique<Visit>(placement(), key.first,
                                              Visit::Options{.only_thread = key.second});
      if (!take_turn(running)) running_.push_back(std::move(running));
    }
    // One that takes several turns keeps no other one waiting.
    if (!running_.empty()) {
      running_.splice(running_.end(), running_, running_.begin());
      if (take_turn(running_.back())) running_.pop_back();
    }
    now = system_.now();
  }
  return !running_.empty() || (!due_.empty() && due_.begin()->first <= now);
}

Result<std::vector<pid_t>> Sweeper::tasks_of(const std::string& directory) const {
  auto tasks = resctrl::read_tasks(system_.resctrl, directory);
  const bool removed = !tasks && (tasks.error().code == ENOENT || tasks.error().code == ENODEV);
  return removed ? std::vector<pid_t>{} : std::move(tasks);
}

// The threads that are in the control group of each place.
Result<TasksByGroup> Sweeper::tasks_held(const RuleTable& table) const {
  TasksByGroup out;
  std::map<std::string_view, size_t> read;  // each control group once
  for (const Place& place : table.places) {
    const auto [known, is_new] = read.emplace(control_group_of(place.directory), out.size());
    auto tasks = is_new ? tasks_of(std::string(known->first)) : out[known->second];
    if (!tasks) return std::unexpected(std::move(tasks.error()));
    out.push_back(std::move(*tasks));
  }
  return out;
}

// The threads that are where each place wants them. A control group's `tasks` lists those of its
// monitoring groups too.
Result<TasksByGroup> Sweeper::tasks_in_place(const RuleTable& table) const {
  auto out = tasks_held(table);
  if (!out) return out;
  std::map<std::string_view, std::vector<pid_t>> monitored;  // by control group
  for (size_t i = 0; i < out->size(); i++) {
    const std::string& directory = table.places[i].directory;
    if (!is_mon_group(directory)) continue;
    auto tasks = tasks_of(directory);
    if (!tasks) return std::unexpected(std::move(tasks.error()));
    (*out)[i] = std::move(*tasks);
    auto& list = monitored[control_group_of(directory)];
    list.insert(list.end(), (*out)[i].begin(), (*out)[i].end());
  }
  for (auto& [group, tasks] : monitored) std::ranges::sort(tasks);
  for (size_t i = 0; i < out->size(); i++)
    if (const auto others = monitored.find(table.places[i].directory); others != monitored.end())
      std::erase_if((*out)[i],
                    [&](pid_t tid) { return std::ranges::binary_search(others->second, tid); });
  return out;
}

void Sweeper::sweep(All all) {
  const bool joins = !all.previous && !requested_.empty() && !requested_.back().all.previous &&
                     requested_.back().all.only_report_moved == all.only_report_moved;
  if (!joins) requested_.push_back({.all = all, .done = {}});
  if (all.done) requested_.back().done.push_back(std::move(all.done));
}

Result<void> Sweeper::begin_pass() {
  Pass& pass = *pass_;
  pass.number++;
  pass.now = {};
  pass.reported.clear();
  pass.next = 0;
  auto in_place = tasks_in_place(*table_);
  if (!in_place) return std::unexpected(in_place.error());
  pass.in_place = std::move(*in_place);
  auto held =
      pass.request.all.previous ? tasks_held(*pass.request.all.previous) : Result<TasksByGroup>();
  if (!held) return std::unexpected(held.error());
  pass.held = std::move(*held);
  pass.only_report.assign(pass.in_place.size(), {});
  if (pass.request.all.only_report_moved)
    for (size_t i = 0; i < pass.only_report.size(); i++)
      if (const auto last = last_in_place_.find(table_->places[i].directory);
          last != last_in_place_.end())
        pass.only_report[i] = last->second;
  pass.processes.clear();
  pass.undecided.clear();
  if (!pass.again) pass.unreleased.clear();
  if (pass.in_place.empty() && pass.held.empty()) return {};
  auto processes = system_.processes.list();
  if (!processes) return std::unexpected(processes.error());
  pass.processes = std::move(*processes);
  return {};
}

// Works on one process. What it does at a time is limited.
void Sweeper::work_on_process() {
  Pass& pass = *pass_;
  if (pass.release) {
    if (!pass.release->step(threads_per_turn)) return;
    pass.now.released += pass.release->released();
    note_release(pass.processes[pass.next - 1], pass.release->error());
    pass.release.reset();
    return;
  }
  if (!pass.visit)
    pass.visit = std::make_unique<Visit>(
        placement(), pass.processes[pass.next++],
        Visit::Options{.in_place = &pass.in_place, .only_report = &pass.only_report});
  if (pass.visit->step(threads_per_turn)) finish_process();
}

void Sweeper::note_release(pid_t pid, const std::optional<Error>& error) {
  Pass& pass = *pass_;
  if (!error) return (void)pass.unreleased.erase(pid);
  pass.unreleased.insert(pid);
  if (proc::held_up(*error)) return (void)pass.undecided.insert(pid);
  if (pass.kind == Assignment::Kind::unknown) return;  // counted already
  pass.now.unknown++;
  pass.now.error = error->code;
}

void Sweeper::finish_process() {
  Pass& pass = *pass_;
  const Visit& visit = *pass.visit;
  const Assignment& result = visit.result();
  pass.kind = result.kind;
  pass.now.moved += result.moved;
  pass.now.reported += visit.reported().size();
  for (const auto& [destination, tid] : visit.reported())
    pass.reported[table_->places[destination].directory].push_back(tid);
  if (result.kind == Assignment::Kind::in_group) {
    pass.now.matched[group_label(table_->rules.group_of(result.rule))]++;
    pass.now.by_rule[result.rule]++;
  }
  if (result.kind == Assignment::Kind::left) pass.now.by_rule[result.rule]++;
  const bool refused = result.kind == Assignment::Kind::refused;
  const bool unknown = result.kind == Assignment::Kind::unknown;
  if (refused) pass.now.refused++;
  if (unknown) pass.now.unknown++;
  if (refused || unknown) pass.now.error = result.error;
  if (result.kind == Assignment::Kind::held_up) pass.undecided.insert(visit.pid());
  // Its children of before have their old group.
  if (pass.again && result.moved > 0)
    this->visit({.pid = visit.pid(), .children = true}, second_look_delay);
  if (result.kind == Assignment::Kind::no_group) out_of_date_ = true;
  report_moved(visit.pid(), result);
  if (!pass.held.empty())
    pass.release =
        std::make_unique<Release>(*pass.request.all.previous, pass.held, placement(), visit.pid());
  pass.visit.reset();
}

// A pass over all processes finds again what the one before it has found.
void Sweeper::add_up() {
  const SweepResult& now = pass_->now;
  SweepResult& total = pass_->total;
  if (!pass_->again) {
    total.matched.clear();
    total.by_rule.clear();
    total.reported = total.refused = total.unknown = 0;
  }
  for (const auto& [group, processes] : now.matched) total.matched[group] += processes;
  for (const auto& [rule, processes] : now.by_rule) total.by_rule[rule] += processes;
  total.moved += now.moved;
  total.reported += now.reported;
  total.released += now.released;
  total.refused += now.refused;
  total.unknown += now.unknown;
  total.unreleased = pass_->unreleased.size();
  total.undecided = pass_->undecided.size();
  if (now.error != 0) total.error = now.error;
}

// True if the sweep is over.
bool Sweeper::finish_pass() {
  Pass& pass = *pass_;
  const SweepResult& now = pass.now;
  const bool quiet = now.moved + now.released + now.refused + now.unknown == 0;
  add_up();
  if (out_of_date_) return true;
  const bool last = pass.again || quiet || pass.number >= max_passes;
  if (last && (pass.undecided.empty() || system_.now() >= pass.end)) return true;
  pass.again = last;
  const std::set<pid_t> undecided = pass.undecided;
  if (const auto begun = begin_pass(); !begun) {
    end_sweep(std::unexpected(begun.error()));
    return false;
  }
  if (last) {
    pass.processes.assign(undecided.begin(), undecided.end());
    pass.begin = system_.now() + patient_delay;
  }
  return false;
}

void Sweeper::end_sweep(const Result<SweepResult>& result) {
  // If it cannot be read now, what was in place before still counts.
  if (const auto in_place = tasks_in_place(*table_)) {
    last_in_place_.clear();
    for (size_t i = 0; i < in_place->size(); i++)
      last_in_place_[table_->places[i].directory] = (*in_place)[i];
  }
  // A thread that was only reported is one that rdtd had placed: it stays so.
  for (auto& [group, threads] : pass_->reported) {
    auto& list = last_in_place_[group];
    list.insert(list.end(), threads.begin(), threads.end());
    std::ranges::sort(list);
  }
  for (const pid_t pid : pass_->undecided) visit({.pid = pid}, held_up_delay);
  // A `done` may ask for the next sweep.
  const std::unique_ptr<Pass> ended = std::move(pass_);
  for (const auto& done : ended->request.done) done(result);
}

bool Sweeper::work_on_sweep(Time deadline) {
  while (system_.now() < deadline) {
    if (!pass_) {
      if (requested_.empty()) return false;
      pass_ = std::make_unique<Pass>();
      pass_->request = std::move(requested_.front());
      requested_.pop_front();
      pass_->end = system_.now() + pass_->request.all.patience;
      if (const auto begun = begin_pass(); !begun) end_sweep(std::unexpected(begun.error()));
      continue;
    }
    Pass& pass = *pass_;
    if (pass.begin != Time::min() && system_.now() < pass.begin) return false;
    if (!pass.visit && !pass.release && pass.next == pass.processes.size()) {
      if (finish_pass()) {
        const SweepResult total = pass.total;
        end_sweep(total);
      }
      continue;
    }
    work_on_process();
  }
  return pass_ != nullptr || !requested_.empty();
}

}  // namespace rdtd
