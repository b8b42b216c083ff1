// Applier: from policy files to an InForce, or a Refusal. It reads the machine, plans, carries the
// steps out, and brings everything back if something fails. Of earlier loads it knows what rdtd
// owns, what the kernel refused, and the places of groups. It never waits: who calls it for a
// change holds the lock of resctrl.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rdtd/daemon/in_force.hpp"
#include "rdtd/daemon/refused_parts.hpp"
#include "rdtd/daemon/step_executor.hpp"
#include "rdtd/daemon/system.hpp"
#include "rdtd/daemon/table_maker.hpp"
#include "rdtd/model/refusal.hpp"
#include "rdtd/plan/controls.hpp"
#include "rdtd/resctrl/ownership.hpp"
#include "rdtd/resctrl/transaction.hpp"

namespace rdtd {

class Applier {
 public:
  Applier(System& system, Ownership ownership)
      : system_(system), executor_(system, std::move(ownership)), tables_(system.resctrl) {}

  // How a policy is treated that the machine cannot serve as a whole.
  enum class Fit {
    whole,      // refused
    what_fits,  // the groups that can be had, if not the policy but the machine is in the way
    // The same, and what the kernel refuses is left out and tried again later.
    what_the_kernel_takes
  };
  struct Request {
    Fit fit = Fit::whole;
    std::vector<PolicyFile> files;
    std::vector<PolicyFile> leases = {};  // read after the files
    // Directories of groups that are taken over this time, whether or not the policy adopts them.
    std::set<std::string> adopt = {};
    bool ask_for_users = true;  // else they are what they were
    // Whether amounts, CPUs and modes that others changed are written back under drift = "report"
    // too. A load that rdtd or the holder of a lease began leaves those of groups of which it wants
    // nothing else than before, unless they are in its way.
    bool restores = true;
  };
  struct Loaded {
    Machine machine;
    Prepared prepared;
    Users users;
    // The rules were not read again: those before apply, and the policy has only those of them that
    // make monitoring groups.
    bool same_rules = false;
  };
  // Reads the machine, and plans. Changes nothing. `before`: what is in force.
  [[nodiscard]] std::expected<Loaded, Refusal> load(const Request& request, const InForce& before);
  // The same on a machine that was read.
  [[nodiscard]] std::expected<Loaded, Refusal> load_on(Machine machine, const Request& request,
                                                       const InForce& before);

  struct Applied {
    std::shared_ptr<const InForce> in_force;
    std::map<std::string, Error> unmade;  // monitoring groups, to be made later; why
    // Groups that lack counters, to be assigned later; why.
    std::map<std::string, std::string> without_counters;
    std::vector<Step> removals;  // to be carried out once the processes have left those groups
    std::vector<std::string> adopted;  // names of groups and monitoring groups
    size_t steps = 0;
    std::vector<Error> unopened;  // `tasks` files, to be opened later
    bool left_others = false;     // what others changed was not written back: see Request::restores
    // No rule decides otherwise, and no group has come or gone: every process is where it was.
    bool moves_nobody = false;
  };
  [[nodiscard]] std::expected<Applied, Refusal> apply(Request request, const InForce& before);
  // The groups that were rdtd's when the machine was read last.
  [[nodiscard]] const std::set<std::string>& last_owned() const { return last_owned_; }
  // Of the last attempt to apply: what it met.
  struct Failure {
    bool made_again = false;         // groups, for the undo: open `tasks` files are dead
    bool found_open_device = false;  // the first look for who has it open found nobody
    bool tree_changed = false;       // something was gone
    bool in_conflict = false;        // the kernel refused what the plan takes for free
    bool out_of_time = false;        // it took too long: the next apply goes on from there
    bool not_undone = false;         // by this apply: not everything is as it was
    std::optional<resctrl::Transaction::Failed> refused;
  };
  [[nodiscard]] const Failure& failure() const { return failure_; }

  // Removes every group that rdtd made.
  [[nodiscard]] Result<void> remove_all();
  [[nodiscard]] TableMaker& tables() { return tables_; }
  [[nodiscard]] StepExecutor& executor() { return executor_; }

  [[nodiscard]] Result<Machine> read_machine();
  // Adds to the snapshot which of the regions that must go are in use. Those of no target are taken
  // for it: they go with a load.
  void find_busy_locks(Machine& machine, const std::vector<LockTarget>& locks);
  // The policy divides nothing any more: the default group is not rdtd's.
  void release_default_group();
  [[nodiscard]] Result<void> store() { return executor_.ownership().store(); }

 private:
  [[nodiscard]] Refusal refusal(const Rejected& rejected) const;
  [[nodiscard]] std::map<std::string, std::string> holders_of(const std::vector<Step>& steps,
                                                              const Snapshot& now) const;
  void take_own_unread(Snapshot& snapshot, Fit fit);
  [[nodiscard]] std::expected<Loaded, Refusal> load_texts(const Request& request, Machine machine,
                                                          const InForce& before);
  // The guard's lease holds no ways.
  [[nodiscard]] static bool may_displace(const std::vector<PolicyFile>& leases);
  [[nodiscard]] std::optional<Loaded> load_known(const Request& request, const Machine& machine,
                                                 const InForce& before) const;
  [[nodiscard]] Result<std::shared_ptr<const RuleTable>> table_for(const Loaded& loaded,
                                                                   const InForce& before,
                                                                   TableMaker::LeaveOut what,
                                                                   std::vector<Error>& unopened);
  [[nodiscard]] bool note_refused(const InForce& before);
  [[nodiscard]] std::expected<Applied, Refusal> apply_around_others(Request request,
                                                                    const InForce& before);
  [[nodiscard]] std::expected<Applied, Refusal> apply_once(Request request, const InForce& before);
  [[nodiscard]] std::expected<Applier::Applied, Refusal> carry_out_load(Loaded loaded,
                                                                        Request request,
                                                                        const InForce& before);
  // Assigns what the steps have left without counters. Adds what it does to `steps`.
  [[nodiscard]] std::map<std::string, std::string> counters_after_steps(
      const std::vector<GroupTarget>& groups, std::vector<Step>& steps);
  void note_failure(const resctrl::Transaction& transaction, const Error& error);
  void remember_places(const InForce& in_force, const std::vector<PolicyFile>& leases);

  System& system_;
  StepExecutor executor_;
  TableMaker tables_;
  std::set<std::string> last_owned_;
  std::optional<std::vector<PseudoLock>> access_;  // to devices, under the policy in force
  // The masks that the groups of the policy files have without leases that may displace them.
  std::map<std::string, Schemata> places_;
  ControlValues controls_before_;           // of the policy in force
  std::map<Resource, uint32_t> unlimited_;  // the highest that was read
  Failure failure_;
  RefusedParts refused_;
  // Why the record could not be written the last time: no group can be made until it can be.
  std::string unrecordable_;
  bool settled_ = false;  // the record is that of this process
};

[[nodiscard]] Refusal refusal(const Error& error);

}  // namespace rdtd
