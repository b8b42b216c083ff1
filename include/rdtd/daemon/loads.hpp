// Loads: how a policy comes into force and goes again: at the start, with a reload, when groups are
// taken over, with a reset. Each is a job that reads from top to bottom: lock, plan, apply, publish
// the rules, look at all processes, remove groups that are empty now.
#pragma once

#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/bus/changes.hpp"
#include "rdtd/daemon/assignments.hpp"
#include "rdtd/daemon/core.hpp"

namespace rdtd {

enum class LogEvent;

class Loads {
 public:
  using Done = Changes::Done;
  using Adopted = Changes::Adopted;
  using Outcome = std::expected<void, Refusal>;

  Loads(Core& core, Assignments& assignments) : core_(core), assignments_(assignments) {}

  // The first load. A state of the machine that is in the way leaves out what it must: the refusal
  // is about the policy or about files that cannot be read.
  void start(Done done);
  // Without `done`, nobody waits: what only the machine refuses is tried again, until somebody asks
  // for something else.
  void reload(Done done);
  void adopt(const std::vector<std::string>& groups, Adopted done);
  void reset(Done done);

  // The extent of the log: all warnings and missing parts, or only those that were not known
  // before.
  enum class Report { all, changes };
  // For jobs. Puts the request in force with the leases that still fit; the others end.
  [[nodiscard]] Task<Outcome> load(Applier::Request request, Report report = Report::all);
  // The same without looking for leases that do not fit. `right` is given back before processes are
  // looked at.
  [[nodiscard]] Task<Outcome> apply(Applier::Request request, ResctrlLock::Right right,
                                    Report report);
  // The reload that is to be tried again. True if it has come into force.
  [[nodiscard]] Task<bool> reload_again();
  // Opens the `tasks` files again, for groups that were removed and made again under the same name.
  [[nodiscard]] Task<> renew_table();
  [[nodiscard]] Task<Result<SweepResult>> look_at_all(Sweep::All all);
  // The result of the last load, for the log.
  [[nodiscard]] const std::string& summary() const { return summary_; }
  // Logs what the last load put in force. `older_files`: the present ones are no policy, which
  // stays the error of the last reload.
  void succeeded(LogEvent event, bool older_files = false);
  // Rules before the present ones, while what they held could not be looked at. Each comparison
  // tries again with the oldest.
  [[nodiscard]] std::deque<std::shared_ptr<const RuleTable>>& unreleased() { return unreleased_; }

  [[nodiscard]] bool goes_beyond(const Policy& policy) const;
  // Adds to a request the leases that still fit. Returns why the others do not, by name.
  using LeasesThatEnd = std::map<std::string, std::string>;
  [[nodiscard]] std::expected<LeasesThatEnd, Refusal> fit_leases(Applier::Request& request);
  void lease_ended(const std::string& name, const std::string& reason);

 private:
  [[nodiscard]] Task<> run_start(Done done);
  [[nodiscard]] Task<> run_reload(std::shared_ptr<std::vector<Done>> requests);
  [[nodiscard]] Task<> run_adopt(std::vector<std::string> groups, Adopted done);
  [[nodiscard]] Task<> run_reset(Done done);
  [[nodiscard]] Task<Outcome> reload_now(Applier::Request request);
  void put_in_force(Applier::Applied& applied);
  [[nodiscard]] Task<> publish();
  [[nodiscard]] Task<> remove_groups(std::vector<Step> removals);
  void forget_policy(bool left_others, bool looked);
  void forget_before_load(bool left_others);
  void log_warnings(const InForce* before) const;
  static void log_lacks(const Applier::Applied& applied, const std::vector<std::string>& known);
  void note_look(const Result<SweepResult>& swept,
                 const std::shared_ptr<const RuleTable>& previous);
  void finish(const Applier::Applied& applied, const std::optional<Result<SweepResult>>& swept);
  void refused(const Refusal& refusal);
  void put_off_reload(const Refusal& refusal);
  [[nodiscard]] Outcome all_examined() const;

  Core& core_;
  Assignments& assignments_;
  std::shared_ptr<std::vector<Done>> waiting_reload_;  // requests of a reload that has not begun
  std::string summary_;
  std::string unexamined_;            // why the last look at all processes did not do all; or empty
  bool looked_ = false;               // the last load looked at all processes
  bool all_examined_ = false;         // by that look, and the kernel refused nobody
  std::vector<std::string> adopted_;  // by the last load: names of groups and monitoring groups
  std::deque<std::shared_ptr<const RuleTable>> unreleased_;
};

}  // namespace rdtd
