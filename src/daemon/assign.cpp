#include "rdtd/daemon/assign.hpp"

#include <algorithm>
#include <cerrno>
#include <set>

#include "rdtd/base/text.hpp"

namespace rdtd {

Decision decide(const RuleSet& rules, const Process& process, ProcessFacts& facts) {
  thread_local CgroupMemo memo;  // the threads share the rules, but not this
  while (true) {
    const Decision decision = rules.match(facts, &memo);
    if (decision.kind != Decision::Kind::needs_fact) return decision;
    process.read(decision.fact, facts);
  }
}

namespace {

// A process that makes threads faster than they can be looked at is left to the next reconcile.
constexpr int most_passes = 16;

// Every thread but those in `seen`. One that is born from another not yet moved begins in the old
// group: until a pass finds none new, or `visit` returns false.
template <class Visit>
void visit_threads(const Process& process, std::set<pid_t> seen, Visit visit) {
  bool found_new = true;
  for (int pass = 0; pass < most_passes && found_new; pass++) {
    found_new = false;
    for (const pid_t tid : process.threads()) {
      if (!seen.insert(tid).second) continue;
      found_new = true;
      if (!visit(tid)) return;
    }
  }
}

class Assigner {
 public:
  Assigner(const RuleTable& table, const Process& process, const Placed* placed, AssignMode mode)
      : table_(table), process_(process), placed_(placed), mode_(mode) {}

  Assignment as_a_whole(ProcessFacts& facts, OtherThreads others) {
    const Decision decision = decide(table_.rules, process_, facts);
    if (decision.kind == Decision::Kind::unmatched) return {};
    Assignment out{Assignment::Kind::in_group, decision.rule};
    if (!put(process_.pid(), decision.rule, out)) return out;
    if (others == OtherThreads::later || process_.thread_count() <= 1) return out;
    visit_threads(process_, {process_.pid()}, [&](pid_t tid) {
      put(tid, decision.rule, out);
      return true;
    });
    return out;
  }

  Assignment thread_by_thread(ProcessFacts& facts) {
    Assignment out;
    one_thread(process_.pid(), facts, out);
    if (process_.thread_count() > 1)
      visit_threads(process_, {process_.pid()}, [&](pid_t tid) {
        one_thread(tid, facts, out);
        return true;
      });
    return out;
  }

  Assignment single_thread(pid_t tid, ProcessFacts& facts) {
    Assignment out;
    one_thread(tid, facts, out);
    return out;
  }

 private:
  void one_thread(pid_t tid, ProcessFacts& facts, Assignment& out) {
    facts.thread = tid == process_.pid() ? facts.name : process_.read_thread_name(tid);
    if (!facts.thread) return;
    const Decision decision = decide(table_.rules, process_, facts);
    if (decision.kind != Decision::Kind::matched) return;
    if (out.kind == Assignment::Kind::unmatched)
      out = {Assignment::Kind::in_group, decision.rule, out.moved, 0};
    put(tid, decision.rule, out);
  }

  // False where the process has ended or the kernel refuses.
  bool put(pid_t tid, size_t rule, Assignment& out) {
    const size_t group = table_.rules.rules()[rule].destination;
    // The list was read before the scan began: what has come into the group since is in its place
    // too.
    if (placed_ != nullptr && (std::ranges::binary_search((*placed_)[group], tid) ||
                               process_.read_thread_group(tid) == table_.rules.group_of(rule)))
      return true;
    const int error = mode_ == AssignMode::move ? add_task(table_.tasks[group].get(), tid) : 0;
    if (mode_ == AssignMode::move && error == 0)
      table_.counters[group]->moved.fetch_add(1, std::memory_order_relaxed);
    if (error != 0 && error != ESRCH)
      table_.counters[group]->refused.fetch_add(1, std::memory_order_relaxed);
    if (error == 0) out.moved++;
    if (error == ESRCH && tid == process_.pid()) out.kind = Assignment::Kind::gone;
    if (error != 0 && error != ESRCH) {
      out.kind = Assignment::Kind::refused;
      out.error = error;
    }
    return error == 0;
  }

