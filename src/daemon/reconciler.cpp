#include "rdtd/daemon/reconciler.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "log.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/drift_text.hpp"

namespace rdtd {

namespace {

// A group that cannot be made again must not keep the daemon busy.
constexpr std::chrono::seconds renewal_interval{1};
// Between two makings of monitoring groups of templates: what comes together is made together.
constexpr std::chrono::milliseconds template_interval{200};
constexpr size_t max_named = 8;
// Some tools write to their groups all the time.
constexpr std::chrono::milliseconds others_delay{2000};

}  // namespace

void Reconciler::sweep(const char* why, std::function<void()> done) {
  core_.sweeper.sweep(
      {.only_report_moved = core_.reports_only(),
       .done = [this, why, done = std::move(done)](const Result<SweepResult>& swept) {
         core_.note_sweep(swept);
         spdlog::debug("looked at all processes because {}: {} moved", why,
                       counted(swept ? swept->moved : 0, "thread"));
         done();
       }});
}

void Reconciler::resctrl_changed(const std::set<std::string>& groups) {
  for (const std::string& group : groups)
    core_.compare_within(duration_cast<std::chrono::milliseconds>(drift_pace_.delay(group)));
}

void Reconciler::others_changed() { core_.compare_within(others_delay); }

// One that has gone offline may be back before the comparison.
void Reconciler::cpu_changed() {
  core_.drift_check.expect_reset();
  core_.compare_within(DriftPace::first_delay);
}

void Reconciler::step() {
  const Time now = core_.system.now();
  if (core_.state.comparison_due <= now) {
    core_.state.comparison_due = Time::max();
    // One that is under way may have read before the change.
    if (waiting_ || running_)
      core_.state.comparison_due = now + DriftPace::first_delay;
    else
      want(Scope::resctrl);
  }
  if (core_.sweeper.wants_monitoring() && now >= next_templates_) {
    next_templates_ = now + template_interval;
    follow_templates(false);
  }
  if (core_.sweeper.table_out_of_date() && now >= next_renewal_) {
    next_renewal_ = now + renewal_interval;
    want(Scope::processes);
  }
}

Reconciler::Time Reconciler::next_due() const {
  const Time renewal = core_.sweeper.table_out_of_date() ? next_renewal_ : Time::max();
  const Time templates = core_.sweeper.wants_monitoring() ? next_templates_ : Time::max();
  return std::min({core_.state.comparison_due, renewal, templates});
}

// A comparison that waits takes on what is asked for; one that looks at processes already is
// enough.
void Reconciler::want(Scope scope) {
  if (running_ == Scope::processes) return;
  const bool waits = waiting_.has_value();
  waiting_ = std::max(waiting_.value_or(scope), scope);
  if (!waits) core_.jobs.add("comparison", [this] { return run_comparison(); });
}

Task<> Reconciler::run_comparison() {
  running_ = std::exchange(waiting_, std::nullopt);
  std::set<std::string> refused = co_await compare(*running_);
  running_.reset();
  const bool loaded = co_await try_what_is_missing();
  drift_pace_.tried(std::move(refused), !loaded);
}

// The known drift of groups holds until they can be read again.
void Reconciler::keep_unread_drift(DriftCheck::Comparison& found) const {
  std::vector<Drift> kept;
  std::ranges::copy_if(core_.state.drift, std::back_inserter(kept), [&](const Drift& drift) {
    return drift.group && !drift.restored && (!found.read || found.unread.contains(*drift.group)) &&
           std::ranges::find(found.drift, drift.text, &Drift::text) == found.drift.end();
  });
  std::ranges::move(kept, std::back_inserter(found.drift));
}

// Returns the groups of which something could not be restored.
Task<std::set<std::string>> Reconciler::compare(Scope scope) {
  ResctrlLock::Right right = co_await core_.jobs.lock();
  const bool out_of_date = core_.sweeper.table_out_of_date();
  DriftCheck::Comparison found = core_.drift_check.compare(core_.state.in_force);
  right = {};
  if (found.in_force) {
    core_.state.in_force = std::move(found.in_force);
    core_.report_missing();
    core_.observer.groups_changed();
  }
  if (core_.problems.has("readers")) core_.admit(core_.readers());
  keep_unread_drift(found);
  if (found.tables_old || out_of_date || core_.problems.has("table")) {
    scope = Scope::processes;
    co_await loads_.renew_table();
  }
  if (core_.look_is_due()) scope = Scope::processes;
  if (scope == Scope::resctrl && !found.groups_made) {
    finish(std::move(found.drift), core_.state.drift);
    co_return std::move(found.refused);
  }
  std::vector<Drift> drift = co_await look_at_processes(found);
  finish(std::move(drift), {});
  co_return std::move(found.refused);
}

Task<std::vector<Drift>> Reconciler::look_at_processes(const DriftCheck::Comparison& found) {
  auto& unreleased = loads_.unreleased();
  Sweep::All all{.previous = unreleased.empty() ? nullptr : unreleased.front(),
                 .owned = core_.applier.last_owned(),
                 .only_report_moved = core_.reports_only()};
  wanted_in_look_.clear();
  const Result<SweepResult> swept = co_await loads_.look_at_all(std::move(all));
  if (swept && swept->unreleased == 0 && !swept->unread && !unreleased.empty())
    unreleased.pop_front();
  core_.note_sweep(swept);
  follow_templates(swept && swept->unknown == 0);
  std::vector<Drift> drift = found.drift;
  const bool report_only = core_.reports_only();
  const size_t moved = swept ? (report_only ? swept->reported : swept->moved) : 0;
  const size_t strayed = assignments_.restore(report_only);
  if (strayed > 0)
    drift.push_back({{},
                     fmt::format("{} {}", counted(strayed, "process was", "processes were"),
                                 not_in_assigned_group),
                     !report_only});
  // Without process events this is how processes are found at all.
  if (moved > 0 && !found.groups_made && (report_only || core_.state.events_available))
    drift.push_back(
        {{},
         fmt::format("{} {}", counted(moved, "thread was", "threads were"), not_in_ruled_group),
         !report_only});
  co_return drift;
}

// Has the monitoring groups made that templates need now, and those removed that they do not.
// `all`: a look at all processes has ended.
void Reconciler::follow_templates(bool all) {
  std::set<std::string> wanted = core_.sweeper.take_monitored();
  // A look at all processes takes several turns, and groups are made between these. Of very many,
  // not all are known: then none goes.
  if (all) {
    wanted.merge(std::exchange(wanted_in_look_, {}));
    all = wanted.size() < Looks::max_monitored;
  } else {
    for (const std::string& directory : wanted)
      if (wanted_in_look_.size() < Looks::max_monitored) wanted_in_look_.insert(directory);
  }
  TemplateGroups::Change change =
      templates_.update(core_.state.in_force, wanted, all,
                        core_.applier.tables().others_monitoring(), core_.system.now());
  std::vector<std::string> waiting;
  for (const std::string& directory : templates_.waiting()) {
    if (waiting.size() == max_named) break;
    waiting.push_back(group_label(directory));
  }
  if (waiting.empty())
    core_.problems.clear("templates");
  else
    core_.problems.report("templates",
                          fmt::format("{} for an RMID: {}{}",
                                      counted(templates_.waiting().size(), "monitoring group waits",
                                              "monitoring groups wait"),
                                      join(waiting, ", "),
                                      templates_.waiting().size() > waiting.size() ? ", ..." : ""));
  if (change.in_force == nullptr) return;
  core_.state.in_force = std::move(change.in_force);
  core_.drift_check.monitoring().expect_new(change.added);
  core_.compare_within({});
}

// `before`: what was known, if only resctrl was compared. Of that, what is about threads holds
// until the next look at them, and what was restored is of interest until the next reconcile.
void Reconciler::finish(std::vector<Drift> drift, std::vector<Drift> before) {
  report_drift(drift);
  std::erase_if(before, [&](const Drift& known) {
    return known.group &&
           (!known.restored || std::ranges::find(drift, known.group, &Drift::group) != drift.end());
  });
  core_.state.drift = std::move(before);
  std::ranges::move(drift, std::back_inserter(core_.state.drift));
  core_.observer.state_changed();
  core_.retry_soon();
}

// Any user can cause these at each comparison.
void Reconciler::log_processes(const std::string& drift) {
  const Time now = core_.system.now();
  Time& next = next_log_of_processes_[drift.contains(not_in_assigned_group) ? 1 : 0];
  if (now < next) return;
  next = now + std::chrono::minutes(1);
  log(LogEvent::drift, drift);
}

// A difference that stays is reported once; of a group that somebody changes all the time, only
// that.
void Reconciler::report_drift(const std::vector<Drift>& found) {
  const std::vector<Drift>& known_drift = core_.state.drift;
  std::set<std::string> changed;
  for (const Drift& drift : found) {
    if (!drift.restored &&
        std::ranges::find(known_drift, drift.text, &Drift::text) != known_drift.end())
      continue;
    const std::string paced(control_group_of(drift.group.value_or("")));
    if (drift.group && !drift.by_kernel) changed.insert(paced);
    const std::string what = drift.text + (drift.restored ? "; restored" : "");
    core_.observer.on_drift(what);
    if (!drift.group)
      log_processes(what);
    else if (!drift_pace_.too_often(paced))
      log(LogEvent::drift, what, {{"RDTD_GROUP", group_label(*drift.group)}});
  }
  for (const std::string& group : drift_pace_.found(changed, core_.system.now()))
    log(LogEvent::drift,
        fmt::format("group '{}' was changed by others more than {} times in {} s; rdtd {} it after "
                    "growing pauses now, of {} s at most",
                    group_label(group), DriftPace::max_changes, DriftPace::window.count(),
                    core_.reports_only() ? "examines" : "restores",
                    duration_cast<std::chrono::seconds>(DriftPace::longest_delay).count()),
        {{"RDTD_GROUP", group_label(group)}});
  report_unsettled();
}

// Each difference is restored, and yet the policy is hardly ever in force.
void Reconciler::report_unsettled() {
  std::set<std::string> groups = drift_pace_.unsettled(core_.system.now());
  std::erase_if(groups, [this](const std::string& group) {
    const auto& in_force = core_.state.in_force->groups;
    return std::ranges::find(in_force, group, &GroupTarget::directory) == in_force.end();
  });
  for (const std::string& group : groups)
    core_.problems.set(
        "pace " + group,
        fmt::format("others change group '{}' all the time: what the policy says of it is in force "
                    "for moments only",
                    group_label(group)));
  core_.problems.clear_all("pace ", groups);
  if (!groups.empty()) core_.compare_within(DriftPace::lately);
}

// The same is missing, perhaps for another reason: it is known now which process has a device open.
// The journal has the first one.
void Reconciler::renew_reasons(const std::vector<MissingPart>& missing) {
  if (!std::ranges::equal(missing, core_.state.in_force->missing, {}, &MissingPart::what,
                          &MissingPart::what) ||
      std::ranges::equal(missing, core_.state.in_force->missing, {}, &MissingPart::reason,
                         &MissingPart::reason))
    return;
  auto renewed = std::make_shared<InForce>(*core_.state.in_force);
  renewed->missing = missing;
  core_.state.in_force = std::move(renewed);
  core_.report_missing();
  core_.observer.state_changed();
}

// Whether it is time to remove what ended leases had put in force. If that fails, the next attempt
// waits again.
bool Reconciler::end_is_due() {
  auto& pause = core_.state.ended_in_force;
  if (!pause || !pause->has_begun() || !pause->is_over(core_.system.now())) return false;
  pause->begin(core_.system.now());
  core_.retry_soon();
  return true;
}

// The machine may have changed: other tools' groups come and go, and databases of users answer
// again. False if it failed.
Task<bool> Reconciler::try_what_is_missing() {
  State& state = core_.state;
  if (const auto* const pause = state.put_off.pause();
      pause && pause->is_over(core_.system.now())) {
    const bool loaded = co_await loads_.reload_again();
    if (loaded) co_return true;
  }
  const bool ask_for_users =
      state.in_force->users.unanswered && core_.system.now() >= next_user_lookup_;
  if (ask_for_users) next_user_lookup_ = core_.system.now() + Core::user_lookup_interval;
  const bool ends_leases = end_is_due();
  if (state.in_force->missing.empty() && !state.put_off.is_first() && !ask_for_users &&
      !ends_leases) {
    if (!state.ended_in_force) core_.problems.clear("retry");  // else that waits
    co_return true;
  }
  // If the files in force are applied again, a reload of other files has still failed.
  const bool first_load = state.put_off.is_first();
  const bool older_files = state.put_off.files_are_older();
  Applier::Request request{.fit = Applier::Fit::what_the_kernel_takes,
                           .files = first_load ? state.put_off.files() : state.in_force->files,
                           .leases = core_.leases.files(),
                           .ask_for_users = ask_for_users,
                           .restores = first_load};
  const auto loaded = core_.applier.load(request, *state.in_force);
  if (!loaded) {
    core_.problems.clear("retry");  // nothing was tried
    co_return true;
  }
  const size_t missing = state.in_force->missing.size();
  const bool changed = ends_leases || loaded->users != state.in_force->users;
  renew_reasons(loaded->prepared.missing);
  if (!first_load && !changed && loaded->prepared.missing.size() >= missing) {
    if (!state.ended_in_force) core_.problems.clear("retry");
    co_return true;
  }
  request.ask_for_users = true;
  core_.observer.before_reload();
  const Loads::Outcome applied = co_await loads_.load(
      std::move(request), first_load ? Loads::Report::all : Loads::Report::changes);
  if (!applied)
    core_.problems.report("retry", applied.error().text, applied.error().text_for(false));
  else if (first_load)
    loads_.succeeded(LogEvent::applied, older_files);
  else if (changed || state.in_force->missing.size() < missing)  // else the kernel refused again
    log(LogEvent::applied, loads_.summary());
  // One that the kernel takes again is the first of several, perhaps.
  if (applied && state.in_force->missing.size() < missing) core_.compare_within({});
  core_.observer.after_reload(applied.has_value());
  co_return applied.has_value();
}

}  // namespace rdtd
