// Loading a policy: files, lock, plan, steps, rules, a look at all processes, removals.
#include "rdtd/daemon/manager.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "log.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// The classifier answers within microseconds; if it does not, work goes on without it.
constexpr std::chrono::seconds max_wait_for_classifier{2};
// A group that cannot be made again must not keep the daemon busy.
constexpr std::chrono::seconds renewal_interval{1};
// Each holds the files of its groups open.
constexpr size_t max_unreleased = 8;

std::string matched_text(const std::map<std::string, size_t>& matched) {
  std::vector<std::string> parts;
  for (const auto& [group, processes] : matched)
    parts.push_back(fmt::format("{} {}", group, processes));
  return parts.empty() ? "no process matches" : fmt::format("processes: {}", join(parts, ", "));
}

std::shared_ptr<const InForce> nothing_in_force() {
  auto out = std::make_shared<InForce>();
  out->table = std::make_shared<RuleTable>();
  return out;
}

LogEvent event_of(Refusal::Kind kind) {
  switch (kind) {
    case Refusal::Kind::out_of_closids: return LogEvent::out_of_closids;
    case Refusal::Kind::not_supported: return LogEvent::wrong_mount_options;
    case Refusal::Kind::kernel_rejected:
    case Refusal::Kind::busy: return LogEvent::kernel_refused;
    default: return LogEvent::reload_failed;
  }
}

}  // namespace

Manager::Manager(System system, Ownership ownership, Directory state)
    : system_(std::move(system)),
      manual_(std::move(state)),
      applier_(system_, std::move(ownership)),
      guard_(applier_),
      sweeper_(system_, manual_,
               [this](pid_t pid, const Assignment& assignment, const RuleTable& table) {
                 observer_.on_assigned(pid, group_label(table.rules.group_of(assignment.rule)),
                                       table.rules.rules()[assignment.rule].where.text());
               }),
      changes_(
          system_,
          [this] {
            if (guard_.clear_problem(Guard::lock_problem)) observer_.state_changed();
          },
          [this](const std::string& why) { problem(Guard::lock_problem, why); }),
      in_force_(nothing_in_force()) {
  if (const auto loaded = manual_.load(system_.processes); !loaded)
    spdlog::warn("{}; manual assignments are left to the rules", loaded.error().text());
  sweeper_.use(in_force_->table);
}

void Manager::problem(const std::string& key, const std::string& text,
                      const std::string& public_text) {
  if (guard_.set_problem(key, text, public_text)) log(LogEvent::kernel_refused, text);
}

void Manager::replace(std::shared_ptr<const InForce> in_force) {
  in_force_ = std::move(in_force);
  group_list_.reset();
  locks_.reset();
}

void Manager::admit(resctrl::Admit who) {
  if (const auto done = system_.admit(who); !done) problem("readers", done.error().text());
}

// Hands the rules to the classifier, and goes on once it uses them: only then is a process that is
// looked at safe from the old rules.
void Manager::publish(std::function<void()> then) {
  sweeper_.use(in_force_->table);
  awaited_table_ = observer_.publish(in_force_->table);
  if (awaited_table_ == 0) {
    when_taken_ = nullptr;
    return then();
  }
  when_taken_ = std::move(then);
  taken_deadline_ = system_.now() + max_wait_for_classifier;
}

void Manager::table_taken(uint64_t number) {
  if (number < awaited_table_) return;
  if (const auto then = std::exchange(when_taken_, nullptr)) then();
}

// What changes the state in force is done one after the other, each to its end: a load lasts until
// all processes were looked at.
void Manager::begin(std::function<void()> job) {
  jobs_.push_back(std::move(job));
  next_job();
}

void Manager::next_job() {
  if (busy_ || jobs_.empty()) return;
  busy_ = true;
  const auto job = std::move(jobs_.front());
  jobs_.pop_front();
  job();
}

void Manager::finished() {
  busy_ = false;
  next_job();
}