  const RuleTable& table_;
  const Process& process_;
  const Placed* placed_;
  AssignMode mode_;
};

// A process ended while its pid was written to `tasks`, and another may have got that pid: it is
// put where its own facts or, where no rule speaks of it, its parent's group want it.
Assignment put_right(const RuleTable& table, const ProcFs& proc, pid_t pid) {
  const Assignment again = assign(table, proc, pid, OtherThreads::now, nullptr, AssignMode::move);
  if (again.kind != Assignment::Kind::unmatched) return again;
  const auto process = proc.open(pid);
  const auto parent = process ? proc.open(process->read_parent()) : std::nullopt;
  const auto group = parent ? parent->read_thread_group(parent->pid()) : std::nullopt;
  const auto& groups = table.rules.destinations();
  const auto known = group ? std::ranges::find(groups, *group, &Destination::group) : groups.end();
  (void)add_task(known == groups.end()
                     ? table.root_tasks.get()
                     : table.tasks[static_cast<size_t>(known - groups.begin())].get(),
                 pid);
  return {Assignment::Kind::gone};
}

// Looks, moves, and looks again until the process is still what it was when it was looked at.
template <class Move>
Assignment until_settled(const RuleTable& table, const ProcFs& proc, const Process& process,
                         AssignMode mode, Move move) {
  ProcessFacts facts;
  facts.name = process.read_name();
  size_t moved = 0;
  // A process that keeps renaming itself is left to the events that its renames send.
  for (int attempt = 0; attempt < 3; attempt++) {
    if (!facts.name) return {Assignment::Kind::gone};
    Assignment out = move(facts);
    moved += out.moved;
    out.moved = moved;
    if (moved == 0 || mode == AssignMode::report) return out;
    auto name = process.read_name();
    if (!name) return put_right(table, proc, process.pid());
    if (*name == *facts.name) return out;
    facts = {};
    facts.name = std::move(name);
  }
  return {Assignment::Kind::unmatched, 0, moved, 0};
}

}  // namespace

Assignment assign(const RuleTable& table, const ProcFs& proc, pid_t pid, OtherThreads others,
                  const Placed* placed, AssignMode mode) {
  if (table.by_hand->hold(pid)) return {};
  const auto process = proc.open(pid);
  if (!process) return {Assignment::Kind::gone};
  Assigner assigner(table, *process, placed, mode);
  return until_settled(table, proc, *process, mode, [&](ProcessFacts& facts) {
    return table.rules.has_thread_rules() ? assigner.thread_by_thread(facts)
                                          : assigner.as_a_whole(facts, others);
  });
}

Assignment assign_thread(const RuleTable& table, const ProcFs& proc, pid_t pid, pid_t tid) {
  if (table.by_hand->hold(pid)) return {};
  const auto process = proc.open(pid);
  if (!process) return {Assignment::Kind::gone};
  Assigner assigner(table, *process, nullptr, AssignMode::move);
  return until_settled(table, proc, *process, AssignMode::move,
                       [&](ProcessFacts& facts) { return assigner.single_thread(tid, facts); });
}

int assign_all_threads(const Process& process, int tasks_fd) {
  int error = 0;
  visit_threads(process, {}, [&](pid_t tid) {
    error = add_task(tasks_fd, tid);
    if (error == ESRCH) error = 0;  // it has ended
    return error == 0;
  });
  return error;
}

SecondLook second_look(const RuleTable& table, const ProcFs& proc, pid_t pid) {
  SecondLook out;
  const size_t threads = proc.thread_count(pid);
  if (threads == 0) return out;
  if (threads > 1)
    out.moved += assign(table, proc, pid, OtherThreads::now, nullptr, AssignMode::move).moved;
  for (const pid_t child : proc.children(pid)) {
    const Placed nowhere(table.rules.destinations()
                             .size());  // a child that inherited the group is not written again
    const Assignment assignment =
        assign(table, proc, child, OtherThreads::now, &nowhere, AssignMode::move);
    out.moved += assignment.moved;
    if (assignment.moved > 0) out.children.push_back(child);
  }
  return out;
}

}  // namespace rdtd
