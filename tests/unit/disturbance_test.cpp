// What disturbs a measurement, from files such as the kernel's.
#include "rdtd/experiment/disturbance.hpp"

#include <gtest/gtest.h>

#include "files.hpp"

namespace rdtd::experiment {
namespace {

TEST(CpuTimes, OfEachCpu) {
  using Times = std::map<unsigned, CpuTimes>;
  EXPECT_EQ(parse_cpu_times("cpu  100 0 100 1000 0 0 0 7 0 0\ncpu1 40 1 50 500 9 3 2 7 4 0\n"
                            "cpu10 1 1 1 1 1 1 1 1 0 0\nintr 5 4 3 2 1 0 0 0 0\n"),
            (Times{{1, {96, 7, 612}}, {10, {5, 1, 8}}}));
  EXPECT_EQ(parse_cpu_times("cpu0 1 2 3\n"), Times{});
}

// The command is on CPU 2, whose core has CPU 3 too; the noise is on CPUs 0 and 1.
class DisturbanceTest : public Files {
 protected:
  // A run of one second, in which the CPUs were busy for so many ticks.
  void run(const OwnSeconds& own, std::array<int, 4> busy, int steal,
           const std::string& condition = "alone") {
    disturbance_->begin_run();
    for (size_t cpu = 0; cpu < busy.size(); ++cpu) {
      user_[cpu] += busy[cpu];
      idle_[cpu] += 100 - busy[cpu] - steal;
    }
    steal_ += steal;
    write_stat();
    disturbance_->end_run(own, condition);
  }
  void write_stat() {
    std::string text;
    for (size_t cpu = 0; cpu < user_.size(); ++cpu)
      text += "cpu" + std::to_string(cpu) + " " + std::to_string(user_[cpu]) + " 0 0 " +
              std::to_string(idle_[cpu]) + " 0 0 0 " + std::to_string(steal_) + " 0 0\n";
    put("proc/stat", text);
  }

  void SetUp() override {
    Files::SetUp();
    disturbance_.emplace(root_ / "proc", root_ / "cpu",
                         Place{.command = {2}, .noise = {0, 1}, .shared = {0, 1, 2, 3}});
  }

  std::array<int, 4> user_ = {9000, 10, 5000, 0}, idle_ = {100000, 99990, 100000, 109000};
  int steal_ = 0;
  std::optional<Disturbance> disturbance_;
};

TEST_F(DisturbanceTest, NothingWithoutFiles) {
  disturbance_->begin_run();
  disturbance_->end_run({1, 1}, "alone");
  EXPECT_EQ(disturbance_->sentences(), std::vector<std::string>{});
  EXPECT_EQ(disturbance_->settings(),
            "Governor not known, turbo off or not known, one thread a core.");
}

TEST_F(DisturbanceTest, AQuietMachine) {
  write_stat();
  put("cpu/cpu2/cpufreq/scaling_cur_freq", "2400000\n");
  put("cpu/cpu2/cpufreq/scaling_governor", "performance\n");
  put("cpu/intel_pstate/no_turbo", "1\n");
  put("cpu/smt/active", "1\n");
  run({0.99, 0.98}, {99, 0, 100, 0}, 0);
  run({0.50, 0}, {0, 1, 51, 0}, 0);
  EXPECT_EQ(disturbance_->sentences(), std::vector<std::string>{});
  EXPECT_EQ(disturbance_->settings(),
            "Governor performance, turbo off or not known, two or more threads a core.");
}

TEST_F(DisturbanceTest, EverythingAtOnce) {
  write_stat();
  put("cpu/cpu2/cpufreq/scaling_governor", "powersave\n");
  put("cpu/cpufreq/boost", "1\n");
  put("cpu/cpu2/cpufreq/scaling_cur_freq", "1200000\n");
  run({0.5, 1}, {100, 40, 70, 0}, 0);
  put("cpu/cpu2/cpufreq/scaling_cur_freq", "3400000\n");
  run({0.5, 1}, {97, 40, 70, 20}, 3);
  EXPECT_EQ(disturbance_->sentences(),
            (std::vector<std::string>{
                "Other programs took 20% of CPU 2 during the runs.",
                "Other programs took 48% of a CPU on CPUs 0-1,3 during the runs, which share the "
                "cache or the core.",
                "A hypervisor took 1.5% of CPU 2 during the runs.",
                "CPU 2 ran at 1.20 to 3.40 GHz at the ends of the runs.",
                "The frequency governor of CPU 2 is 'powersave': with 'performance' the frequency "
                "changes less.",
                "Turbo is on: the frequency depends on the load of the other CPUs."}));
}

// A condition that ran at a lower frequency is slower by that alone.
TEST_F(DisturbanceTest, FrequencyByCondition) {
  write_stat();
  const auto run_at = [this](const char* frequency, const char* condition) {
    put("cpu/cpu2/cpufreq/scaling_cur_freq", frequency);
    run({1, 0}, {0, 0, 100, 0}, 0, condition);
  };
  for (int round = 0; round < 3; ++round) {
    run_at("3400000\n", "alone");
    run_at(round == 0 ? "3300000\n" : "2800000\n", "with noise");
    run_at("2800000\n", "in 'redis'");
  }
  EXPECT_EQ(disturbance_->sentences(),
            std::vector<std::string>{
                "CPU 2 ran at 2.80 to 3.40 GHz at the ends of the runs, medians by condition: 3.40 "
                "alone, 2.80 with noise, 2.80 in 'redis'."});
}

// What a command of the noise uses is not known: its CPUs tell nothing, but the core's other
// thread.
TEST_F(DisturbanceTest, UnknownNoise) {
  write_stat();
  run({1, std::nullopt}, {100, 100, 100, 0}, 0);
  EXPECT_EQ(disturbance_->sentences(), std::vector<std::string>{});
  run({1, std::nullopt}, {100, 100, 100, 50}, 0);
  EXPECT_EQ(disturbance_->sentences().size(), 1U);
}

}  // namespace
}  // namespace rdtd::experiment
