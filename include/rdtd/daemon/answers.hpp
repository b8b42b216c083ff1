// Answers: to requests that change nothing.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/bus/reads.hpp"
#include "rdtd/daemon/core.hpp"
#include "rdtd/daemon/loads.hpp"
#include "rdtd/daemon/paced.hpp"

namespace rdtd {

class Answers final : public Reads {
 public:
  Answers(Core& core, Loads& loads) : core_(core), loads_(loads) {}

  // For people, one line: "2 groups, 3 rules, 120 threads assigned".
  [[nodiscard]] std::string status_line();
  // To be called when the level of the log has changed.
  void apply_watch();

  std::expected<CheckResult, Refusal> check() override;
  std::expected<PlanSummary, Refusal> plan() override;
  std::expected<Explanation, Refusal> explain(pid_t pid, std::optional<uid_t> owner) override;
  std::expected<std::vector<DomainCounters>, Refusal> counters() override;
  std::shared_ptr<const GroupList> list_groups() override;
  std::vector<RuleStatus> list_rules() override;
  std::expected<std::vector<LockStatus>, Refusal> list_locks() override;
  std::vector<LeaseStatus> list_leases(const Caller& caller) override;
  size_t tasks_in(const std::string& group) override;
  ManagerProperties properties() override;
  std::optional<uid_t> owner_of(pid_t pid) override;
  std::optional<uid_t> effective_user_of(pid_t pid) override;
  void watch_assignments(bool on) override;

 private:
  [[nodiscard]] std::vector<std::string> problems(bool for_root) const;
  [[nodiscard]] bool degraded() const;
  [[nodiscard]] const InForce& in_force() const { return *core_.state.in_force; }

  Core& core_;
  Loads& loads_;
  std::shared_ptr<const InForce> listed_, locks_of_;  // what the next two were made of
  std::shared_ptr<const GroupList> group_list_;       // made when somebody asks
  Paced<std::vector<LockStatus>> locks_;
  Paced<std::vector<DomainCounters>> counters_;
  bool watched_ = false;
};

}  // namespace rdtd
