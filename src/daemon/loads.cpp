#include "rdtd/daemon/loads.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "log.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/guard_lease.hpp"

namespace rdtd {

namespace {

// Each holds the files of its groups open.
constexpr size_t max_unreleased = 8;

std::string matched_text(const std::map<std::string, size_t>& matched) {
  std::vector<std::string> parts;
  for (const auto& [group, processes] : matched)
    parts.push_back(fmt::format("{} {}", group, processes));
  return parts.empty() ? "no process matches" : fmt::format("processes: {}", join(parts, ", "));
}

std::string found_text(const SweepResult& found) {
  std::string out = fmt::format("{}, {} moved, {} released", matched_text(found.matched),
                                counted(found.moved, "thread"), found.released);
  // Any user can cause this: it is no problem of the daemon's.
  if (found.undecided > 0)
    out += fmt::format("; {} not decided about yet, since command lines cannot be read",
                       counted(found.undecided, "process", "processes"));
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

void Loads::start(Done done) {
  core_.jobs.add("start", [this, done = std::move(done)] { return run_start(done); });
}

Task<> Loads::run_start(Done done) {
  const std::vector<PolicyFile> files = core_.system.policy_files();
  Applier::Request request{.fit = Applier::Fit::what_the_kernel_takes, .files = files};
  const Outcome loaded = co_await load(std::move(request));
  if (loaded)
    succeeded(LogEvent::applied);
  else
    refused(loaded.error());
  // The machine may permit it later.
  if (!loaded && loaded.error().kind != Refusal::Kind::invalid_policy) {
    core_.state.put_off.first(files);
    core_.retry_soon();
  }
  done(loaded);
}

void Loads::reload(Done done) {
  if (!done)
    done = [this](const Outcome& loaded) {
      // Processes that cannot be examined are no reason to try again: the policy is in force.
      if (!core_.state.last_reload.error.empty()) put_off_reload(loaded.error());
    };
  // Requests that wait for the same reload are served by it, unless something else comes between.
  if (waiting_reload_) return waiting_reload_->push_back(std::move(done));
  const auto requests = std::make_shared<std::vector<Done>>();
  requests->push_back(std::move(done));
  waiting_reload_ = requests;
  core_.jobs.add("reload", [this, requests] { return run_reload(requests); });
}

void Loads::put_off_reload(const Refusal& refusal) {
  PutOffLoad& put_off = core_.state.put_off;
  if (put_off.is_first()) return;
  if (refusal.kind == Refusal::Kind::invalid_policy) return put_off.forget();
  put_off.reload(core_.system.now());
  core_.retry_soon();
  core_.observer.state_changed();
}

// Nobody hears of attempts of which the plan says that they would fail.
Task<bool> Loads::reload_again() {
  Applier::Request request{.files = core_.system.policy_files()};
  const auto fitted = fit_leases(request);
  const auto planned =
      fitted ? core_.applier.load(request, *core_.state.in_force) : std::unexpected(fitted.error());
  if (!planned) {
    refused(planned.error());
    put_off_reload(planned.error());
    co_return false;
  }
  const Outcome loaded = co_await reload_now(std::move(request));
  if (loaded)
    core_.state.put_off.forget_reload();
  else
    put_off_reload(loaded.error());
  co_return loaded.has_value();
}

Task<> Loads::run_reload(std::shared_ptr<std::vector<Done>> requests) {
  if (waiting_reload_ == requests) waiting_reload_.reset();
  core_.state.put_off.forget_reload();
  Applier::Request request{.files = core_.system.policy_files()};
  const Outcome loaded = co_await reload_now(std::move(request));
  const Outcome answer = loaded ? all_examined() : loaded;
  for (const Done& one : *requests) one(answer);
  // A user who asks for a reload may have reasons to, so all processes are looked at. Nobody waits
  // for that.
  if (loaded && !looked_)
    core_.sweeper.sweep({.done = [this](const Result<SweepResult>& swept) {
      core_.note_sweep(swept);
      (void)assignments_.restore();
      core_.observer.state_changed();
    }});
}

Task<Loads::Outcome> Loads::reload_now(Applier::Request request) {
  core_.observer.before_reload();
  PutOffLoad& put_off = core_.state.put_off;
  std::vector<PolicyFile> files = put_off.is_first() ? request.files : decltype(request.files){};
  Outcome loaded = co_await load(std::move(request));
  if (loaded) {
    succeeded(LogEvent::reloaded);
  } else {
    refused(loaded.error());
    // While nothing is in force, these are tried as the first ones were.
    if (put_off.is_first() && loaded.error().kind != Refusal::Kind::invalid_policy)
      put_off.first(std::move(files));
    else
      put_off.newer_files_are_no_policy();
  }
  core_.observer.after_reload(loaded.has_value());
  co_return loaded;
}

Task<Loads::Outcome> Loads::load(Applier::Request request, Report report) {
  ResctrlLock::Right right = co_await core_.jobs.lock();
  const auto unfit = fit_leases(request);
  if (!unfit) co_return std::unexpected(unfit.error());
  Outcome applied = co_await apply(std::move(request), std::move(right), report);
  if (applied)
    for (const auto& [name, why] : *unfit)
      if (core_.leases.contains(name)) lease_ended(name, why);  // else it has ended by itself
  co_return applied;
}

Task<Loads::Outcome> Loads::apply(Applier::Request request, ResctrlLock::Right right,
                                  Report report) {
  (void)core_.system.admit(core_.readers());  // root may make groups: if not, that fails
  auto applied = core_.applier.apply(std::move(request), *core_.state.in_force);
  if (!applied) {
    right = {};
    // A difference that a failed undo has left is nobody's drift.
    if (core_.applier.failure().not_undone) {
      core_.drift_check.expect_reset();
      core_.compare_within(GrowingPause::shortest);
    }
    if (core_.applier.failure().made_again) {
      co_await renew_table();
      core_.sweeper.sweep({.only_report_moved = core_.reports_only()});
    }
    co_return std::unexpected(applied.error());
  }
  const std::shared_ptr<const InForce> before = core_.state.in_force;
  looked_ = !applied->moves_nobody || !all_examined_;
  const std::vector<std::string> known =
      report == Report::all ? std::vector<std::string>{} : core_.problems.texts(true);
  put_in_force(*applied);
  log_lacks(*applied, known);
  right = {};
  if (core_.state.in_force->table != before->table) {
    co_await publish();
    core_.observer.rules_changed();
    assignments_.restore();
  }
  std::optional<Result<SweepResult>> swept;
  if (looked_) {
    Sweep::All all{.previous = before->table,
                   .owned = core_.applier.last_owned(),
                   .patience = Sweep::max_patience};
    swept = co_await look_at_all(std::move(all));
    note_look(*swept, before->table);
  }
  co_await remove_groups(std::move(applied->removals));
  log_warnings(report == Report::all ? nullptr : before.get());
  finish(*applied, swept);
  co_return Outcome{};
}

void Loads::note_look(const Result<SweepResult>& swept,
                      const std::shared_ptr<const RuleTable>& previous) {
  if (!swept || swept->unreleased > 0 || swept->unread) unreleased_.push_back(previous);
  if (unreleased_.size() > max_unreleased) unreleased_.pop_front();
  core_.note_sweep(swept);
  unexamined_ = !swept               ? swept.error().text()
                : swept->unread      ? swept->unread->text()
                : swept->unknown > 0 ? cannot_be_examined(*swept)
                                     : "";
  all_examined_ = swept && !swept->unread && swept->unknown + swept->refused == 0;
}

// Whether the policy has narrowed the ranges of the guard since its lease was given.
bool Loads::goes_beyond(const Policy& policy) const {
  return std::ranges::any_of(core_.leases.all(), [&](const Leases::Lease& lease) {
    return beyond_guard(policy, lease_file(lease.name, lease.policy), lease.uid).has_value();
  });
}

// Adds to a load the leases that still fit. The others end once it has succeeded: the policy files
// do not wait for them.
std::expected<Loads::LeasesThatEnd, Refusal> Loads::fit_leases(Applier::Request& request) {
  const InForce& now = *core_.state.in_force;
  request.leases = core_.leases.files();
  if (request.leases.empty()) return LeasesThatEnd{};
  // Read once: a reading that fails ends no lease.
  const auto machine = core_.applier.read_machine();
  if (!machine) return std::unexpected(refusal(machine.error()));
  const auto whole = core_.applier.load_on(*machine, request, now);
  if (whole && !goes_beyond(whole->prepared.policy)) return LeasesThatEnd{};
  LeasesThatEnd unfit;
  const std::vector<PolicyFile> all = std::exchange(request.leases, {});
  // An error of the policy itself is reported without those that leases have with it.
  if (const auto alone = core_.applier.load_on(*machine, request, now); !alone)
    return std::unexpected(alone.error());
  for (size_t i = 0; i < all.size(); i++) {
    request.leases.push_back(all[i]);
    const Leases::Lease& lease = core_.leases.all()[i];
    const auto loaded = core_.applier.load_on(*machine, request, now);
    const auto beyond =
        loaded ? beyond_guard(loaded->prepared.policy, all[i], lease.uid) : std::nullopt;
    if (loaded && !beyond) continue;
    request.leases.pop_back();
    unfit.emplace(lease.name, beyond ? "with the changed policy, " + printable(*beyond)
                                     : fmt::format("the policy has no place for it:\n{}",
                                                   trim(loaded.error().text_for(false))));
  }
  return unfit;
}

void Loads::lease_ended(const std::string& name, const std::string& reason) {
  spdlog::info("lease '{}' ended: {}", name, reason);
  core_.leases.remove(name);
  core_.observer.on_lease_ended(name, reason);
}

void Loads::forget_policy(bool left_others, bool looked) {
  if (core_.state.put_off.is_first()) core_.state.put_off.forget();
  core_.state.ended_in_force.reset();
  core_.state.drift.clear();
  core_.problems.forget_policy(looked);
  core_.drift_check.forget(left_others);
}

// Drift that only a look at the processes finds holds until the next look. Changes by others that
// this load has left are no news at the next comparison.
void Loads::forget_before_load(bool left_others) {
  std::vector<Drift> kept;
  std::ranges::copy_if(core_.state.drift, std::back_inserter(kept), [&](const Drift& drift) {
    return !drift.restored && (drift.group ? left_others : !looked_);
  });
  forget_policy(left_others, looked_);
  core_.state.drift = std::move(kept);
  if (looked_) core_.state.processes_by_rule.clear();
}

void Loads::put_in_force(Applier::Applied& applied) {
  core_.state.in_force = applied.in_force;
  forget_before_load(applied.left_others);
  core_.admit(core_.readers());
  if (!applied.unopened.empty()) core_.problems.report("table", applied.unopened.front().text());
  core_.drift_check.monitoring().make_later(applied.unmade);
  core_.drift_check.monitoring().assign_later(applied.without_counters);
  core_.retry_soon();
}

Task<> Loads::publish() {
  std::function<void(std::function<void(bool)>)> begin = [this](std::function<void(bool)> then) {
    core_.publisher.publish(core_.state.in_force->table, std::move(then));
  };
  auto published = core_.jobs.result<bool>(Stage::classifier, std::move(begin));
  (void)co_await published;
}

Task<Result<SweepResult>> Loads::look_at_all(Sweep::All all) {
  std::function<void(std::function<void(Result<SweepResult>)>)> begin =
      [this, &all](std::function<void(Result<SweepResult>)> then) {
        all.done = std::move(then);
        core_.sweeper.sweep(std::move(all));
      };
  auto swept = core_.jobs.result<Result<SweepResult>>(Stage::processes, std::move(begin));
  co_return co_await swept;
}

// Groups that nobody is in any more. One that stays does no harm; the next reconcile tries again.
Task<> Loads::remove_groups(std::vector<Step> removals) {
  if (removals.empty()) co_return;
  const ResctrlLock::Right right = co_await core_.jobs.lock();
  const auto machine = core_.applier.read_machine();
  for (const Step& removal : removals) {
    // Since the steps were planned, another tool may have removed it and made it again.
    if (machine && !machine->snapshot.owned.contains(group_of(removal))) continue;
    const auto removed = machine ? core_.applier.executor().carry_out({removal}, *machine)
                                 : std::unexpected(machine.error());
    if (!removed) core_.problems.report("remove " + group_of(removal), removed.error().text());
  }
}

// Those that `before` had were logged already. A policy can cause very many.
void Loads::log_warnings(const InForce* before) const {
  const InForce& in_force = *core_.state.in_force;
  std::set<std::pair<Location, std::string_view>> known;
  if (before != nullptr)
    for (const Diagnostic& warning : before->warnings)
      known.emplace(warning.where, warning.message);
  std::vector<Diagnostic> warnings = in_force.warnings;
  std::erase_if(warnings, [&](const Diagnostic& warning) {
    return known.contains({warning.where, warning.message});
  });
  if (const std::string text = format_diagnostics(warnings, in_force.policy.sources); !text.empty())
    spdlog::warn("{}", trim(text));
}

void Loads::log_lacks(const Applier::Applied& applied, const std::vector<std::string>& known) {
  const auto log_new = [&](const std::string& text) {
    if (std::ranges::find(known, text) == known.end()) log(LogEvent::kernel_refused, text);
  };
  for (const auto& [group, error] : applied.unmade) log_new(error.text());
  for (const auto& [group, why] : applied.without_counters) log_new(why);
}

void Loads::finish(const Applier::Applied& applied,
                   const std::optional<Result<SweepResult>>& swept) {
  const InForce& in_force = *core_.state.in_force;
  // A region that still has to go leaves its ways to the default group.
  if (in_force.policy.divides_nothing() && in_force.missing.empty())
    core_.applier.release_default_group();
  core_.report_missing();
  summary_ = fmt::format(
      "policy in force: {}, {}, {}; {}", counted(in_force.groups.size(), "group"),
      counted(in_force.table->rules.rules().size(), "rule"), counted(applied.steps, "step"),
      swept ? found_text(swept->value_or(SweepResult{})) : "no rule has changed");
  if (in_force.policy.sources.empty() && applied.steps == 0)
    summary_ =
        "policy in force: none, as there is no policy file; 'rdtctl init' writes a first one";
  core_.retry_soon();  // also a removal or a look that failed
  adopted_ = applied.adopted;
  if (!adopted_.empty())
    spdlog::info("took over groups that rdtd did not make: {}", join(adopted_, ", "));
}

void Loads::refused(const Refusal& refusal) {
  State::LastReload& last = core_.state.last_reload;
  if (core_.state.put_off.is_reload() && last.error == trim(refusal.text)) return;  // known already
  last.error = trim(refusal.text);
  last.public_error = trim(refusal.text_for(false));
  const bool nothing_before = core_.state.in_force->groups.empty();
  log(event_of(refusal.kind),
      fmt::format("the policy was not applied{}:\n{}",
                  nothing_before ? "" : ", the previous one stays in force", last.error),
      refusal.where);
}

void Loads::succeeded(LogEvent event, bool older_files) {
  State::LastReload& last = core_.state.last_reload;
  last.timestamp = core_.system.realtime_usec();
  if (!older_files) last.error = last.public_error = "";
  log(event, summary_);
}

Loads::Outcome Loads::all_examined() const {
  if (unexamined_.empty()) return {};
  return std::unexpected(
      Refusal{Refusal::Kind::incomplete, "the policy is in force, but " + unexamined_});
}

void Loads::reset(Done done) {
  waiting_reload_.reset();
  core_.jobs.add("reset", [this, done = std::move(done)] { return run_reset(done); });
}

Task<> Loads::run_reset(Done done) {
  core_.state.put_off.forget();
  core_.observer.before_reload();
  std::vector<Error> left_out;
  auto table = core_.applier.tables().make(std::make_shared<const RuleSet>(), {}, {},
                                           TableMaker::LeaveOut::monitoring, left_out);
  auto nothing = std::make_shared<InForce>();
  nothing->policy.daemon = core_.state.in_force->policy.daemon;
  nothing->table = table ? std::move(*table) : std::make_shared<RuleTable>();
  core_.state.in_force = std::move(nothing);
  for (const Leases::Lease& lease : std::vector(core_.leases.all()))
    lease_ended(lease.name, "rdtd removed all of its groups");
  forget_policy(false, true);
  core_.report_missing();
  unreleased_.clear();  // with their groups, all processes leave them
  core_.manual.clear();
  core_.store();
  // First the rules, so that nobody is put in a group that is going.
  co_await publish();
  core_.observer.rules_changed();
  ResctrlLock::Right right = co_await core_.jobs.lock();
  // A reset that failed may have given the root the mode under which it may remove no groups.
  (void)core_.system.admit(core_.readers());
  const Result<void> removed = core_.applier.remove_all();
  right = {};
  State::LastReload& last = core_.state.last_reload;
  last.error = last.public_error = removed ? "" : removed.error().text();
  if (removed)
    spdlog::info(
        "all groups that rdtd made were removed; no policy is in force until the next reload");
  else
    log(LogEvent::kernel_refused, last.error);
  core_.admit(resctrl::Admit::before);
  core_.observer.after_reload(removed.has_value());
  done(removed ? Outcome{} : std::unexpected(refusal(removed.error())));
}

Task<> Loads::renew_table() {
  const InForce& before = *core_.state.in_force;
  // Files that cannot be opened now are left out, so that the others do not wait for them.
  std::vector<Error> left_out;
  auto table = core_.applier.tables().make(before.table->rule_set, before.groups, before.taken,
                                           TableMaker::LeaveOut::all, left_out);
  if (!table) co_return;
  if (left_out.empty())
    core_.problems.clear("table");
  else
    core_.problems.report("table", left_out.front().text());
  auto renewed = std::make_shared<InForce>(before);
  renewed->table = std::move(*table);
  core_.state.in_force = std::move(renewed);
  assignments_.restore();
  co_await publish();
}

}  // namespace rdtd