void Manager::refused(const Refusal& refusal) {
  last_reload_error_ = trim(refusal.text);
  last_reload_error_public_ = trim(refusal.text_for(false));
  log(event_of(refusal.kind),
      fmt::format("the policy was not applied{}:\n{}",
                  in_force_->groups.empty() ? "" : ", the previous one stays in force",
                  last_reload_error_),
      refusal.where);
}

// The files as they are now are in force.
void Manager::succeeded(LogEvent event) {
  last_reload_error_.clear();
  last_reload_error_public_.clear();
  last_reload_timestamp_ = system_.realtime_usec();
  log(event, summary_);
}

void Manager::load_and_apply(Applier::Request request, Done done) {
  changes_.run([this, request = std::move(request), done = std::move(done)]() mutable {
    const auto fitted = fit_leases(request);
    if (!fitted) return done(std::unexpected(fitted.error()));
    apply_now(std::move(request),
              [this, unfit = *fitted, done](const std::expected<void, Refusal>& applied) {
                if (applied)
                  for (const auto& [name, why] : unfit)
                    if (leases_.contains(name))
                      lease_ended(name, why);  // else it has ended by itself
                done(applied);
              });
  });
}

// The caller holds the lock of resctrl.
void Manager::apply_now(Applier::Request request, Done done) {
  (void)system_.admit(readers());  // root may make groups: if not, that fails
  auto applied = applier_.apply(std::move(request), in_force_->users);
  if (applied) return put_in_force(std::move(*applied), std::move(done));
  if (applier_.made_groups_again()) {
    renew_table([] {});
    sweeper_.sweep({.only_report_moved = reports_only()});
  }
  done(std::unexpected(applied.error()));
}

void Manager::put_in_force(Applier::Applied applied, Done done) {
  const std::shared_ptr<const RuleTable> previous = in_force_->table;
  replace(applied.in_force);
  wanted_files_.clear();
  ended_in_force_ = false;
  drift_.clear();
  guard_.forget();
  admit(readers());
  for (const auto& [group, error] : applied.unmade) log(LogEvent::kernel_refused, error.text());
  for (const auto& [group, why] : applied.without_counters) log(LogEvent::kernel_refused, why);
  guard_.make_later(std::move(applied.unmade));
  guard_.assign_later(applied.without_counters);
  retry_soon();
  processes_by_rule_.clear();
  publish([this, previous, applied = std::move(applied), done = std::move(done)]() mutable {
    observer_.rules_changed();
    restore_manual();
    sweeper_.sweep({.previous = previous,
                    .patience = Sweeper::max_patience,
                    .done = [this, previous, applied = std::move(applied),
                             done = std::move(done)](const Result<SweepResult>& swept) {
                      if (!swept || swept->unreleased > 0) unreleased_.push_back(previous);
                      if (unreleased_.size() > max_unreleased) unreleased_.pop_front();
                      remove_groups(applied.removals, [this, applied, swept, done] {
                        finish_load(applied, swept, done);
                      });
                    }});
  });
}

// Groups that nobody is in any more. One that stays does no harm; the next reconcile tries again.
void Manager::remove_groups(std::vector<Step> removals, std::function<void()> then) {
  if (removals.empty()) return then();
  changes_.run([this, removals = std::move(removals), then = std::move(then)] {
    const auto machine = applier_.read_machine();
    for (const Step& removal : removals) {
      // Since the steps were planned, another tool may have removed it and made it again.
      if (machine && !machine->snapshot.owned.contains(group_of(removal))) continue;
      const auto removed =
          machine ? applier_.carry_out({removal}, *machine) : std::unexpected(machine.error());
      if (!removed) problem("remove " + group_of(removal), removed.error().text());
    }
    then();
  });
}

