// Manager: the core of the daemon behind one face, for the bus and the loop. It puts the parts to
// work in the right order and keeps what a reload came to; the parts know nothing of each other. It
// owns no event loop and never waits: `step` works, `next_due` says when there is work.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rdtd/bus/manager_interface.hpp"
#include "rdtd/daemon/applier.hpp"
#include "rdtd/daemon/drift_pace.hpp"
#include "rdtd/daemon/guard.hpp"
#include "rdtd/daemon/leases.hpp"
#include "rdtd/daemon/lock_queue.hpp"
#include "rdtd/daemon/manual_assignments.hpp"
#include "rdtd/daemon/sweeper.hpp"
#include "rdtd/daemon/system.hpp"

namespace rdtd {

enum class LogEvent;

class Manager final : public ManagerInterface {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // What the loop does when something happens here.
  struct Observer {
    // Hands a table to the classifier. Returns the number that table_taken will be called with, or
    // 0 if the table is used from now on.
    std::function<uint64_t(std::shared_ptr<const RuleTable>)> publish =
        [](const std::shared_ptr<const RuleTable>&) { return uint64_t{0}; };
    std::function<void()> before_reload = [] {};
    std::function<void()> rules_changed = [] {};  // in force, processes not looked at yet
    std::function<void(bool success)> after_reload = [](bool) {};
    std::function<void()> groups_changed = [] {};  // what they are granted, without a reload
    std::function<void()> state_changed = [] {};
    // More processes may have changed than can be visited one by one: call sweep.
    std::function<void()> visits_lost = [] {};
    std::function<void(const std::string& what)> on_drift = [](const std::string&) {};
    std::function<void(const std::string& name, const std::string& reason)> on_lease_ended =
        [](const std::string&, const std::string&) {};
    // `rule` is empty for a manual assignment.
    std::function<void(pid_t pid, const std::string& group, const std::string& rule)> on_assigned =
        [](pid_t, const std::string&, const std::string&) {};
    std::function<void(bool)> watch_assignments = [](bool) {};
  };

  // `state`: the directory of the records that outlive the daemon.
  Manager(System system, Ownership ownership, Directory state);

  void observe(Observer observer) { observer_ = std::move(observer); }

  // The first load. A state of the machine that is in the way leaves out what it must: the refusal
  // is about the policy or about files that cannot be read.
  void start(Done done);
  void reload(Done done) override;
  void adopt(const std::vector<std::string>& groups, Adopted done) override;
  void reset(Done done) override;
  void lease(const std::string& name, const std::string& policy, const Caller& caller,
             Leased done) override;
  // To be called when leases_fd() is readable: ends the leases that nobody holds any more.
  void leases_abandoned();
  [[nodiscard]] int leases_fd() const { return leases_.fd(); }
  // Finds what another tool changed, and does about it what the policy says: in resctrl, and where
  // the processes are.
  void reconcile();
  // Somebody, perhaps rdtd itself, has changed these groups, by directory: soon, finds what is
  // different in resctrl.
  void resctrl_changed(const std::set<std::string>& groups);
  // A CPU has gone offline or come online: soon, restores what the kernel has reset.
  void cpu_changed();
  // Looks at all processes, then calls `done`. `why` is for the log.
  void sweep(const char* why, std::function<void()> done);
  // Removes every group that rdtd made. For the end of the daemon: waits for no lock.
  [[nodiscard]] Result<void> remove_all();
  // Writes down what outlives the daemon, if it has changed.
  void store();

  // Works until the deadline on what is due.
  void step(Time deadline);
  [[nodiscard]] Time next_due() const;
  // The classifier uses the table of this number, or a later one.
  void table_taken(uint64_t number);
  [[nodiscard]] Sweeper& sweeper() { return sweeper_; }
  [[nodiscard]] ManualAssignments& manual() { return manual_; }

  [[nodiscard]] const InForce& in_force() const { return *in_force_; }
  void set_events_available(bool available);
  void set_event_counters(uint64_t seen, uint64_t overruns);
  // To be called when the level of the log has changed.
  void apply_watch();
  // For people, one line: "2 groups, 3 rules, 120 threads assigned".
  [[nodiscard]] std::string status_line();

  // Has the process of a thread looked at.
  void visit_thread(pid_t tid);

  std::expected<CheckResult, Refusal> check() override;
  std::expected<PlanSummary, Refusal> plan() override;
  std::expected<std::shared_ptr<PreparedAssign>, Refusal> prepare_assign(
      pid_t pid, const std::string& group, const Caller& caller) override;
  std::expected<Explanation, Refusal> explain(pid_t pid, std::optional<uid_t> owner) override;
  std::expected<std::vector<DomainCounters>, Refusal> counters() override;
  std::shared_ptr<const GroupList> list_groups() override;
  std::vector<RuleStatus> list_rules() override;
  std::expected<std::vector<LockStatus>, Refusal> list_locks() override;
  std::vector<LeaseStatus> list_leases(const Caller& caller) override;
  size_t tasks_in(const std::string& group) override;
  ManagerProperties properties() override;
  std::optional<uid_t> owner_of(pid_t pid) override;
  void watch_assignments(bool on) override;
  void resumed() override { cpu_changed(); }
  std::string log_level() override;
  bool set_log_level(const std::string& level) override;
  std::string log_target() override;

