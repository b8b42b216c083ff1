// One run of bench and suggest: the lease of its condition, empty caches, the noise, then the
// workload, or the tasks of a group that run anyway.
#pragma once

#include <expected>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiment.hpp"
#include "group_counts.hpp"

namespace rdtd {

class TrialRuns {
 public:
  // `setup` must live longer. The number of reads of a probe is set there by the first run.
  TrialRuns(const Context& context, Client& client, ExperimentSetup& setup);

  struct Ran {
    Sample sample;
    experiment::ProbeTimes times;
  };
  template <class T>
  using Or = std::expected<T, int>;  // an exit code after a note
  [[nodiscard]] Or<Ran> run(const Trial& condition);

  [[nodiscard]] bool interrupted() const { return watched_.interrupted(); }
  // Sentences about the disturbances of the runs, and about counts that are missing.
  [[nodiscard]] std::vector<std::string> sentences() const;
  // As of Disturbance.
  [[nodiscard]] std::string settings() const { return disturbance_.settings(); }

 private:
  using Noise = std::vector<Process>;
  [[nodiscard]] Or<Ran> run_under_lease(const Trial& condition);
  [[nodiscard]] Or<void> await_end_of_leases();
  [[nodiscard]] std::set<std::string> groups_to_evict(const Trial& condition) const;
  [[nodiscard]] Or<std::vector<Process>> evict(const Trial& condition, const UniqueFd& lease);
  [[nodiscard]] Or<Noise> start_noise(const Trial& condition, const UniqueFd& lease);
  [[nodiscard]] Or<void> check_noise(Noise& noise, const UniqueFd& lease);
  [[nodiscard]] int noise_ended(Process& noise, Ended ended) const;
  [[nodiscard]] std::optional<double> noise_seconds(const Noise& noise) const;
  [[nodiscard]] Or<Ran> run_workload(const Trial& condition, Noise& noise, const UniqueFd& lease);
  [[nodiscard]] Or<Ran> watch_tasks(const Trial& condition, const UniqueFd& lease);
  void note_not_counted(const TaskCounters& counted, size_t came);
  [[nodiscard]] Or<Ran> choose_value(const Trial& condition, Ran ran, double seconds,
                                     std::optional<double> task_seconds) const;

  std::string proc_, cpus_;
  std::set<pid_t> of_others_;  // children that this process had before
  Client& client_;
  ExperimentSetup& setup_;
  WatchedRun watched_;
  experiment::Disturbance disturbance_;
  GroupCounts counts_;
  std::string no_events_, not_counted_;  // why; not_counted_: a sentence
};

}  // namespace rdtd
