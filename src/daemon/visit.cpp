#include "rdtd/daemon/visit.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "rdtd/model/snapshot.hpp"
#include "rdtd/rules/monitor_value.hpp"

namespace rdtd {

namespace {

// A process that makes threads faster than they can be looked at is left to the next reconcile.
constexpr int max_thread_passes = 16;
// Once so many threads were listed in all, two passes are enough: a second look or a sweep follows.
constexpr size_t max_listed = 1 << 14;
// To list so many threads takes as long as to look at one of them.
constexpr size_t listed_per_look = 4;

}  // namespace

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
    if (!process) return finish(cannot_place(process.error()));
    process_ = std::move(*process);
  }
  auto name = process_->read_name();
  if (!name) return finish(cannot_place(name.error()));
  facts_ = {};
  facts_.name = std::move(*name);
  if (assigned_ || placement_.table.rules.has_thread_rules()) return false;
  const auto decision =
      decide(placement_.table.rules, *process_, facts_, {.memo = placement_.memo});
  if (!decision) return finish(cannot_place(decision.error()));
  if (decision->kind == Decision::Kind::unmatched) return finish(Assignment::Kind::unmatched);
  rule_ = decision->rule;
  result_.rule = rule_;
  if (decision->kind == Decision::Kind::left) return finish(Assignment::Kind::left);
  result_.kind = Assignment::Kind::in_group;
  return false;
}

// The threads of the next pass. True if there is nothing more to look at.
bool Visit::list_threads() {
  if (threads_.passes >= (threads_.all_listed > max_listed ? 2 : max_thread_passes)) return true;
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
    if (!proc::ended(threads.error())) (void)finish(cannot_place(threads.error()));
    return true;
  }
  threads_.listed = std::move(*threads);
  threads_.all_listed += threads_.listed.size();
  return false;
}

// Reads the fact that a template names its monitoring group after.
Result<void> Visit::read_value(const Place& place) {
  if (!place.monitor || !place.exists()) return {};
  const Fact fact = fact_of(place.monitor->value);
  return facts_.has(fact) ? Result<void>() : process_->read(fact, facts_);
}

// Of a template, with the monitoring group for this process; without one while it is not there, or
// if the process has no value.
const Place& Visit::place_of(size_t destination) {
  const Place& place = placement_.table.places[destination];
  if (!place.monitor || !place.exists()) return place;
  const auto [known, is_new] = by_template_.try_emplace(destination, place);
  Place& out = known->second;
  if (!is_new) return out;
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
  const RuleTable& table = placement_.table;
  const bool listed = !place.monitor && options_.in_place != nullptr &&
                      std::ranges::binary_search((*options_.in_place)[destination], tid);
  const std::string_view control_group = control_group_of(place.directory);
  // A control group lists the threads of its monitoring groups too.
  const bool by_value = table.counted_by_value.contains(control_group);
  if (listed && !by_value) return Where::in_group;
  // The lists were read before: a thread may have come into its group since.
  const auto now = process_->read_thread_group(tid);
  // Another process may have its id by now: nothing is to be done for one that has ended.
  if (!now && proc::ended(now.error())) return Where::in_group;
  if (!now) return listed || (place.own_only && !place.monitor) ? Where::in_group : Where::unknown;
  const bool there = place.monitor && place.mon_group != nullptr ? *now == place.directory
                                                                 : table.is_at(destination, *now);
  if (there) return Where::in_group;
  const bool to_count =
      (place.monitor && *now == control_group) || (by_value && table.mon_groups.contains(*now));
  return to_count && control_group_of(*now) == control_group ? Where::uncounted : Where::elsewhere;
}

// False if there is no point in going on with the other threads.
bool Visit::put(pid_t tid, size_t rule) {
  const size_t destination = placement_.table.rules.rules()[rule].destination;
  if (const auto read = read_value(placement_.table.places[destination]); !read)
    return finish(cannot_place(read.error()));
  const Place& place = place_of(destination);
  if (!place.exists()) return finish(Assignment::Kind::unmatched);
  const Where before = where(tid, destination, place);
  if (before == Where::in_group) return true;
  if (before != Where::uncounted && options_.only_report != nullptr &&
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
      (void)finish(cannot_place(error));
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
  if (now ? is_in_group(*now, assigned_->place.directory) : proc::ended(now.error())) return;
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
                                            : cannot_place(name.error()));
  if (*name == *facts_.name || ++threads_.attempts >= max_renames) return true;
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

}  // namespace rdtd
