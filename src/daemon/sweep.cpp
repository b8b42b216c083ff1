#include "rdtd/daemon/sweep.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "rdtd/resctrl/counters.hpp"

namespace rdtd {

namespace {

// A process that is born while a pass goes on inherits its parent's group, which the pass may not
// have corrected yet.
constexpr int max_passes = 5;

Result<std::vector<pid_t>> tasks_of(const System& system, const std::string& directory) {
  auto tasks = resctrl::read_tasks(system.resctrl, directory);
  const bool removed = !tasks && (tasks.error().code == ENOENT || tasks.error().code == ENODEV);
  return removed ? std::vector<pid_t>{} : std::move(tasks);
}

// Groups whose threads could not be listed, and why the first one could not.
struct Unread {
  std::set<std::string> groups;
  std::optional<Error> error;

  void add(const std::string& group, const Error& why) {
    groups.insert(group);
    if (!error) error = why;
  }
};

// The threads that are in the control group of each place. Of one that cannot be read now, each
// thread says where it is.
// `owned`: null: the table is the one in use.
TasksByGroup tasks_held(const System& system, const RuleTable& table,
                        const std::set<std::string>* owned, Unread& unread) {
  TasksByGroup out;
  std::map<std::string_view, size_t> read;  // each control group once
  for (const Place& place : table.places) {
    const std::string_view group = control_group_of(place.directory);
    // A group of that name may be another tool's.
    const bool ours =
        owned == nullptr || group == root_group || owned->contains(std::string(group));
    if (!place.exists() || !ours) {
      out.emplace_back();
      continue;
    }
    const auto [known, is_new] = read.emplace(group, out.size());
    auto tasks = is_new ? tasks_of(system, std::string(known->first)) : out[known->second];
    if (!tasks) unread.add(std::string(group), tasks.error());
    out.push_back(tasks ? std::move(*tasks) : std::vector<pid_t>{});
  }
  return out;
}

// The threads that are where each place wants them. A control group's `tasks` lists those of its
// monitoring groups too.
TasksByGroup tasks_in_place(const System& system, const RuleTable& table, Unread& unread) {
  TasksByGroup out = tasks_held(system, table, nullptr, unread);
  std::map<std::string_view, std::vector<pid_t>> monitored;  // by control group
  for (size_t i = 0; i < out.size(); i++) {
    const std::string& directory = table.places[i].directory;
    if (!is_mon_group(directory)) continue;
    auto tasks = tasks_of(system, directory);
    if (!tasks) unread.add(directory, tasks.error());
    if (!tasks) unread.add(std::string(control_group_of(directory)), tasks.error());
    out[i] = std::move(tasks).value_or(std::vector<pid_t>{});
    auto& list = monitored[control_group_of(directory)];
    list.insert(list.end(), out[i].begin(), out[i].end());
  }
  for (auto& [group, tasks] : monitored) std::ranges::sort(tasks);
  for (size_t i = 0; i < out.size(); i++)
    if (const auto others = monitored.find(table.places[i].directory); others != monitored.end())
      std::erase_if(out[i],
                    [&](pid_t tid) { return std::ranges::binary_search(others->second, tid); });
  return out;
}

}  // namespace

void Sweep::add(All all) {
  const bool joins = !all.previous && !requested_.empty() && !requested_.back().all.previous &&
                     requested_.back().all.only_report_moved == all.only_report_moved;
  if (!joins) requested_.push_back({.all = all, .done = {}});
  if (all.done) requested_.back().done.push_back(std::move(all.done));
}

Result<void> Sweep::begin_pass() {
  Pass& pass = *pass_;
  pass.number++;
  pass.now = {};
  pass.reported.clear();
  pass.next = 0;
  Unread ignored;  // more processes are looked at then
  pass.in_place = tasks_in_place(looks_.system, *looks_.table, ignored);
  const All& all = pass.request.all;
  pass.held = {};
  Unread held;
  if (all.previous) pass.held = tasks_held(looks_.system, *all.previous, &all.owned, held);
  pass.now.unread = held.error;
  pass.only_report.assign(pass.in_place.size(), {});
  if (pass.request.all.only_report_moved)
    for (size_t i = 0; i < pass.only_report.size(); i++)
      if (const auto last = last_in_place_.find(looks_.table->places[i].directory);
          last != last_in_place_.end())
        pass.only_report[i] = last->second;
  pass.processes.clear();
  pass.undecided.clear();
  if (!pass.again) pass.unreleased.clear();
  if (pass.in_place.empty() && pass.held.empty()) return {};
  auto processes = looks_.system.processes.list();
  if (!processes) return std::unexpected(processes.error());
  pass.processes = std::move(*processes);
  return {};
}

// Works on one process. What it does at a time is limited.
void Sweep::work_on_process() {
  Pass& pass = *pass_;
  if (pass.release) {
    if (!pass.release->step(Looks::threads_per_turn)) return;
    pass.now.released += pass.release->released();
    note_release(pass.processes[pass.next - 1], pass.release->error());
    pass.release.reset();
    return;
  }
  if (!pass.visit)
    pass.visit = std::make_unique<Visit>(
        looks_.placement(), pass.processes[pass.next++],
        Visit::Options{.in_place = &pass.in_place, .only_report = &pass.only_report});
  if (pass.visit->step(Looks::threads_per_turn)) finish_process();
}

void Sweep::note_release(pid_t pid, const std::optional<Error>& error) {
  Pass& pass = *pass_;
  if (!error) return (void)pass.unreleased.erase(pid);
  pass.unreleased.insert(pid);
  if (proc::held_up(*error)) return (void)pass.undecided.insert(pid);
  if (pass.kind == Assignment::Kind::unknown) return;  // counted already
  pass.now.unknown++;
  pass.now.error = error->code;
}

void Sweep::finish_process() {
  Pass& pass = *pass_;
  const Visit& visit = *pass.visit;
  const Assignment& result = visit.result();
  pass.kind = result.kind;
  pass.now.moved += result.moved;
  looks_.note(visit);
  pass.now.reported += visit.reported().size();
  for (const auto& [destination, tid] : visit.reported())
    pass.reported[looks_.table->places[destination].directory].push_back(tid);
  if (result.kind == Assignment::Kind::in_group) {
    pass.now.matched[group_label(looks_.table->rules.group_of(result.rule))]++;
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
    visits_.add({.pid = visit.pid(), .children = true}, Visits::second_look_delay);
  if (result.kind == Assignment::Kind::no_group) looks_.out_of_date = true;
  looks_.report(visit.pid(), result);
  if (!pass.held.empty())
    pass.release = std::make_unique<Release>(*pass.request.all.previous, pass.held,
                                             looks_.placement(), visit.pid());
  pass.visit.reset();
}

// A pass over all processes finds again what the one before it has found.
void Sweep::add_up() {
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
  total.unread = now.unread;
  if (now.error != 0) total.error = now.error;
}

// True if the sweep is over.
bool Sweep::finish_pass() {
  Pass& pass = *pass_;
  const SweepResult& now = pass.now;
  const bool quiet = now.moved + now.released + now.refused + now.unknown == 0;
  add_up();
  if (looks_.out_of_date) return true;
  const bool last = pass.again || quiet || pass.number >= max_passes;
  if (last && (pass.undecided.empty() || looks_.system.now() >= pass.end)) return true;
  pass.again = last;
  const std::set<pid_t> undecided = pass.undecided;
  if (const auto begun = begin_pass(); !begun) {
    end_sweep(std::unexpected(begun.error()));
    return false;
  }
  if (last) {
    pass.processes.assign(undecided.begin(), undecided.end());
    pass.begin = looks_.system.now() + patient_delay;
  }
  return false;
}

void Sweep::end_sweep(const Result<SweepResult>& result) {
  Unread unread;
  TasksByGroup in_place = tasks_in_place(looks_.system, *looks_.table, unread);
  std::map<std::string, std::vector<pid_t>> before = std::exchange(last_in_place_, {});
  for (size_t i = 0; i < in_place.size(); i++) {
    const std::string& group = looks_.table->places[i].directory;
    const bool known = !unread.groups.contains(group) &&
                       !unread.groups.contains(std::string(control_group_of(group)));
    last_in_place_[group] = std::move(known ? in_place[i] : before[group]);
  }
  // A thread that was only reported is one that rdtd had placed: it stays so.
  for (auto& [group, threads] : pass_->reported) {
    auto& list = last_in_place_[group];
    list.insert(list.end(), threads.begin(), threads.end());
    std::ranges::sort(list);
    const auto twice = std::ranges::unique(list);
    list.erase(twice.begin(), twice.end());
  }
  for (const pid_t pid : pass_->undecided) visits_.add({.pid = pid}, Visits::held_up_delay);
  // A `done` may ask for the next sweep.
  const std::unique_ptr<Pass> ended = std::move(pass_);
  for (const auto& done : ended->request.done) done(result);
}

void Sweep::begin_again() {
  if (!pass_) return;
  pass_->visit.reset();
  pass_->release.reset();
  pass_->number = 0;
  pass_->again = false;
  pass_->begin = Time::min();
  if (const auto begun = begin_pass(); !begun) end_sweep(std::unexpected(begun.error()));
}

Sweep::Time Sweep::next_due() const {
  if (pass_) return pass_->begin;
  return requested_.empty() ? Time::max() : Time::min();
}

void Sweep::work(Time deadline) {
  while (looks_.system.now() < deadline) {
    if (!pass_) {
      if (requested_.empty()) return;
      pass_ = std::make_unique<Pass>();
      pass_->request = std::move(requested_.front());
      requested_.pop_front();
      pass_->end = looks_.system.now() + pass_->request.all.patience;
      if (const auto begun = begin_pass(); !begun) end_sweep(std::unexpected(begun.error()));
      continue;
    }
    Pass& pass = *pass_;
    if (pass.begin != Time::min() && looks_.system.now() < pass.begin) return;
    if (!pass.visit && !pass.release && pass.next == pass.processes.size()) {
      if (finish_pass()) {
        const SweepResult total = pass.total;
        end_sweep(total);
      }
      continue;
    }
    work_on_process();
  }
}

}  // namespace rdtd
