// Where bench runs, from files such as those of /sys/devices/system/cpu.
#include "bench_machine.hpp"

#include <gtest/gtest.h>

#include "bench_region.hpp"
#include "files.hpp"

namespace rdtd::bench {
namespace {

class BenchMachine : public Files {
 protected:
  // Four cores of two threads; CPUs 0 to 3 share L2 domain 4, the others 6; all share the L3.
  void SetUp() override {
    Files::SetUp();
    for (int cpu = 0; cpu < 8; ++cpu) {
      const std::string at = "cpu" + std::to_string(cpu) + "/";
      const int core = cpu / 2 * 2;
      put(at + "topology/thread_siblings_list",
          std::to_string(core) + "-" + std::to_string(core + 1));
      cache(cpu, 0, "1", "Instruction", "0", std::to_string(core), "32K");
      cache(cpu, 1, "2", "Unified", cpu < 4 ? "4" : "6", cpu < 4 ? "0-3" : "4-7", "512K");
      cache(cpu, 2, "3", "Unified", "0", "0-7", "8192K");
    }
  }
  void cache(int cpu, int index, const std::string& level, const std::string& type,
             const std::string& id, const std::string& shared, const std::string& size) {
    const std::string at =
        "cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/";
    put(at + "level", level + "\n");
    put(at + "type", type + "\n");
    put(at + "id", id + "\n");
    put(at + "shared_cpu_list", shared + "\n");
    put(at + "size", size + "\n");
  }
  // "2: 3 of L2, 512 KiB", with " on its core" if the noise is; or the error.
  [[nodiscard]] static std::string text(const Result<Place>& place) {
    if (!place) return place.error().text();
    return std::to_string(place->command) + ": " + format_cpu_list(place->noise) + " of L" +
           std::to_string(place->level) + ", " + std::to_string(place->bytes >> 10) + " KiB" +
           (place->core_is_shared ? " on its core" : "");
  }
};

TEST_F(BenchMachine, ThePlaceIsInTheL3) {
  EXPECT_EQ(text(find_place(root_, {0, 1, 2, 3, 4, 5, 6, 7})), "0: 2-7 of L3, 8192 KiB");
  EXPECT_EQ(text(find_place(root_, {3, 5})), "3: 5 of L3, 8192 KiB");
  EXPECT_EQ(text(find_place(root_, {2, 3})), "2: 3 of L3, 8192 KiB on its core");
  EXPECT_EQ(text(find_place(root_, {2})),
            "cannot measure beside noise: no other allowed CPU shares the L3 cache of CPU 2");
  EXPECT_EQ(text(find_place(root_, {9})),
            "cannot measure beside noise: " + root_.string() + " shows no cache of CPU 9");
}

TEST_F(BenchMachine, OrInTheL2) {
  for (int cpu = 0; cpu < 8; ++cpu)
    fs::remove_all(root_ / ("cpu" + std::to_string(cpu)) / "cache/index2");
  EXPECT_EQ(text(find_place(root_, {0, 1, 2, 5})), "0: 2 of L2, 512 KiB");
}

TEST_F(BenchMachine, OrInACertainCache) {
  const CpuSet all = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(text(find_place(root_, all, {2, 6})), "4: 6-7 of L2, 512 KiB");
  EXPECT_EQ(text(find_place(root_, all, {3, 0})), "0: 2-7 of L3, 8192 KiB");
  EXPECT_EQ(text(find_place(root_, {0, 1, 7}, {2, 6})),
            "cannot measure beside noise: no other allowed CPU shares the L2 cache of CPU 7");
  EXPECT_EQ(text(find_place(root_, {0, 1}, {2, 6})),
            "cannot measure beside noise: no allowed CPU uses L2 domain 6");
}

TEST(BenchRegion, TheProbeFitsInIt) {
  const Region region{"buffer", "/dev/pseudo_lock/buffer", 128 << 10, {2, 1}};
  const struct {
    const char* probe;
    uint64_t size;
    std::string error;
  } rows[] = {
      {"latency", 128 << 10, ""},
      {"timer:2ms", 128 << 10, ""},  // of 256K
      {"latency:64K", 64 << 10, ""},
      {"latency:128K", 128 << 10, ""},
      {"latency:256K", 256 << 10,
       "rdtctl: --probe latency:256K reads more memory than pseudo_lock 'buffer' has: 128 KiB\n"},
  };
  for (const auto& row : rows) {
    Workload workload;
    workload.probe_text = row.probe;
    workload.probe = experiment::parse_probe(row.probe);
    testing::internal::CaptureStderr();
    EXPECT_EQ(fit_probe(workload, region), row.error.empty() ? 0 : 1) << row.probe;
    EXPECT_EQ(testing::internal::GetCapturedStderr(), row.error);
    EXPECT_EQ(workload.probe->size, row.size) << row.probe;
  }
  Workload workload;
  workload.probe = experiment::Probe{};
  testing::internal::CaptureStderr();
  EXPECT_EQ(fit_probe(workload, {"buffer", "/dev/pseudo_lock/buffer", 0, {2, 1}}), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "rdtctl: the kernel does not tell how large pseudo_lock 'buffer' is\n");
}

}  // namespace
}  // namespace rdtd::bench
