#include "experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <ranges>

#include "print.hpp"
#include "progress.hpp"
#include "rdtd/base/text.hpp"
#include "size_text.hpp"
#include "trial_runs.hpp"

namespace rdtd {

namespace {

class Experiment {
 public:
  Experiment(const Context& context, Client& client, ExperimentSetup setup)
      : setup_(std::move(setup)),
        runs_(context, client, setup_),
        progress_(setup_.conditions.size() * (setup_.rounds + 1), setup_.step) {}

  Measured measure() {
    Measured out{.rounds_wanted = setup_.rounds,
                 .samples = std::vector<std::vector<Sample>>(setup_.conditions.size()),
                 .times = std::vector<experiment::ProbeTimes>(setup_.conditions.size())};
    out.exit = measure_rounds(out);
    if (runs_.interrupted() && out.rounds() == 0)
      note("rdtctl: interrupted before a round was complete: there is nothing to show\n");
    out.disturbances = runs_.sentences();
    if (out.exit != Exit::ok && out.rounds() > 0)
      out.disturbances.insert(out.disturbances.begin(),
                              ended_early(runs_.interrupted(), out.rounds(), setup_.rounds));
    out.settings = runs_.settings();
    return out;
  }

 private:
  using Ran = TrialRuns::Ran;
  template <class T>
  using Or = TrialRuns::Or<T>;

  int measure_rounds(Measured& out) {
    auto left = warm_up();
    if (!left) return left.error();
    const auto order =
        experiment::order_of_runs(left->size(), setup_.rounds, std::random_device{}());
    std::vector<Ran> round(left->size());
    for (size_t i = left->size(); i < order.size(); ++i) {
      const size_t condition = (*left)[order[i].condition];
      auto ran = run_shown(condition);
      if (!ran) return ran.error();
      round[order[i].condition] = std::move(*ran);
      // A round counts when all of its conditions were measured.
      if ((i + 1) % left->size() != 0) continue;
      for (size_t k = 0; k < round.size(); ++k) {
        out.samples[(*left)[k]].push_back(round[k].sample);
        out.times[(*left)[k]].add(round[k].times);
      }
      progress_.end_round((i + 1) / left->size() - 1, setup_.rounds, medians(out, *left));
    }
    return Exit::ok;
  }

  // Of what was measured so far: "alone 1.20 s".
  [[nodiscard]] std::vector<std::string> medians(const Measured& measured,
                                                 std::vector<size_t> of) const {
    std::ranges::stable_sort(of, {}, [&](size_t i) { return setup_.conditions[i].amount; });
    std::vector<std::string> out;
    for (const size_t condition : of) {
      std::vector<double> values;
      for (const Sample& sample : measured.samples[condition]) values.push_back(sample.value);
      out.push_back(fmt::format("{} {}", setup_.conditions[condition].name,
                                setup_.value_text(experiment::median(std::move(values)))));
    }
    return out;
  }

  // The round that is not counted: which conditions are bearable.
  Or<std::vector<size_t>> warm_up() {
    std::vector<size_t> out;
    std::optional<double> best;
    unsigned unbearable = 0;  // this amount and smaller ones
    const bool lower = setup_.better == experiment::Better::lower;
    for (size_t i = 0; i < setup_.conditions.size(); ++i) {
      const Trial& condition = setup_.conditions[i];
      if (condition.amount != 0 && condition.amount <= unbearable) continue;
      const auto ran = run_shown(i);
      if (!ran) return std::unexpected(ran.error());
      const double value = ran->sample.value;
      best = !best ? value : lower ? std::min(*best, value) : std::max(*best, value);
      const auto unfit = is_unbearable(i, value, *best);
      if (!unfit) return std::unexpected(unfit.error());
      if (*unfit) {
        // From the present amount down, less is worse still.
        const bool down = condition.amount < setup_.conditions.front().amount;
        if (down) unbearable = condition.amount;
        note("{} made it {:.0f}% {}, more than --max-loss allows: {} left out\n", condition.name,
             100 * experiment::loss_of(value, *best, setup_.better), lower ? "worse" : "less",
             down ? "it and smaller amounts are" : "it is");
      } else {
        out.push_back(i);
      }
    }
    progress_.expect_more(out.size() * setup_.rounds);
    return out;
  }

  // A single run may have met a pause of the workload: two of three must be that bad.
  Or<bool> is_unbearable(size_t condition, double first, double best) {
    const auto is_bad = [&](double value) {
      return setup_.most_loss && best > 0 &&
             experiment::loss_of(value, best, setup_.better) > *setup_.most_loss;
    };
    if (!is_bad(first)) return false;
    int bad = 1;
    for (int again = 0; again < 2; again++) {
      const auto ran = run_shown(condition);
      if (!ran) return std::unexpected(ran.error());
      bad += is_bad(ran->sample.value) ? 1 : 0;
    }
    return bad > 1;
  }

  Or<Ran> run_shown(size_t condition) {
    progress_.show(setup_.conditions[condition].name);
    auto out = runs_.run(setup_.conditions[condition]);
    progress_.clear();
    return out;
  }

  ExperimentSetup setup_;
  TrialRuns runs_;
  Progress progress_;
};

}  // namespace

size_t Measured::rounds() const {
  size_t out = 0;
  for (const auto& of_condition : samples) out = std::max(out, of_condition.size());
  return out;
}

Measured measure(const Context& context, Client& client, ExperimentSetup setup) {
  return Experiment(context, client, std::move(setup)).measure();
}

std::vector<std::string> circumstances(const Context& context, const Workload& workload,
                                       const std::string& settings) {
  std::vector<std::string> out = {settings};
  if (const auto& probe = workload.probe)
    out.push_back(fmt::format("The probe read {}.", size_text(probe->size)));
  std::string line;
  std::getline(std::ifstream(context.proc + "/loadavg"), line);
  if (!line.empty())
    out.push_back(fmt::format("The load averages after the runs were {}.",
                              fmt::join(split(line, ' ') | std::views::take(3), " ")));
  return out;
}

}  // namespace rdtd
