// Manager: the policy in force and what has been made of it. Reloads, scans and reconciles; owns no
// event loop and sends no messages: the loop tells it when, and listens through Observer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rdtd/bus/manager_interface.hpp"
#include "rdtd/daemon/classifier.hpp"
#include "rdtd/plan/plan.hpp"
#include "rdtd/policy/parse.hpp"
#include "rdtd/proc/process.hpp"
#include "rdtd/resctrl/ownership.hpp"
#include "rdtd/resctrl/tree.hpp"

namespace rdtd {

class Manager final : public ManagerInterface {
 public:
  // What the loop does when something happens here.
  struct Observer {
    std::function<void()> before_reload = [] {};
    std::function<void()> rules_changed = [] {
    };  // in force already, the processes not yet looked at
    std::function<void()> groups_changed = [] {};  // what they are granted, without a reload
    std::function<void(bool success)> after_reload = [](bool) {};
    std::function<void(const std::string& what)> on_drift = [](const std::string&) {};
    // `rule` is empty for one that was made by hand.
    std::function<void(pid_t pid, const std::string& group, const std::string& rule)> on_assigned =
        [](pid_t, const std::string&, const std::string&) {};
  };

  // `policy_root`: the policy files are found below it. `state`: the folder of what outlives the
  // daemon.
  Manager(std::string policy_root, Tree tree, Ownership ownership, Directory state, ProcFs proc);

  // From now on events are classified by `classifier`. To be called before the first reload.
  void use(Classifier& classifier) { classifier_ = &classifier; }
  void observe(Observer observer) { observer_ = std::move(observer); }

  // The first load. Other than a reload it is not announced as one, and a failure leaves no policy
  // in force.
  [[nodiscard]] std::expected<void, Refusal> start();
  // Looks at every process and puts it where the rules want it; until a pass finds nothing to move.
  // `why` is for the log.
  void scan(const char* why);
  // Looks at these processes only.
  void classify(const std::vector<pid_t>& processes);
  // Finds what somebody else changed, and changes it back or reports it, as the policy says.
  void reconcile();
  // Writes down what outlives the daemon, where that has changed. Now and then, and at its end.
  void store();
  // Removes every group that rdtd made, and forgets what was put in them by hand.
  [[nodiscard]] Result<void> remove_all();

  [[nodiscard]] const DaemonSettings& settings() const { return policy_.daemon; }
  // Whether a rule in force speaks of this cgroup.
  [[nodiscard]] bool cgroup_matters(const std::string& path) const;
  void set_events_available(bool available) { events_available_ = available; }
  // To be called when the log's level has changed.
  void apply_watch();
  // For people, one line: "2 groups, 3 rules, 120 threads assigned".
  [[nodiscard]] std::string status_line();

  std::expected<void, Refusal> reload() override;
  std::expected<CheckResult, Refusal> check() override;
  std::expected<PlanSummary, Refusal> plan() override;
  std::expected<void, Refusal> reset() override;
  std::expected<std::shared_ptr<PreparedAssign>, Refusal> prepare_assign(
      pid_t pid, const std::string& group, const Caller& caller) override;
  std::expected<Explanation, Refusal> explain(pid_t pid, std::optional<uid_t> owner) override;
  std::expected<std::vector<DomainCounters>, Refusal> counters() override;
  std::shared_ptr<const GroupList> list_groups() override;
  size_t tasks_in(const std::string& group) override;
  ManagerProperties properties() override;
  std::optional<uid_t> owner_of(pid_t pid) override;
  void watch_assignments(bool on) override;
  std::string log_level() override;
  bool set_log_level(const std::string& level) override;
  std::string log_target() override;

 private:
  struct Loaded {
    Policy policy;
    Capabilities capabilities;
    Plan plan;
    std::string warnings;
    std::string public_warnings;
    std::vector<std::string> files;
  };
  [[nodiscard]] std::expected<Loaded, Refusal> load() const;
  [[nodiscard]] std::expected<void, Refusal> load_and_apply();
  [[nodiscard]] std::expected<void, Refusal> put_in_force(Loaded loaded);
  [[nodiscard]] Result<std::shared_ptr<const RuleTable>> make_table(const Policy& policy);
  // A process that is open for a manual assignment, and is the one that was asked about.
  class OpenedAssign;
  [[nodiscard]] std::expected<void, Refusal> assign_process(Process process,
                                                            const std::string& group,
                                                            bool for_next_program);
  void log_failure(const Refusal& error, const char* consequence) const;
  struct ScanResult {
    std::map<std::string, size_t> matched;  // processes, by the group's label
    size_t moved = 0;                       // threads
    size_t refused = 0;
    size_t released = 0;
  };
  [[nodiscard]] Placed placed_by(const RuleSet& rules) const;
  size_t release(pid_t pid, const RuleSet& previous, const Placed& held) const;
  ScanResult scan_once(AssignMode mode, const RuleSet* previous);
  ScanResult scan_until_quiet(AssignMode mode, const RuleSet* previous);
  [[nodiscard]] Result<Snapshot> snapshot() const {
    return tree_.read_snapshot(ownership_.groups());
  }
  struct Drift {
    std::optional<std::string>
        group;  // its directory; nothing where processes were in the wrong one
    std::string text;
    bool put_back = false;
  };
  [[nodiscard]] std::string reconcile_groups(bool restore, std::vector<Drift>& found);
  [[nodiscard]] std::string follow_machine(const Capabilities& capabilities, const Snapshot& now);
  void renew_held();
  [[nodiscard]] Refusal undone(Error error, const std::vector<Step>& steps);
  void renew_table();
  void publish_table();
  void remove_groups(const std::vector<Step>& removals);
  [[nodiscard]] Result<void> forget_vanished_groups();
  void tell_drift(std::vector<Drift> found);
  void tell_assigned(pid_t pid, const Assignment& assignment) const;

  std::string policy_root_;
  Tree tree_;
  Ownership ownership_;
  ProcFs proc_;
  Classifier* classifier_ = nullptr;
  Observer observer_;

  Policy policy_;
  Capabilities capabilities_;
  std::vector<GroupTarget> targets_;
  std::shared_ptr<const GroupList> groups_;  // of targets_ and policy_; null: to be made again
  std::vector<std::string> files_;
  HandAssignments by_hand_;
  std::map<std::string, AssignmentCounter>
      counters_;                            // by directory; a group that goes keeps its figures
  std::shared_ptr<const RuleTable> table_;  // of the policy in force
  std::string in_force_;                    // what was done to put it in force, for the log
  std::string last_reload_error_;
  std::string last_reload_error_public_;
  uint64_t last_reload_timestamp_ = 0;
  std::vector<Drift> drift_;  // found by the last look
  std::string trouble_;       // what was in its way; empty: nothing
  bool watched_ = false;
  bool events_available_ = true;
};

}  // namespace rdtd
