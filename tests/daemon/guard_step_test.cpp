// A step of the guard from the sample to the write of the schemata: the observer's parts, a bus and
// the daemon's loop, over the model kernel. The figure that it prints has neither the kernel's own
// time nor polkit's, which is not asked about root.
#include "guarding.hpp"

#include <systemd/sd-bus.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "loop_world.hpp"
#include "rdtd/policy/parse.hpp"
#include "rdtd/resctrl/counters.hpp"
#include "unit/private_bus.hpp"

namespace rdtd {
namespace {

using std::chrono::steady_clock;

constexpr size_t changes = 20;
// A step may be smaller than those of the registers, and then changes nothing.
constexpr unsigned most_turns = 100;

class GuardStepTest : public test::LoopTest, public test::PrivateBus {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "polkit is asked about other users than root";
    if (std::system("command -v dbus-daemon >/dev/null") != 0)
      GTEST_SKIP() << "dbus-daemon is not installed";
    LoopTest::SetUp();
    make_bus();
    start_bus();
    policy =
        "[group.redis]\nprotected = true\n[group.batch]\nmb = \"10%..100%\"\n[group.web]\n"
        "[group.mail]\n[group.log]\n[group.backup]\n[guard]\nmode = \"on\"\n";
    header_.interval = 1;
    header_.ceilings["L3"] = {{DomainId{0}, 1e9}, {DomainId{1}, 1e9}};
    header_.mb = {.percent = true, .step = 10, .least = 10};
    detector_.emplace(header_);
  }
  void TearDown() override {
    if (IsSkipped()) return;
    guarding_.reset();
    sd_bus_close_unref(bus_);
    LoopTest::TearDown();
    remove_bus();
  }

  void begin() {
    sd_event* event = nullptr;
    ASSERT_GE(sd_event_default(&event), 0);
    ASSERT_GE(sd_bus_open_system(&bus_), 0);
    ASSERT_GE(sd_bus_attach_event(bus_, event, 0), 0);
    guarding_ = std::make_unique<Guarding>(event, [](const std::string&) {});
    sd_event_unref(event);
    PolicyFile file;
    file.path = "p.toml";
    file.text = policy;
    guarding_->use(parse_policy({&file, 1}).policy);
    guarding_->use(header_);
    kernel.calls.hook = [this](const fake::Call& call) {
      if (call.operation == "write" && call.path == "batch/schemata")
        written_ = steady_clock::now();
    };
  }
  // A second of the machine: batch takes all that there is, until it has the least.
  void see() {
    second_++;
    if (amounts_ == Amounts{{0, 10}, {1, 10}}) batch_idles_ = had_least_ = true;
    if (amounts_ == Amounts{{0, 100}, {1, 100}}) batch_idles_ = false;
    for (const std::string group : {"redis", "batch"})
      for (const char* domain : {"00", "01"}) {
        uint64_t& bytes = bytes_[group + domain];
        if (group == "redis" || !batch_idles_) bytes += 500'000'000;
        kernel.resctrl.counters[group + "/mon_data/mon_L3_" + domain + "/mbm_total_bytes"] =
            std::to_string(bytes) + "\n";
      }
    observe::Sample sample;
    sample.monotonic_usec = uint64_t{second_} * 1'000'000;
    sample.time_usec = 1'700'000'000'000'000 + sample.monotonic_usec;
    sample.counters = *resctrl::read_counters(kernel);
    for (const char* group : {"redis", "batch"}) sample.schemata[group] = schemata(group);
    (void)detector_->add(sample);
    guarding_->add(sample, *detector_, bus_);
  }
  using Amounts = std::map<uint32_t, int>;  // by domain
  // In the registers, by the model kernel.
  [[nodiscard]] Amounts amounts() const {
    Amounts out;
    const auto parsed = parse_schemata(kernel.resctrl.read("batch/schemata").value());
    for (const auto& [domain, value] : parsed.value().at(Resource::MB))
      out[static_cast<uint32_t>(domain)] = static_cast<int>(value);
    return out;
  }
  // A turn of the loop; whether all changes were seen.
  bool turn() {
    if (amounts() != amounts_) {
      amounts_ = amounts();
      took_.push_back(std::chrono::duration<double, std::milli>(written_ - stepped_).count());
      turns_to_wait_ = 0;
    }
    if (turns_to_wait_ > 0) {
      turns_to_wait_--;
    } else {
      const size_t steps = guarding_->status().steps.size();
      const auto began = steady_clock::now();
      see();
      if (guarding_->status().steps.size() > steps) {
        stepped_ = began;
        turns_to_wait_ = most_turns;
      }
    }
    return took_.size() >= changes;
  }

  observe::Header header_;
  std::optional<observe::Detector> detector_;
  std::unique_ptr<Guarding> guarding_;
  sd_bus* bus_ = nullptr;
  unsigned second_ = 0;
  bool batch_idles_ = false, had_least_ = false;
  std::map<std::string, uint64_t> bytes_;
  Amounts amounts_{{0, 100}, {1, 100}};
  unsigned turns_to_wait_ = 0;
  steady_clock::time_point stepped_, written_;  // of a sample with a step; to the schemata
  std::vector<double> took_;
};

TEST_F(GuardStepTest, ReachesTheKernel) {
  EXPECT_EQ(run_loop({}, {{.once = ready(), .then = [this] { begin(); }},
                          {.once = [this] { return turn(); }}}),
            0);
  ASSERT_EQ(took_.size(), changes);
  EXPECT_TRUE(had_least_);
  std::ranges::sort(took_);
  std::printf(
      "from the begin of a sample to the write of the schemata: median %.1f ms, worst "
      "%.1f ms, of %zu\n",
      took_[changes / 2], took_.back(), changes);
}

}  // namespace
}  // namespace rdtd
