#include "rdtd/experiment/probe.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace rdtd::experiment {
namespace {

TEST(Probe, Parse) {
  const struct {
    const char* text;
    std::optional<Probe> probe;
  } rows[] = {
      {"latency", Probe{}},
      {"latency:384K", Probe{.size = 384 << 10}},
      {"latency:2M", Probe{.size = 2 << 20}},
      {"latency:2MB", Probe{.size = 2 << 20}},
      {"latency:2MiB", Probe{.size = 2 << 20}},
      {"latency:2B", {}},
      {"latency:4G", Probe{.size = 4UL << 30}},
      {"timer", Probe{.kind = Probe::Kind::timer}},
      {"timer:500us", Probe{.kind = Probe::Kind::timer, .period = 500'000}},
      {"timer:2ms:8M", Probe{.kind = Probe::Kind::timer, .size = 8 << 20, .period = 2'000'000}},
      {"timer:8M", {}},
      {"timer:2ms:8M:1", {}},
      {"latency:2M:1", {}},
      {"timer:2ms", Probe{.kind = Probe::Kind::timer, .period = 2'000'000}},
      {"timer:1s", Probe{.kind = Probe::Kind::timer, .period = 1'000'000'000}},
      {"", {}},
      {"latency:", {}},
      {"latency:384", {}},
      {"latency:1K", {}},
      {"latency:8G", {}},
      {"timer:1us", {}},
      {"timer:2s", {}},
      {"timer:-1ms", {}},
      {"speed", {}},
  };
  for (const auto& row : rows) EXPECT_TRUE(parse_probe(row.text) == row.probe) << row.text;
}

TEST(Probe, ParseNoise) {
  EXPECT_EQ(parse_noise("stream"), 1U);
  EXPECT_EQ(parse_noise("stream:4"), 4U);
  for (const char* bad : {"", "streams", "stream:", "stream:0", "stream:65", "stream:x"})
    EXPECT_FALSE(parse_noise(bad)) << bad;
}

TEST(Probe, EachMeasuresSomething) {
  ProbeTimes latency, timer;
  ASSERT_TRUE(run_probe({.size = 4 << 10}, 0.01, latency));
  EXPECT_GT(latency.time.count, 0U);
  EXPECT_EQ(latency.lateness.count, 0U);
  EXPECT_EQ(latency.response.count, 0U);
  ASSERT_TRUE(
      run_probe({.kind = Probe::Kind::timer, .size = 4 << 10, .period = 50'000}, 0.02, timer));
  EXPECT_GT(timer.time.count, 0U);
  EXPECT_GE(timer.lateness.count, timer.time.count);  // more if it missed cycles
  EXPECT_EQ(timer.response.count, timer.lateness.count);
  EXPECT_GE(timer.response.most, timer.time.most);
}

// Of 100 cycles, two began late: the median hides that.
TEST(Probe, ATimerIsComparedByItsLateCycles) {
  ProbeTimes times;
  for (int cycle = 0; cycle < 100; ++cycle) {
    times.time.add(1000);
    times.lateness.add(cycle < 2 ? 9000 : 1);
    times.response.add(cycle < 2 ? 10000 : 1001);
  }
  EXPECT_NEAR(compared_time({.kind = Probe::Kind::timer}, times), 10000, 220);
  EXPECT_NEAR(compared_time({}, times), 1000, 22);
  EXPECT_EQ(name_of_compared({.kind = Probe::Kind::timer}),
            "the 99th percentile of the response times");
  EXPECT_EQ(name_of_compared({}), "the median time of a read");
}

TEST(Probe, MemoryOfADevice) {
  ProbeTimes times;
  const auto missing = run_probe({.size = 4 << 10, .device = "/nowhere"}, 0.01, times);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text(), "cannot open /nowhere: No such file or directory");
  const auto timer =
      run_probe({.kind = Probe::Kind::timer, .size = 4 << 10, .device = "/nowhere"}, 0.01, times);
  ASSERT_FALSE(timer);
  EXPECT_EQ(timer.error().text(), "cannot open /nowhere: No such file or directory");
  const auto unmapped = run_probe({.size = 4 << 10, .device = "/dev/null"}, 0.01, times);
  ASSERT_FALSE(unmapped);
  EXPECT_EQ(unmapped.error().text(), "cannot map /dev/null: No such device");
  ASSERT_TRUE(run_probe({.size = 4 << 10, .device = "/dev/zero"}, 0.01, times));
  EXPECT_GT(times.time.count, 0U);
}

// The lines of 64 bytes refer to each other: from each one to the next, through all of them.
TEST(Probe, ReadsEachLineOnce) {
  constexpr size_t line_size = 64, count = 256;
  const auto file = std::filesystem::path(testing::TempDir()) / "rdtd-probe-lines";
  std::ofstream(file) << std::string(line_size * (count + line_size), '\0');
  ProbeTimes times;
  ASSERT_TRUE(run_probe({.size = line_size * count, .device = file.string()}, 0.01, times));
  std::ifstream written(file, std::ios::binary);
  const std::string memory(std::istreambuf_iterator<char>(written), {});
  std::filesystem::remove(file);
  std::set<uint32_t> read;
  for (uint32_t at = 0; read.insert(at).second;)
    std::memcpy(&at, memory.data() + line_size * at, sizeof at);
  EXPECT_EQ(read.size(), count);
  EXPECT_LT(*read.rbegin(), count);
}

}  // namespace
}  // namespace rdtd::experiment