void Manager::finish_load(const Applier::Applied& applied, const Result<SweepResult>& swept,
                          const Done& done) {
  const Policy& policy = in_force_->policy;
  // A region that still has to go leaves its ways to the default group.
  if (policy.divides_nothing() && in_force_->missing.empty()) applier_.release_default_group();
  note_sweep(swept);
  unexamined_ = !swept               ? swept.error().text()
                : swept->unknown > 0 ? cannot_be_examined(*swept)
                                     : "";
  report_missing();
  if (const std::string warnings = format_diagnostics(in_force_->warnings, policy.sources);
      !warnings.empty())
    spdlog::warn("{}", trim(warnings));
  const SweepResult found = swept.value_or(SweepResult{});
  summary_ = fmt::format("policy in force: {}, {}, {}; {}, {} moved, {} released",
                         counted(in_force_->groups.size(), "group"),
                         counted(in_force_->table->rules.rules().size(), "rule"),
                         counted(applied.steps, "step"), matched_text(found.matched),
                         counted(found.moved, "thread"), found.released);
  // Any user can cause this: it is no problem of the daemon's.
  if (found.undecided > 0)
    summary_ += fmt::format("; {} not decided about yet, since command lines cannot be read",
                            counted(found.undecided, "process", "processes"));
  adopted_ = applied.adopted;
  if (!adopted_.empty())
    spdlog::info("took over groups that rdtd did not make: {}", join(adopted_, ", "));
  done({});
}

void Manager::start(Done done) {
  begin([this, done = std::move(done)] {
    std::vector<PolicyFile> files = system_.policy_files();
    load_and_apply({.fit = Applier::Fit::what_fits, .files = files},
                   [this, files, done](const std::expected<void, Refusal>& loaded) {
                     if (loaded)
                       succeeded(LogEvent::applied);
                     else
                       refused(loaded.error());
                     // The machine may permit it later.
                     if (!loaded && loaded.error().kind != Refusal::Kind::invalid_policy)
                       wanted_files_ = files;
                     done(loaded);
                     finished();
                   });
  });
}

void Manager::reload(Done done) {
  // Requests that wait for the same reload are served by it, unless something else comes between.
  if (waiting_reload_) return waiting_reload_->push_back(std::move(done));
  const auto requests = std::make_shared<std::vector<Done>>();
  requests->push_back(std::move(done));
  waiting_reload_ = requests;
  begin([this, requests] {
    if (waiting_reload_ == requests) waiting_reload_.reset();
    reload_now({.files = system_.policy_files()},
               [this, requests](const std::expected<void, Refusal>& loaded) {
                 const auto answer = loaded ? all_examined() : loaded;
                 for (const Done& request : *requests) request(answer);
               });
  });
}

std::expected<void, Refusal> Manager::all_examined() const {
  if (unexamined_.empty()) return {};
  return std::unexpected(
      Refusal{Refusal::Kind::busy, "the policy is in force, but " + unexamined_});
}

// The job of a reload, to its end.
void Manager::reload_now(Applier::Request request, Done done) {
  observer_.before_reload();
  load_and_apply(std::move(request),
                 [this, done = std::move(done)](const std::expected<void, Refusal>& loaded) {
                   if (loaded)
                     succeeded(LogEvent::reloaded);
                   else
                     refused(loaded.error());
                   observer_.after_reload(loaded.has_value());
                   done(loaded);
                   finished();
                 });
}

void Manager::reset(Done done) {
  waiting_reload_.reset();
  begin([this, done = std::move(done)] {
    observer_.before_reload();
    auto table = applier_.make_table(std::make_shared<const RuleSet>(), {}, {});
    auto nothing = std::make_shared<InForce>();
    nothing->policy.daemon = in_force_->policy.daemon;
    nothing->table = table ? std::move(*table) : std::make_shared<RuleTable>();
    replace(std::move(nothing));
    end_all_leases("rdtd removed all of its groups");
    ended_in_force_ = false;
    wanted_files_.clear();
    drift_.clear();
    guard_.forget();
    manual_.clear();
    store();
    // First the rules, so that nobody is put in a group that is going.
    publish([this, done] {
      observer_.rules_changed();
      changes_.run([this, done] { finish_reset(applier_.remove_all(), done); });
    });
  });
}