 private:
  class OpenedAssign;
  [[nodiscard]] std::expected<void, Refusal> assign(
      const std::shared_ptr<const proc::Process>& process, const std::string& group,
      const Caller& caller);
  [[nodiscard]] int put_into(const proc::Process& process, const std::string& directory);
  void load_and_apply(Applier::Request request, Done done);
  void apply_now(Applier::Request request, Done done);
  using LeasesThatEnd = std::map<std::string, std::string>;  // why, by name
  [[nodiscard]] std::expected<LeasesThatEnd, Refusal> fit_leases(Applier::Request& request);
  [[nodiscard]] std::optional<Refusal> refuse_lease(const std::string& name) const;
  [[nodiscard]] std::optional<Refusal> refuse_to_displace(const Applier::Request& request);
  void apply_lease(Leases::Lease lease, Leased done);
  void lease_ended(const std::string& name, const std::string& reason);
  void end_all_leases(const std::string& reason);
  void apply_without_ended_leases();
  void reload_now(Applier::Request request, Done done);
  void put_in_force(Applier::Applied applied, Done done);
  void replace(std::shared_ptr<const InForce> in_force);
  void admit(resctrl::Admit who);
  // Before any policy is in force, as they were.
  [[nodiscard]] resctrl::Admit readers() const {
    const bool group =
        !in_force_->groups.empty() && in_force_->policy.daemon.readers == Readers::group;
    return group ? resctrl::Admit::group : resctrl::Admit::all;
  }
  void publish(std::function<void()> then);
  void finish_load(const Applier::Applied& applied, const Result<SweepResult>& swept,
                   const Done& done);
  void refused(const Refusal& refusal);
  void succeeded(LogEvent event);
  void remove_groups(std::vector<Step> removals, std::function<void()> then);
  void renew_table(std::function<void()> then);
  void begin(std::function<void()> job);
  void next_job();
  void finished();
  void finish_reset(const Result<void>& removed, const Done& done);
  [[nodiscard]] bool reports_only() const {
    return in_force_->policy.daemon.drift == OnDrift::report;
  }
  void restore_manual();
  void retry_soon();
  void start_comparison(Time now);
  void begin_comparison();
  void compare();
  void finish_reconcile(const Guard::Comparison& found, const Result<SweepResult>& swept);
  void finish_comparison(std::vector<Drift> drift, std::vector<Drift> before);
  void report_drift(const std::vector<Drift>& found);
  void try_what_is_missing();
  void renew_reasons(const std::vector<MissingPart>& missing);
  void report_missing();
  void note_sweep(const Result<SweepResult>& swept);
  [[nodiscard]] static std::string cannot_be_examined(const SweepResult& swept);
  [[nodiscard]] std::expected<void, Refusal> all_examined() const;
  // Why a request about one process cannot be answered.
  [[nodiscard]] static Refusal cannot_examine(pid_t pid, const Error& error);
  // When an answer that took from `begin` to `end` to read may be read again: no user can make
  // the main loop do little else.
  [[nodiscard]] static Time next_reading(Time begin, Time end);
  void problem(const std::string& key, const std::string& text) { problem(key, text, text); }
  void problem(const std::string& key, const std::string& text, const std::string& public_text);
  [[nodiscard]] std::vector<std::string> problems(bool for_root) const;
  [[nodiscard]] bool degraded() const;

  System system_;
  ManualAssignments manual_;
  Applier applier_;
  Guard guard_;
  Sweeper sweeper_;
  LockQueue changes_;
  Leases leases_;
  Observer observer_;

  std::shared_ptr<const InForce> in_force_;
  size_t waiting_leases_ = 0;    // requests in jobs_
  bool ended_in_force_ = false;  // what leases that have ended had put in force still is
  std::shared_ptr<const GroupList> group_list_;  // of in_force_, made when somebody asks
  std::vector<PolicyFile> wanted_files_;  // of the first load, while the machine permits none of it
  std::function<void()> when_taken_;      // goes on once the classifier uses the new table
  Time taken_deadline_{};
  uint64_t awaited_table_ = 0;
  Time next_renewal_{};
  Time next_user_lookup_{};
  std::deque<std::function<void()>> jobs_;             // changes of the state in force that wait
  bool busy_ = false;                                  // one of them is under way
  std::shared_ptr<std::vector<Done>> waiting_reload_;  // requests of a reload that has not begun
  bool reconciling_ = false;                           // a comparison waits, or is under way
  bool only_resctrl_ = false;                          // it does not look at processes
  bool look_wanted_ = false;                           // a reconcile is wanted, which does
  Time comparison_due_ = Time::max();                  // because of a change in resctrl

  std::optional<std::vector<DomainCounters>> counters_;
  Time counters_due_{};  // from when on they are read again
  std::optional<std::vector<LockStatus>> locks_;
  Time locks_due_{};  // likewise
  std::string last_reload_error_, last_reload_error_public_;
  uint64_t last_reload_timestamp_ = 0;
  std::string summary_;               // of the last load, for the log
  std::string unexamined_;            // why its look at all processes did not do all; or empty
  std::vector<std::string> adopted_;  // by the last load: names of groups and monitoring groups
  std::vector<Drift> drift_;
  DriftPace drift_pace_;
  // Rules before the present ones, the oldest first, while what they held could not be looked at.
  // Each reconcile tries again with one of them.
  std::deque<std::shared_ptr<const RuleTable>> unreleased_;
  std::map<size_t, size_t> processes_by_rule_;  // at the last look at all of them
  bool watched_ = false;
  bool events_available_ = true;
  uint64_t events_seen_ = 0, event_overruns_ = 0;
};

}  // namespace rdtd
