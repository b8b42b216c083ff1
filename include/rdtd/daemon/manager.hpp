// Manager: the daemon's core behind one face, for the bus and the loop. It makes the parts, and
// gives each its turn. It owns no event loop and never waits: `step` works, `next_due` says when
// there is work.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "rdtd/bus/changes.hpp"
#include "rdtd/daemon/answers.hpp"
#include "rdtd/daemon/assignments.hpp"
#include "rdtd/daemon/core.hpp"
#include "rdtd/daemon/lease_jobs.hpp"
#include "rdtd/daemon/loads.hpp"
#include "rdtd/daemon/reconciler.hpp"

namespace rdtd {

class Manager final : private Changes {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Done = Changes::Done;

  // `state`: the directory of the records that outlive the daemon.
  Manager(System system, Ownership ownership, Directory state);

  // `to_classifier` gets the tables of rules; without one, they are in use at once.
  void connect(Observer observer, Publisher::ToClassifier to_classifier = {});
  // The first load.
  void start(Done done) { loads_.start(std::move(done)); }
  // Policy files have changed.
  void reload_changed() { loads_.reload({}); }
  // Works until the deadline on what is due.
  void step(Time deadline);
  [[nodiscard]] Time next_due() const;
  // A change will never end: only a fault of rdtd's own can cause that.
  [[nodiscard]] bool stuck() const { return stuck_ && core_.jobs.stuck(); }
  // Removes every group that rdtd made. For the end of the daemon: waits for no lock.
  [[nodiscard]] Result<void> remove_all();
  void store() { core_.store(); }

  [[nodiscard]] Changes& changes() { return *this; }
  [[nodiscard]] Answers& answers() { return answers_; }
  [[nodiscard]] Reconciler& reconciler() { return reconciler_; }
  [[nodiscard]] LeaseJobs& leases() { return lease_jobs_; }
  // The parts that the loop brings events to.
  [[nodiscard]] Core& core() { return core_; }
  [[nodiscard]] const InForce& in_force() const { return *core_.state.in_force; }

 private:
  void reload(Done done) override { loads_.reload(std::move(done)); }
  void adopt(const std::vector<std::string>& groups, Adopted done) override {
    loads_.adopt(groups, std::move(done));
  }
  void reset(Done done) override { loads_.reset(std::move(done)); }
  void lease(const std::string& name, const std::string& policy, const Caller& caller,
             Leased done) override {
    lease_jobs_.lease(name, policy, caller, std::move(done));
  }
  void update_lease(const std::string& name, const std::string& policy, const Caller& caller,
                    Done done) override {
    lease_jobs_.update(name, policy, caller, std::move(done));
  }
  std::expected<std::shared_ptr<PreparedAssign>, Refusal> prepare_assign(
      pid_t pid, const std::string& group, const Caller& caller) override {
    return assignments_.prepare(pid, group, caller);
  }
  void resumed() override { reconciler_.cpu_changed(); }

  Core core_;
  Assignments assignments_;
  Loads loads_;
  LeaseJobs lease_jobs_;
  Reconciler reconciler_;
  Answers answers_;
  bool stuck_ = false;
};

}  // namespace rdtd