void Manager::finish_reset(const Result<void>& removed, const Done& done) {
  last_reload_error_ = last_reload_error_public_ = removed ? "" : removed.error().text();
  if (removed)
    spdlog::info(
        "all groups that rdtd made were removed; no policy is in force until the next reload");
  else
    log(LogEvent::kernel_refused, last_reload_error_);
  admit(resctrl::Admit::before);
  observer_.after_reload(removed.has_value());
  done(removed ? std::expected<void, Refusal>{} : std::unexpected(refusal(removed.error())));
  finished();
}

Result<void> Manager::remove_all() {
  manual_.clear();
  store();
  Result<void> removed;
  {
    const auto lock = system_.resctrl.lock();
    removed = applier_.remove_all();
  }
  admit(resctrl::Admit::before);  // last: under the kernel's mode, root may not remove groups
  return removed;
}

// Opens the `tasks` files again, for groups that were removed and made again under the same name.
void Manager::renew_table(std::function<void()> then) {
  auto table =
      applier_.make_table(in_force_->table->rule_set, in_force_->policy.groups, in_force_->taken);
  if (!table) {
    problem("table", table.error().text());
    return then();
  }
  guard_.clear_problem("table");
  auto renewed = std::make_shared<InForce>(*in_force_);
  renewed->table = std::move(*table);
  replace(std::move(renewed));
  restore_manual();
  publish(std::move(then));
}

// A manual assignment outlives its group if the group is made again, and ends if the policy has no
// such group any more.
void Manager::restore_manual() {
  if (in_force_->groups.empty()) return;  // no policy has been in force yet
  for (const ManualAssignments::Held& held : manual_.all()) {
    const pid_t pid = held.process->pid();
    const std::string directory = group_directory(held.group);
    if (!in_force_->has(directory)) {
      spdlog::info(
          "process {} was assigned to group '{}' manually; the policy has no such group "
          "any more, and the rules decide",
          pid, held.group);
      manual_.remove(pid);
      continue;
    }
    if (in_force_->taken.contains(directory)) continue;
    const auto now = held.process->read_thread_group(pid);
    if (now && (*now == directory || control_group_of(*now) == directory)) continue;
    const int error = put_into(*held.process, directory);
    if (error != 0 && error != ESRCH)
      spdlog::warn("cannot put process {} in group '{}' again: {}", pid, held.group,
                   std::strerror(error));
  }
  store();
}

void Manager::visit_thread(pid_t tid) {
  const auto thread = system_.processes.open(tid);
  const auto pid = thread ? (*thread)->read_process() : std::unexpected(thread.error());
  if (pid) sweeper_.visit({.pid = *pid});
  if (!pid && !proc::ended(pid.error())) observer_.visits_lost();
}

void Manager::store() {
  for (const auto& stored : {manual_.store(), applier_.store()}) {
    if (stored) continue;
    problem("store", stored.error().text() + ": a restart will not know what rdtd has made");
    return;
  }
  guard_.clear_problem("store");
}

void Manager::step(Time deadline) {
  const Time now = system_.now();
  if (when_taken_ && now >= taken_deadline_) {
    spdlog::warn("the classifier does not use the new rules yet, after {} s",
                 max_wait_for_classifier.count());
    table_taken(awaited_table_);
  }
  if (changes_.next_due() <= now) changes_.step();
  if (sweeper_.next_due() <= now) (void)sweeper_.slice(deadline);
  if (sweeper_.take_overflow()) observer_.visits_lost();
  if (comparison_due_ <= now) start_comparison(now);
  if (sweeper_.table_out_of_date() && now >= next_renewal_) {
    next_renewal_ = now + renewal_interval;
    reconcile();
  }
}

Manager::Time Manager::next_due() const {
  const Time taken = when_taken_ ? taken_deadline_ : Time::max();
  const Time renewal = sweeper_.table_out_of_date() ? next_renewal_ : Time::max();
  return std::min({taken, renewal, comparison_due_, changes_.next_due(), sweeper_.next_due()});
}

}  // namespace rdtd
