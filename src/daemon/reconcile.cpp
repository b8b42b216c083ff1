// Staying true: what is compared at each reconcile, and what comes of it.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "log.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/daemon/manager.hpp"

namespace rdtd {

namespace {

// A database that does not answer keeps the main loop waiting for its timeout.
constexpr std::chrono::minutes user_lookup_interval{5};
// RMIDs leave limbo some seconds after the last task of their group at the latest. Who has the
// device of a region open may close it at any time.
constexpr std::chrono::seconds retry_interval{5};

}  // namespace

void Manager::sweep(const char* why, std::function<void()> done) {
  sweeper_.sweep({.only_report_moved = reports_only(),
                  .done = [this, why, done = std::move(done)](const Result<SweepResult>& swept) {
                    note_sweep(swept);
                    spdlog::debug("looked at all processes because {}: {} moved", why,
                                  counted(swept ? swept->moved : 0, "thread"));
                    done();
                  }});
}

std::string Manager::cannot_be_examined(const SweepResult& swept) {
  return fmt::format("{} cannot be examined: {}", counted(swept.unknown, "process", "processes"),
                     std::strerror(swept.error));
}

// What a look at all processes could not do.
void Manager::note_sweep(const Result<SweepResult>& swept) {
  const auto note = [this](const char* key, size_t count, const std::string& text) {
    if (count > 0)
      problem(key, text);
    else
      guard_.clear_problem(key);
  };
  note("list", swept ? 0 : 1, swept ? "" : swept.error().text());
  if (!swept) return;
  processes_by_rule_ = swept->by_rule;
  note("refused", swept->refused,
       fmt::format("the kernel refuses to move {}: {}",
                   counted(swept->refused, "process", "processes"), std::strerror(swept->error)));
  note("unknown", swept->unknown, cannot_be_examined(*swept));
}

void Manager::reconcile() {
  if (reconciling_ && !only_resctrl_) return;
  look_wanted_ = true;
  if (!reconciling_) begin_comparison();
}

void Manager::begin_comparison() {
  reconciling_ = true;
  begin([this] { changes_.run([this] { compare(); }); });
}

void Manager::resctrl_changed(const std::set<std::string>& groups) {
  for (const std::string& group : groups)
    comparison_due_ = std::min(comparison_due_, system_.now() + drift_pace_.delay(group));
}

void Manager::retry_soon() {
  const bool waits_for_device = std::ranges::find(in_force_->missing, Cause::machine,
                                                  &MissingPart::cause) != in_force_->missing.end();
  if (guard_.misses_mon_groups() || waits_for_device || ended_in_force_)
    comparison_due_ = std::min(comparison_due_, system_.now() + retry_interval);
}

// One that has gone offline may be back before the comparison.
void Manager::cpu_changed() {
  guard_.expect_reset();
  comparison_due_ = std::min(comparison_due_, system_.now() + DriftPace::first_delay);
}

void Manager::start_comparison(Time now) {
  comparison_due_ = Time::max();
  // Another one may have read before the change.
  if (reconciling_) {
    comparison_due_ = now + DriftPace::first_delay;
    return;
  }
  only_resctrl_ = true;
  begin_comparison();
}

void Manager::compare() {
  if (std::exchange(look_wanted_, false)) only_resctrl_ = false;
  const bool out_of_date = sweeper_.table_out_of_date();
  Guard::Comparison found = guard_.compare(in_force_);
  for (const std::string& text : found.problems) log(LogEvent::kernel_refused, text);
  if (found.in_force) {
    replace(std::move(found.in_force));
    report_missing();
    observer_.groups_changed();
  }
  const auto look = [this, found] {
    sweeper_.sweep({.previous = unreleased_.empty() ? nullptr : unreleased_.front(),
                    .only_report_moved = reports_only(),
                    .done = [this, found](const Result<SweepResult>& swept) {
                      if (swept && swept->unreleased == 0 && !unreleased_.empty())
                        unreleased_.pop_front();
                      finish_reconcile(found, swept);
                    }});
  };
  if (found.tables_old || out_of_date)
    renew_table(look);
  else if (!only_resctrl_ || found.groups_made)
    look();
  else
    finish_comparison(found.drift, drift_);
}

void Manager::finish_reconcile(const Guard::Comparison& found, const Result<SweepResult>& swept) {
  std::vector<Drift> drift = found.drift;
  note_sweep(swept);
  const bool report_only = reports_only();
  const size_t moved = swept ? (report_only ? swept->reported : swept->moved) : 0;
  // Without process events this is how processes are found at all.
  if (moved > 0 && !found.groups_made && (report_only || events_available_))
    drift.push_back({{},
                     fmt::format("{} not in the group that the rules name",
                                 counted(moved, "thread was", "threads were")),
                     !report_only});
  finish_comparison(std::move(drift), {});
}

// `before`: what was known, if only resctrl was compared. Of that, what is about threads holds
// until the next look at them, and what was restored is of interest until the next reconcile.
void Manager::finish_comparison(std::vector<Drift> drift, std::vector<Drift> before) {
  reconciling_ = only_resctrl_ = false;
  if (look_wanted_) reconcile();
  report_drift(drift);
  std::erase_if(before, [&](const Drift& known) {
    return known.group &&
           (!known.restored || std::ranges::find(drift, known.group, &Drift::group) != drift.end());
  });
  drift_ = std::move(before);
  std::ranges::move(drift, std::back_inserter(drift_));
  observer_.state_changed();
  retry_soon();
  const bool ask_for_users = in_force_->users.unanswered && system_.now() >= next_user_lookup_;
  if (ask_for_users) next_user_lookup_ = system_.now() + user_lookup_interval;
  if (!in_force_->missing.empty() || !wanted_files_.empty() || ask_for_users || ended_in_force_)
    try_what_is_missing();
  else
    finished();
}

// A difference that stays is reported once; of a group that somebody changes all the time, only
// that.
void Manager::report_drift(const std::vector<Drift>& found) {
  std::set<std::string> changed;
  for (const Drift& drift : found) {
    if (!drift.restored && std::ranges::find(drift_, drift.text, &Drift::text) != drift_.end())
      continue;
    const std::string paced(control_group_of(drift.group.value_or("")));
    if (drift.group && !drift.by_kernel) changed.insert(paced);
    const std::string what = drift.text + (drift.restored ? "; restored" : "");
    observer_.on_drift(what);
    if (!drift.group)
      log(LogEvent::drift, what);
    else if (!drift_pace_.too_often(paced))
      log(LogEvent::drift, what, {{"RDTD_GROUP", group_label(*drift.group)}});
  }
  for (const std::string& group : drift_pace_.found(changed, system_.now()))
    log(LogEvent::drift,
        fmt::format("group '{}' was changed by others more than {} times in {} s; rdtd {} it after "
                    "growing pauses now, of {} s at most",
                    group_label(group), DriftPace::max_changes, DriftPace::window.count(),
                    reports_only() ? "examines" : "restores",
                    duration_cast<std::chrono::seconds>(DriftPace::longest_delay).count()),
        {{"RDTD_GROUP", group_label(group)}});
}

// What of the policy the machine cannot have now.
void Manager::report_missing() {
  for (const MissingPart& missing : in_force_->missing) {
    const LogEvent event = missing.cause == Cause::mount     ? LogEvent::wrong_mount_options
                           : missing.cause == Cause::closids ? LogEvent::out_of_closids
                                                             : LogEvent::kernel_refused;
    const std::string text = fmt::format("{} not in force: {}", missing.what, missing.reason);
    if (guard_.set_problem("missing " + missing.what, text)) log(event, text);
  }
}

// The same is missing, perhaps for another reason: it is known now which process has a device open.
// The journal has the first one.
void Manager::renew_reasons(const std::vector<MissingPart>& missing) {
  if (!std::ranges::equal(missing, in_force_->missing, {}, &MissingPart::what,
                          &MissingPart::what) ||
      std::ranges::equal(missing, in_force_->missing, {}, &MissingPart::reason,
                         &MissingPart::reason))
    return;
  auto renewed = std::make_shared<InForce>(*in_force_);
  renewed->missing = missing;
  replace(std::move(renewed));
  report_missing();
  observer_.state_changed();
}

// The machine may have changed: other tools' groups come and go.
void Manager::try_what_is_missing() {
  const Applier::Request request = {
      .fit = Applier::Fit::what_fits,
      .files = wanted_files_.empty() ? in_force_->files : wanted_files_,
      .leases = leases_.files()};
  const auto loaded = applier_.load(request, in_force_->users);
  const size_t missing = loaded ? loaded->prepared.missing.size() : SIZE_MAX;
  const bool more = ended_in_force_ || missing < in_force_->missing.size() ||
                    (loaded && loaded->users != in_force_->users);
  if (loaded) renew_reasons(loaded->prepared.missing);
  if (!loaded || (wanted_files_.empty() && !more)) return finished();
  // If the files in force are applied again, a reload of other files has still failed.
  const bool first_load = !wanted_files_.empty();
  load_and_apply(request, [this, first_load](const std::expected<void, Refusal>& applied) {
    if (applied) {
      if (first_load)
        succeeded(LogEvent::applied);
      else
        log(LogEvent::applied, summary_);
      observer_.after_reload(true);
    } else {
      problem("retry", applied.error().text, applied.error().text_for(false));
    }
    finished();
  });
}

}  // namespace rdtd
