// What disturbs a measurement, from files such as the kernel's.
#include "disturbance.hpp"

#include <gtest/gtest.h>

#include "files.hpp"

namespace rdtd {
namespace {

TEST(CpuTimes, OfOneCpu) {
  const std::string stat =
      "cpu  100 0 100 1000 0 0 0 7 0 0\ncpu1 40 1 50 500 9 3 2 7 4 0\ncpu10 1 1 1 1 1 1 1 1 0 0\n";
  EXPECT_EQ(parse_cpu_times(stat, 1), (CpuTimes{96, 7, 612}));
  EXPECT_EQ(parse_cpu_times(stat, 10), (CpuTimes{5, 1, 8}));
  EXPECT_EQ(parse_cpu_times(stat, 0), std::nullopt);
  EXPECT_EQ(parse_cpu_times("cpu0 1 2 3\n", 0), std::nullopt);
}

class DisturbanceTest : public Files {
 protected:
  // A run of one second, of which the measured program used `own`; the rest is as given, in ticks.
  void run(double own, int busy, int steal) {
    disturbance_->begin_run();
    user_ += busy;
    steal_ += steal;
    idle_ += 100 - busy - steal;
    write_stat();
    disturbance_->end_run(own);
  }
  void write_stat() {
    put("proc/stat", "cpu2 " + std::to_string(user_) + " 0 0 " + std::to_string(idle_) + " 0 0 0 " +
                         std::to_string(steal_) + " 0 0\n");
  }

  void SetUp() override {
    Files::SetUp();
    disturbance_.emplace(root_ / "proc", root_ / "cpu", 2);
  }

  int user_ = 5000, idle_ = 100000, steal_ = 0;
  std::optional<Disturbance> disturbance_;
};

TEST_F(DisturbanceTest, NothingWithoutFiles) {
  disturbance_->begin_run();
  disturbance_->end_run(1);
  EXPECT_EQ(disturbance_->sentences(), std::vector<std::string>{});
}

TEST_F(DisturbanceTest, AQuietMachine) {
  write_stat();
  put("cpu/cpu2/cpufreq/scaling_cur_freq", "2400000\n");
  put("cpu/cpu2/cpufreq/scaling_governor", "performance\n");
  put("cpu/intel_pstate/no_turbo", "1\n");
  run(0.99, 100, 0);
  run(0.50, 51, 0);
  EXPECT_EQ(disturbance_->sentences(), std::vector<std::string>{});
}

TEST_F(DisturbanceTest, EverythingAtOnce) {
  write_stat();
  put("cpu/cpu2/cpufreq/scaling_governor", "powersave\n");
  put("cpu/cpufreq/boost", "1\n");
  put("cpu/cpu2/cpufreq/scaling_cur_freq", "1200000\n");
  run(0.5, 70, 0);
  put("cpu/cpu2/cpufreq/scaling_cur_freq", "3400000\n");
  run(0.5, 70, 3);
  EXPECT_EQ(disturbance_->sentences(),
            (std::vector<std::string>{
                "Other programs took 20% of CPU 2 during the runs.",
                "A hypervisor took 1.5% of CPU 2 during the runs.",
                "CPU 2 ran at 1.20 to 3.40 GHz at the ends of the runs.",
                "The frequency governor of CPU 2 is 'powersave': with 'performance' the frequency "
                "changes less.",
                "Turbo is on: the frequency depends on the load of the other CPUs."}));
}

}  // namespace
}  // namespace rdtd
