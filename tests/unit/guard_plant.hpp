// Machines made here, whose groups move as much as the amounts that the guard sets let them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/observe/guard.hpp"

namespace rdtd::observe::plant {

inline constexpr double gib = 1 << 30;

struct Program {
  std::string group;
  std::function<double(double)> demand;  // GiB/s at a second
};

inline std::function<double(double)> steadily(double value) {
  return [value](double) { return value; };
}
inline std::function<double(double)> wave(double high, double period, double low = 0) {
  return [=](double t) { return std::fmod(t, period) < period / 2 ? high : low; };
}

inline GuardRules rules_of(double least = 10, double most = 100) {
  GuardRules out;
  out.protected_groups = {"redis"};
  out.ranges["batch"][std::nullopt] = {least, most, true};
  return out;
}

struct Ran {
  std::vector<GuardStep> steps;
  std::map<std::string, double> moved;  // GiB
  std::vector<Sample> samples;
  Guard guard{rules_of()};
};

// One domain that carries 10 GiB/s, which the groups share by what they ask for. An amount of 100%
// is all of it.
class Plant {
 public:
  explicit Plant(std::vector<Program> programs, GuardRules rules = rules_of())
      : programs_(std::move(programs)), rules_(std::move(rules)) {
    header.interval = 1;
    header.ceilings["L3"][DomainId{0}] = 10 * gib;
  }
  bool obeys = true;              // the steps come into force
  std::set<std::string> refused;  // those of these groups never do
  // Batch's amount is lowered, but it moves as much as before.
  bool limits = true;
  std::function<void(double, Sample&)> change = [](double, Sample&) {};
  void forget_ceiling() { header.ceilings.clear(); }
  Header header;
  // GiB/s by amount.
  std::function<double(double)> limit = [](double amount) { return amount / 10; };

  [[nodiscard]] Ran run(double seconds) {
    Ran out;
    out.guard = Guard(rules_);
    out.guard.use(header);
    Detector detector(header);
    std::map<std::string, double> bytes, amounts;
    Guard::Amounts said;  // by the steps
    for (double t = 0; t < seconds; ++t) {
      std::map<std::string, double> asked;
      double all = 0;
      for (const Program& program : programs_) {
        const bool limited = limits && amounts.contains(program.group);
        all += asked[program.group] =
            std::min(program.demand(t), limited ? limit(amounts[program.group]) : 1000);
      }
      Sample sample;
      sample.monotonic_usec = static_cast<uint64_t>((t + 1) * 1e6);
      sample.time_usec = 1'700'000'000'000'000 + sample.monotonic_usec;
      for (const Program& program : programs_) {
        const double moved = asked[program.group] * std::min(1.0, 10 / std::max(all, 1e-9));
        bytes[program.group] += moved * gib;
        out.moved[program.group] += moved;
        sample.counters.push_back(
            {program.group,
             "L3",
             DomainId{0},
             {{"mbm_total_bytes", static_cast<uint64_t>(bytes[program.group])}}});
        const double amount = amounts.contains(program.group) ? amounts[program.group] : 1e12;
        sample.schemata[program.group] = fmt::format("MB:0-1={:.0f}", amount);
      }
      change(t, sample);
      (void)detector.add(sample);
      if (std::ranges::any_of(sample.marks, resets_guard)) said.clear();
      for (GuardStep& step : out.guard.add(sample, detector.traffic())) {
        said.erase(step.group);
        if (step.after < step.range.most) said[step.group][step.domain] = step.after;
        if (obeys && !refused.contains(step.group)) amounts[step.group] = written(step.after);
        out.steps.push_back(std::move(step));
      }
      EXPECT_EQ(out.guard.amounts(), said) << "an amount changed without a step, at " << t;
      out.samples.push_back(std::move(sample));
    }
    return out;
  }
  // The same samples again.
  [[nodiscard]] std::vector<GuardStep> replay(const std::vector<Sample>& samples) const {
    Guard guard(rules_);
    guard.use(header);
    Detector detector(header);
    std::vector<GuardStep> out;
    for (const Sample& sample : samples) {
      (void)detector.add(sample);
      for (GuardStep& step : guard.add(sample, detector.traffic())) out.push_back(std::move(step));
    }
    return out;
  }

 private:
  [[nodiscard]] double written(double amount) const {
    return header.mb.step > 0 ? std::ceil(amount / header.mb.step) * header.mb.step : amount;
  }

  std::vector<Program> programs_;
  GuardRules rules_;
};

inline std::vector<std::string> texts(const std::vector<GuardStep>& steps) {
  std::vector<std::string> out;
  for (const GuardStep& step : steps) out.push_back(sentence(step));
  return out;
}

inline size_t steps_between(const Ran& ran, double from, double to) {
  return static_cast<size_t>(std::ranges::count_if(ran.steps, [&](const GuardStep& step) {
    const double at = static_cast<double>(step.time_usec - 1'700'000'000'000'000) / 1e6;
    return at >= from && at < to;
  }));
}

inline std::vector<double> amounts_of(const Ran& ran, const std::string& group) {
  std::vector<double> out;
  for (const GuardStep& step : ran.steps)
    if (step.group == group) out.push_back(step.after);
  return out;
}

}  // namespace rdtd::observe::plant
