// The guard at work: its amounts in a lease, and what gives them back.
#include "guarding.hpp"

#include "bus_program.hpp"
#include "guard_plant.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd {
namespace {

using observe::Sample;
using observe::plant::gib;

class GuardingTest : public test::BusProgramTest {
 protected:
  void SetUp() override {
    BusProgramTest::SetUp();
    if (IsSkipped()) return;
    guarding_ = std::make_unique<Guarding>(event_, [this](auto mark) { marks_.push_back(mark); });
    header_.interval = 1;
    header_.ceilings["L3"][DomainId{0}] = 10 * gib;
    detector_.emplace(header_);
    guarding_->use(header_);
    use("on");
  }
  void TearDown() override {
    guarding_.reset();
    BusProgramTest::TearDown();
  }
  void use(const std::string& mode) {
    PolicyFile file;
    file.path = "p.toml";
    file.text =
        "[group.redis]\nprotected = true\n[group.batch]\nmb = \"10%..100%\"\n[guard]\nmode = \"" +
        mode + "\"\n";
    guarding_->use(parse_policy({&file, 1}).policy);
  }
  // One second of full traffic.
  void see_full_traffic() {
    second_++;
    Sample sample;
    sample.monotonic_usec = uint64_t{second_} * 1'000'000;
    sample.time_usec = 1'700'000'000'000'000 + sample.monotonic_usec;
    for (const std::string group : {"redis", "batch"}) {
      const uint64_t bytes = second_ * static_cast<uint64_t>(5 * gib);
      sample.counters.push_back({group, "L3", DomainId{0}, {{"mbm_total_bytes", bytes}}});
      sample.schemata[group] = "MB:0=100";
    }
    (void)detector_->add(sample);
    guarding_->add(sample, *detector_, bus_);
    while (sd_event_run(event_, 0) > 0) continue;
  }
  void cut() {
    for (int i = 0; i < 5; i++) see_full_traffic();
  }
  [[nodiscard]] bool is_held() {
    if (!manager_.leases.contains("guard")) return false;
    pollfd end{.fd = manager_.leases["guard"].get(), .events = 0, .revents = 0};
    return ::poll(&end, 1, 0) == 0;
  }

  observe::Header header_;
  std::optional<observe::Detector> detector_;
  std::vector<std::string> marks_;
  std::unique_ptr<Guarding> guarding_;
  unsigned second_ = 0;
};

TEST_F(GuardingTest, ACutIsALeaseUntilItIsReleased) {
  cut();
  wait_for([&] { return is_held(); });
  const GuardStatus status = guarding_->status();
  EXPECT_EQ(status.mode, "on");
  EXPECT_EQ(status.problem, "");
  ASSERT_EQ(status.steps.size(), 1U);
  EXPECT_EQ(status.steps[0].text,
            "L3 0: mb of batch from 100% to 50%: traffic 10.0 GiB/s is above 80% of the measured "
            "ceiling, 10.0 GiB/s");
  ASSERT_EQ(status.counts.size(), 1U);
  EXPECT_EQ(status.counts[0].group, "batch");
  EXPECT_EQ(status.counts[0].steps, 1U);
  guarding_->release();
  wait_for([&] { return !is_held(); });
  EXPECT_EQ(marks_, std::vector<std::string>{std::string(observe::guard_ended_mark)});
}

TEST_F(GuardingTest, InShadowThereIsNone) {
  use("shadow");
  cut();
  EXPECT_TRUE(manager_.leases.empty());
  ASSERT_EQ(guarding_->status().steps.size(), 1U);
  EXPECT_EQ(guarding_->status().steps[0].mode, "shadow");
  guarding_->release();
  EXPECT_TRUE(marks_.empty());
  guarding_->use(Policy{});  // whose mode is "off"
  EXPECT_EQ(guarding_->status().mode, "off");
  EXPECT_TRUE(guarding_->status().amounts.empty());
}

// Nobody knows what the amounts do now.
TEST_F(GuardingTest, WithoutSamplesNothingIsHeld) {
  cut();
  wait_for([&] { return is_held(); });
  const uint64_t seen = uint64_t{second_} * 1'000'000;
  const auto blind = static_cast<uint64_t>(observe::blind_seconds(1) * 1e6);
  guarding_->check(seen + blind - 1);
  EXPECT_TRUE(marks_.empty());
  EXPECT_TRUE(is_held());
  guarding_->check(seen + blind);
  wait_for([&] { return !is_held(); });
  EXPECT_EQ(marks_.size(), 1U);
  EXPECT_EQ(guarding_->status().problem, "no step now: there are no samples");
  EXPECT_TRUE(guarding_->status().amounts.empty());
  guarding_->check(seen + 10 * blind);
  EXPECT_EQ(marks_.size(), 1U);
}

TEST_F(GuardingTest, WhatTheDaemonEndsIsAMark) {
  cut();
  wait_for([&] { return is_held(); });
  manager_.leases.clear();
  wait_for([&] { return !marks_.empty(); });
  EXPECT_EQ(marks_, std::vector<std::string>{std::string(observe::guard_ended_mark)});
}

// A replay goes on from what it knows: so must the guard, if it has nothing to give back.
TEST_F(GuardingTest, WithoutAmountsWhatItKnowsStays) {
  see_full_traffic();
  ASSERT_FALSE(guarding_->status().amounts.empty());
  guarding_->release();
  EXPECT_FALSE(guarding_->status().amounts.empty());
  EXPECT_TRUE(marks_.empty());
}

TEST_F(GuardingTest, ARefusalIsAProblem) {
  service_.reset();
  cut();
  wait_for([&] { return !guarding_->status().problem.empty(); });
  EXPECT_TRUE(guarding_->status().problem.starts_with("its amounts are not in force: "));
  guarding_->refuse("the policy cannot be read");
  EXPECT_EQ(guarding_->status().problem, "the policy cannot be read");
  EXPECT_EQ(guarding_->status().mode, "off");
}

}  // namespace
}  // namespace rdtd
