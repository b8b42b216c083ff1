#include "rdtd/daemon/assigner.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "rdtd/model/snapshot.hpp"
#include "rdtd/rules/monitor_value.hpp"

namespace rdtd {

namespace {

// A process that makes threads faster than they can be looked at is left to the next reconcile.
constexpr int max_passes = 16;
// Once so many threads were listed in all, two passes are enough: a second look or a sweep follows.
constexpr size_t max_listed = 1 << 14;
// To list so many threads takes as long as to look at one of them.
constexpr size_t listed_per_look = 4;
// A process that keeps renaming itself is left to the events that its renames send.
constexpr int max_attempts = 3;
// A longer command line is left to the loop thread: patterns can make it expensive.
constexpr size_t max_cmdline = 4096;
// The kernel takes time in the square of the depth to build a path, with a lock held that every
// fork and exit takes (kernfs_path_from_node in fs/kernfs/dir.c, proc_cgroup_show). At this depth
// it is not noticeable; a path can have some 2000 components.
constexpr std::ptrdiff_t deepest_cgroup = 128;
// The kernel cuts a longer path or refuses it, and takes the same time.
constexpr size_t longest_cgroup = 4000;

bool is_deep(const ProcessFacts& facts) {
  return facts.cgroup_too_long ||
         (facts.cgroup && (facts.cgroup->size() > longest_cgroup ||
                           std::ranges::count(*facts.cgroup, '/') > deepest_cgroup));
}

Assignment failed(const Error& error) {
  if (proc::ended(error)) return {.kind = Assignment::Kind::gone};
  if (proc::held_up(error)) return {.kind = Assignment::Kind::held_up};
  return {.kind = Assignment::Kind::unknown, .error = error.code};
}

// Writes one thread to a group and counts it. Returns 0 or errno.
int add_counted(const Place& place, pid_t tid) {
  const int error = place.add(tid);
  AssignmentCounter& counter = *place.counter;
  if (error == 0) counter.moved.fetch_add(1, std::memory_order_relaxed);
  if (error != 0 && error != ESRCH && !resctrl::is_absent(error))
    counter.refused.fetch_add(1, std::memory_order_relaxed);
  return error;
}

// What an errno of `tasks` says about the assignment.
Assignment::Kind kind_of_failure(int error) {
  if (error == ESRCH) return Assignment::Kind::gone;
  if (resctrl::is_absent(error)) return Assignment::Kind::no_group;
  return Assignment::Kind::refused;
}

}  // namespace

Assignment correct_placement(const Placement& placement, pid_t tid) {
  constexpr Assignment gone{.kind = Assignment::Kind::gone};
  auto thread = placement.processes.open(tid);
  const auto pid = thread ? (*thread)->read_process() : std::unexpected(thread.error());
  if (!pid) return failed(pid.error());
  const bool first = *pid == tid;
  const auto process = first ? std::move(thread) : placement.processes.open(*pid);
  if (!process) return failed(process.error());
  ProcessFacts facts;
  const RuleTable& table = placement.table;
  if (table.rules.has_thread_rules()) {
    auto name = (*process)->read_thread_name(tid);
    if (!name) return failed(name.error());
    facts.thread = std::move(*name);
  }
  const auto decision = decide(table.rules, **process, facts);
  if (!decision) return failed(decision.error());
  if (decision->kind == Decision::Kind::matched) {
    const Place& place = table.places[table.rules.rules()[decision->rule].destination];
    if (place.exists()) (void)place.add(tid);
    return gone;
  }
  const auto origin = first ? (*process)->read_parent() : pid;
  const auto opened = origin ? placement.processes.open(*origin) : std::unexpected(origin.error());
  const auto group =
      opened ? (*opened)->read_thread_group(*origin) : std::unexpected(opened.error());
  if (!group && !proc::ended(group.error()) && group.error().code != ENOTSUP)
    return failed(group.error());
  const resctrl::Tasks* tasks =
      group ? table.tasks_of(std::string(control_group_of(*group))) : nullptr;
  if (tasks == nullptr) tasks = table.tasks_of(std::string(root_group));
  if (tasks != nullptr) (void)tasks->add(tid);
  return gone;
}

void correct_thread(const Placement& placement, const proc::Process& process, pid_t tid) {
  if (const auto name = process.read_thread_name(tid); !name && proc::ended(name.error()))
    (void)correct_placement(placement, tid);
}

namespace {

// Where a manual assignment to this group puts a process. If the monitoring group is not there, its
// control group limits the process all the same.
Place assigned_place(const RuleTable& table, const std::string& label) {
  const std::string directory = group_directory(label);
  const std::string control_group(control_group_of(directory));
  const resctrl::Tasks* mon_group = is_mon_group(directory) ? table.tasks_of(directory) : nullptr;
  return {.directory = mon_group != nullptr ? directory : control_group,
          .control_group = table.tasks_of(control_group),
          .mon_group = mon_group};
}

// The loop thread may have assigned the process manually while the classifier carried out a rule.
// The manual assignment has the last word.
void respect_manual(const Placement& placement, pid_t pid) {
  const auto label = placement.manual.group_of(pid);
  if (!label) return;
  const Place place = assigned_place(placement.table, *label);
  if (place.exists()) (void)place.add(pid);
}

struct Owner {
  uid_t user = 0;
  bool hidden = false;
};

// Whom the time is charged to. A user can make a process look like root's, so once root has no
// share left, or somebody rests, its processes are examined; root itself is never deferred.
std::optional<Owner> owner_of(const Placement& placement, const proc::Process& process) {
  const auto owner = process.owner();
  if (!owner) return std::nullopt;
  const UserShares& shares = *placement.shares;
  if (*owner != 0 || !(shares.anybody_rests(placement.now) ||
                       (placement.examine_root && shares.exhausted(0, placement.now))))
    return Owner{*owner};
  ProcessFacts facts;
  if (!process.read(Fact::identity, facts)) return std::nullopt;
  const uid_t user = facts.identity->responsible();
  return Owner{user, user != 0};
}

// Whether the process is in a monitoring group of another tool, in the control group that its rule
// names: runc and cAdvisor make one for each container. Looked at only where there are some.
bool is_monitored_there(const Placement& placement, const proc::Process& process, pid_t pid,
                        size_t destination) {
  const Place& place = placement.table.places[destination];
  if (!place.monitor && !place.counter->others_monitor.load(std::memory_order_relaxed))
    return false;
  const auto now = process.read_thread_group(pid);
  return now && is_mon_group(*now) && placement.table.is_at(destination, *now);
}

Assignment place_by_facts(const Placement& placement, const proc::Process& process, pid_t pid,
                          ProcessFacts& facts) {
  auto name = process.read_name();
  Assignment out;
  for (int attempt = 0; attempt < max_attempts; attempt++) {
    if (!name) return failed(name.error());
    facts = {};
    facts.name = *name;
    if (placement.table.rules.has_thread_rules()) facts.thread = *name;
    const auto decision =
        decide(placement.table.rules, process, facts, {max_cmdline, placement.memo});
    if (!decision) return failed(decision.error());
    if (decision->kind != Decision::Kind::matched) return out;
    out.rule = decision->rule;
    const size_t destination = placement.table.rules.rules()[decision->rule].destination;
    const Place& place = placement.table.places[destination];
    if (!place.exists()) return out;
    out.kind = Assignment::Kind::in_group;
    if (is_monitored_there(placement, process, pid, destination)) return out;
    if (const int error = add_counted(place, pid); error != 0)
      return {.kind = kind_of_failure(error), .rule = out.rule, .error = error};
    out.moved = 1;
    respect_manual(placement, pid);
    name = process.read_name();
    if (name && *name == *facts.name) return out;
    if (!name && proc::ended(name.error())) return correct_placement(placement, pid);
  }
  return out;
}

Assignment place_opened(const Placement& placement, const proc::Process& process, pid_t pid) {
  ProcessFacts facts;
  Assignment out = place_by_facts(placement, process, pid, facts);
  out.deep = is_deep(facts);
  return out;
}

}  // namespace

// The files of a process that cannot be traced are root's.
std::optional<uid_t> responsible_user(const proc::Process& process) {
  const auto owner = process.owner();
  if (!owner) return std::nullopt;
  if (*owner != 0) return *owner;
  ProcessFacts facts;
  if (!process.read(Fact::identity, facts)) return std::nullopt;
  return facts.identity->responsible();
}

Assignment place_leader(const Placement& placement, pid_t pid) {
  if (placement.manual.group_of(pid)) return {};
  const auto process = placement.processes.open(pid);
  if (!process) return failed(process.error());
  if (placement.shares == nullptr) {
    Assignment out = place_opened(placement, **process, pid);
    ProcessFacts facts;
    if (out.deep && (*process)->read(Fact::identity, facts))
      out.user = facts.identity->responsible();
    return out;
  }
  const auto owner = owner_of(placement, **process);
  const bool deferred = owner && owner->user != 0 &&
                        (placement.shares->exhausted(owner->user, placement.now) ||
                         placement.now < placement.shares->resting_until(owner->user));
  Assignment out = deferred ? Assignment{.kind = Assignment::Kind::deferred}
                            : place_opened(placement, **process, pid);
  if (owner) {
    out.user = owner->user;
    out.hidden = owner->hidden;
  }
  return out;
}

bool Visit::finish(Assignment::Kind kind, int error) {
  result_.kind = kind;
  result_.error = error;
  return true;
}

bool Visit::finish(const Assignment& result) { return finish(result.kind, result.error); }

// True if the visit is finished already.
bool Visit::begin() {
  assigned_.reset();
  if (const auto group = placement_.manual.group_of(pid_)) {
    if (options_.manual_too) assigned_ = {*group, assigned_place(placement_.table, *group)};
    result_.manual |= assigned_.has_value();
    if (!assigned_ || !assigned_->place.exists()) return finish(Assignment::Kind::unmatched);
  }
  if (!process_) {
    auto process = placement_.processes.open(pid_);
    if (!process) return finish(failed(process.error()));
    process_ = std::move(*process);
  }
  auto name = process_->read_name();
  if (!name) return finish(failed(name.error()));
  facts_ = {};
  facts_.name = std::move(*name);
  if (assigned_ || placement_.table.rules.has_thread_rules()) return false;
  const auto decision =
      decide(placement_.table.rules, *process_, facts_, {.memo = placement_.memo});
  if (!decision) return finish(failed(decision.error()));
  if (decision->kind == Decision::Kind::unmatched) return finish(Assignment::Kind::unmatched);
  rule_ = decision->rule;
  result_.rule = rule_;
  if (decision->kind == Decision::Kind::left) return finish(Assignment::Kind::left);
  result_.kind = Assignment::Kind::in_group;
  return false;
}

// The threads of the next pass. True if there is nothing more to look at.
bool Visit::list_threads() {
  if (threads_.passes >= (threads_.all_listed > max_listed ? 2 : max_passes)) return true;
  threads_.passes++;
  threads_.listed.clear();
  threads_.next = 0;
  threads_.found_new = false;
  if (options_.only_thread != 0) {
    if (threads_.seen.contains(options_.only_thread)) return true;
    threads_.listed = {options_.only_thread};
    return false;
  }
  if (threads_.passes == 1) {
    threads_.listed = {
        pid_};  // the first thread, without a look at the others, if it is the only one
    if (process_->thread_count() <= 1) return false;
  }
  auto threads = process_->threads();
  if (!threads) {
    if (!proc::ended(threads.error())) (void)finish(failed(threads.error()));
    return true;
  }
  threads_.listed = std::move(*threads);
  threads_.all_listed += threads_.listed.size();
  return false;
}

// Of a template, with the monitoring group for this process; without one while it is not there, or
// if the process has no value.
const Place& Visit::place_of(size_t destination) {
  const Place& place = placement_.table.places[destination];
  if (!place.monitor || !place.exists()) return place;
  const auto [known, is_new] = by_template_.try_emplace(destination, place);
  Place& out = known->second;
  if (!is_new) return out;
  const Fact fact = fact_of(place.monitor->value);
  if (!facts_.has(fact) && !process_->read(fact, facts_)) return out;
  const auto value = monitor_value(place.monitor->value, facts_);
  if (!value) return out;
  const std::string directory =
      mon_group_directory(place.directory, place.monitor->name_for(*value));
  monitored_.insert(directory);
  out.mon_group = placement_.table.tasks_of(directory);
  if (out.mon_group != nullptr) out.directory = directory;
  return out;
}

Visit::Where Visit::where(pid_t tid, size_t destination, const Place& place) const {
  if (place.monitor) {
    const auto now = process_->read_thread_group(tid);
    if (!now) return Where::unknown;
    const bool there = place.mon_group != nullptr ? *now == place.directory
                                                  : placement_.table.is_at(destination, *now);
    return there ? Where::in_group : Where::elsewhere;
  }
  if (options_.in_place != nullptr &&
      std::ranges::binary_search((*options_.in_place)[destination], tid))
    return Where::in_group;
  // The lists were read before: a thread may have come into its group since.
  const auto now = process_->read_thread_group(tid);
  if (!now) return Where::unknown;
  return placement_.table.is_at(destination, *now) ? Where::in_group : Where::elsewhere;
}

// False if there is no point in going on with the other threads.
bool Visit::put(pid_t tid, size_t rule) {
  const size_t destination = placement_.table.rules.rules()[rule].destination;
  const Place& place = place_of(destination);
  if (!place.exists()) return finish(Assignment::Kind::unmatched);
  const Where before = where(tid, destination, place);
  if (before == Where::in_group) return true;
  if (options_.only_report != nullptr &&
      std::ranges::binary_search((*options_.only_report)[destination], tid)) {
    reported_.emplace_back(destination, tid);
    return true;
  }
  const int error = add_counted(place, tid);
  if (error == 0) {
    result_.moved++;
    if (before == Where::unknown) result_.unseen++;
    if (tid != pid_) correct_thread(placement_, *process_, tid);
    return true;
  }
  if (error == ESRCH) {
    if (tid == pid_) (void)finish(Assignment::Kind::gone);
    return true;
  }
  (void)finish(kind_of_failure(error), error);
  return false;
}

// The rule for one thread. Nothing: it stays where it is.
std::optional<size_t> Visit::rule_of(pid_t tid) {
  const auto unknown = [this](const Error& error) -> std::optional<size_t> {
    if (!proc::ended(error) && result_.kind != Assignment::Kind::unknown)
      (void)finish(failed(error));
    return std::nullopt;
  };
  auto name = tid == pid_ ? Result<std::string>(*facts_.name) : process_->read_thread_name(tid);
  if (!name) return unknown(name.error());
  facts_.thread = std::move(*name);
  const auto decision =
      decide(placement_.table.rules, *process_, facts_, {.memo = placement_.memo});
  if (!decision) return unknown(decision.error());
  const bool undecided = result_.kind == Assignment::Kind::unmatched;
  if (decision->kind == Decision::Kind::left && undecided) {
    result_.kind = Assignment::Kind::left;
    result_.rule = decision->rule;
  }
  if (decision->kind != Decision::Kind::matched) return std::nullopt;
  const RuleTable& table = placement_.table;
  if (!table.places[table.rules.rules()[decision->rule].destination].exists()) return std::nullopt;
  if (result_.kind != Assignment::Kind::in_group) result_.rule = decision->rule;
  if (undecided || result_.kind == Assignment::Kind::left)
    result_.kind = Assignment::Kind::in_group;
  return decision->rule;
}

void Visit::put_assigned(pid_t tid) {
  const auto now = process_->read_thread_group(tid);
  if (now && is_in_group(*now, assigned_->place.directory)) return;
  const int error = assigned_->place.add(tid);
  if (error == ESRCH) return;
  if (error != 0) return (void)finish(kind_of_failure(error), error);
  result_.moved++;
  if (!now) result_.unseen++;
  if (tid != pid_) correct_thread(placement_, *process_, tid);
}

void Visit::look_at(pid_t tid) {
  if (assigned_) return put_assigned(tid);
  const auto rule = placement_.table.rules.has_thread_rules() ? rule_of(tid) : std::optional(rule_);
  if (rule) (void)put(tid, *rule);
}

// Looks again until the process is still what it was when it was looked at. True if it is.
bool Visit::settle() {
  if (result_.moved == 0) return true;
  const auto name = process_->read_name();
  if (!name)
    return finish(proc::ended(name.error()) ? correct_placement(placement_, pid_)
                                            : failed(name.error()));
  if (*name == *facts_.name || ++threads_.attempts >= max_attempts) return true;
  threads_.passes = 0;
  threads_.seen.clear();
  threads_.listed.clear();
  threads_.next = 0;
  return begin();
}

bool Visit::step(size_t limit) {
  if (!process_ && begin()) return true;
  // It may have been assigned manually since the last step, or may not be any more.
  const std::optional<std::string> group = placement_.manual.group_of(pid_);
  if (assigned_ ? group != assigned_->group : group.has_value())
    return finish(Assignment::Kind::unmatched);
  while (limit > 0) {
    if (threads_.next == threads_.listed.size()) {
      const bool more = threads_.passes == 0 || (threads_.found_new && threads_.seen.size() > 1) ||
                        (threads_.passes == 1 && process_->thread_count() > 1);
      if (!more || list_threads()) {
        if (settle()) return true;
        continue;
      }
      limit -= std::min(limit, threads_.listed.size() / listed_per_look);
    }
    while (threads_.next < threads_.listed.size() && limit > 0) {
      const pid_t tid = threads_.listed[threads_.next++];
      if (!threads_.seen.insert(tid).second) continue;
      threads_.found_new = true;
      limit--;
      look_at(tid);
      if (result_.kind == Assignment::Kind::refused || result_.kind == Assignment::Kind::no_group)
        return true;
    }
  }
  return false;
}

Result<std::vector<pid_t>> Visit::threads() const {
  if (!process_) return std::vector<pid_t>{};
  if (process_->thread_count() == 1) return std::vector{pid_};
  return process_->threads();
}

Result<std::vector<pid_t>> Visit::children(std::span<const pid_t> threads) const {
  return process_->children(threads);
}

bool is_in_group(const std::string& now, const std::string& directory) {
  return now == directory || control_group_of(now) == directory;
}

}  // namespace rdtd
