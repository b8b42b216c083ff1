// Where a measurement runs, from files such as those of /sys/devices/system/cpu.
#include "rdtd/experiment/placement.hpp"

#include <gtest/gtest.h>

#include "probe_memory.hpp"
#include "files.hpp"

namespace rdtd::experiment {
namespace {

class PlaceTest : public Files {
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
  // "2: 3 of L2, 512 KiB behind 32 KiB", with " on its core" or " in its L2" if the noise is; or
  // the error.
  [[nodiscard]] std::string text(const PlaceRequest& request) const {
    const auto place = find_place(root_, request);
    if (!place) return place.error().text();
    return format_cpu_list(place->command) + ": " + cpus_text(place->noise) + " of L" +
           std::to_string(place->cache.level) + ", " + std::to_string(place->bytes >> 10) +
           " KiB behind " + std::to_string(place->inner_bytes >> 10) + " KiB" +
           (place->core_is_shared    ? " on its core"
            : place->inner_is_shared ? " in its L" + std::to_string(place->cache.level - 1)
                                     : "");
  }
  const CpuSet all = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::string why = "cannot measure beside noise: ";
};

TEST_F(PlaceTest, TheLastCoreOfTheL3) {
  EXPECT_EQ(text({.allowed = all}), "6: 0-3 of L3, 8192 KiB behind 512 KiB");
  EXPECT_EQ(text({.allowed = {3, 5}}), "5: 3 of L3, 8192 KiB behind 512 KiB");
  EXPECT_EQ(text({.allowed = {2, 3}}), "2: 3 of L3, 8192 KiB behind 512 KiB on its core");
  EXPECT_EQ(text({.allowed = {2}}), why + "no other allowed CPU shares the L3 cache of CPU 2");
  EXPECT_EQ(text({.allowed = {2}, .beside_noise = false}),
            "2: none of L3, 8192 KiB behind 512 KiB");
  EXPECT_EQ(text({.allowed = {9}}), why + root_.string() + " shows no cache of CPU 9");
  EXPECT_EQ(text({}), "cannot measure without a CPU");
  EXPECT_EQ(find_place(root_, {.allowed = {2, 5}})->shared, all);
}

// As the modules of an Atom, where cores share an L2.
TEST_F(PlaceTest, NoiseSharesASmallerCacheOnlyWithoutAnotherCpu) {
  EXPECT_EQ(text({.allowed = {0, 2, 5}, .command = {2}}), "2: 5 of L3, 8192 KiB behind 512 KiB");
  EXPECT_EQ(text({.allowed = {0, 2, 3}, .command = {2}}),
            "2: 0 of L3, 8192 KiB behind 512 KiB in its L2");
  EXPECT_EQ(text({.allowed = all, .command = {3, 4}}),
            "3-4: 0-1,6-7 of L3, 8192 KiB behind 512 KiB in its L2");
  const auto sentence = [&](const CpuSet& allowed) {
    return nearness_of_noise(find_place(root_, {.allowed = allowed, .command = {2}}).value());
  };
  EXPECT_EQ(sentence(all), std::nullopt);
  EXPECT_EQ(sentence({0, 2}),
            "The noise shared the command's L2 cache: it took more than L3 from it.");
  EXPECT_EQ(sentence({2, 3}),
            "The noise ran on the command's core: it took more than cache from it.");
}

TEST_F(PlaceTest, OrTheLevelThatIsDivided) {
  EXPECT_EQ(text({.allowed = all, .level = 2}), "6: 4-5 of L2, 512 KiB behind 0 KiB");
  EXPECT_EQ(text({.allowed = {0, 4}, .level = 2}),
            why + "no other allowed CPU shares the L2 cache of CPU 4");
  EXPECT_EQ(text({.allowed = {0, 2, 4}, .level = 2}), "2: 0 of L2, 512 KiB behind 0 KiB");
  for (int cpu = 0; cpu < 8; ++cpu)
    fs::remove_all(root_ / ("cpu" + std::to_string(cpu)) / "cache/index2");
  EXPECT_EQ(text({.allowed = {0, 1, 2, 5}}), "2: 0-1 of L2, 512 KiB behind 0 KiB");
  EXPECT_EQ(text({.allowed = {0, 1, 2}}), "2: 0-1 of L2, 512 KiB behind 0 KiB");
  EXPECT_EQ(text({.allowed = all, .level = 3}),
            why + root_.string() + " shows no L3 cache of CPU 6");
}

// As the low-power cores of some processors.
TEST_F(PlaceTest, ACoreWithoutThatCacheIsNotTaken) {
  for (const int cpu : {6, 7}) {
    fs::remove_all(root_ / ("cpu" + std::to_string(cpu)) / "cache/index2");
    for (int other = 0; other < 6; ++other) cache(other, 2, "3", "Unified", "0", "0-5", "8192K");
  }
  EXPECT_EQ(text({.allowed = all}), "4: 0-3 of L3, 8192 KiB behind 512 KiB");
  EXPECT_EQ(text({.allowed = all, .level = 3}), "4: 0-3 of L3, 8192 KiB behind 512 KiB");
}

TEST_F(PlaceTest, OrCertainDomains) {
  EXPECT_EQ(text({.allowed = all, .level = 2, .domains = {4}}),
            "2: 0-1 of L2, 512 KiB behind 0 KiB");
  EXPECT_EQ(text({.allowed = all, .level = 2, .domains = {4, 6}}),
            "6: 4-5 of L2, 512 KiB behind 0 KiB");
  EXPECT_EQ(text({.allowed = all, .level = 3, .domains = {0}}),
            "6: 0-3 of L3, 8192 KiB behind 512 KiB");
  EXPECT_EQ(text({.allowed = {0, 1, 7}, .level = 2, .domains = {6}}),
            why + "no other allowed CPU shares the L2 cache of CPU 7");
  EXPECT_EQ(text({.allowed = {0, 1}, .level = 2, .domains = {6}}),
            why + "no allowed CPU uses L2 domain 6");
  EXPECT_EQ(text({.allowed = {0, 1}, .level = 2, .domains = {6, 7}}),
            why + "no allowed CPU uses L2 domains 6-7");
  EXPECT_EQ(text({.allowed = all, .command = {5}, .level = 2, .domains = {4}}),
            why + "CPU 5 does not use L2 domain 4");
}

TEST_F(PlaceTest, OrTheCpusThatAreAskedFor) {
  EXPECT_EQ(text({.allowed = all, .command = {1, 2}}), "1-2: 4-7 of L3, 8192 KiB behind 512 KiB");
  EXPECT_EQ(text({.allowed = all, .command = {1, 2}, .level = 2}),
            "1-2: 0,3 of L2, 512 KiB behind 0 KiB on its core");
  EXPECT_EQ(text({.allowed = all, .command = {3, 4}, .level = 2}),
            why + "CPUs 3-4 do not share one L2 cache");
  EXPECT_EQ(text({.allowed = all, .command = {3, 4}, .level = 2, .beside_noise = false}),
            "3-4: 0-1 of L2, 512 KiB behind 0 KiB");
  EXPECT_EQ(text({.allowed = {0, 1}, .command = {1, 2}}), why + "CPU 2 is offline or not allowed");
  put("isolated", "2-3\n");
  EXPECT_EQ(text({.allowed = {0, 1}, .command = {1, 2}}),
            why + "CPU 2 is isolated: 'taskset --cpu-list CPUS rdtctl ...' may use it");
}

// A probe that fits in the next smaller cache never reads from the one that is divided.
TEST(ProbeSize, IsBetweenTheNextSmallerCacheAndTheShare) {
  const Place xeon{.cache = {3, 0}, .bytes = 45 << 20, .inner_bytes = 2 << 20};
  EXPECT_EQ(probe_size(xeon, 12 << 20), 9U << 20);
  EXPECT_EQ(probe_size(xeon, 6 << 20), (6U << 20) / 4 * 3);
  EXPECT_EQ(probe_size(xeon, 5 << 20), std::nullopt);
  const Place only{.cache = {2, 0}, .bytes = 512 << 10, .inner_bytes = 32 << 10};
  EXPECT_EQ(probe_size(only, 128 << 10), 96U << 10);
  EXPECT_EQ(probe_size({}, 0), std::nullopt);
}

TEST(ProbeSize, TheProbeFitsInTheRegion) {
  const bench::Region region{"buffer", "/dev/pseudo_lock/buffer", 128 << 10, {2, 1}};
  const struct {
    const char* probe;
    uint64_t size;
    std::string error;
  } rows[] = {
      {"latency", 128 << 10, ""},
      {"timer:2ms", 128 << 10, ""},
      {"latency:64K", 64 << 10, ""},
      {"timer:2ms:64K", 64 << 10, ""},
      {"latency:128K", 128 << 10, ""},
      {"latency:256K", 256 << 10,
       "rdtctl: --probe latency:256K reads more memory than pseudo_lock 'buffer' has: 128 KiB\n"},
  };
  for (const auto& row : rows) {
    Workload workload;
    workload.probe_text = row.probe;
    workload.probe = parse_probe(row.probe);
    testing::internal::CaptureStderr();
    EXPECT_EQ(bench::fit_probe(workload, region), row.error.empty() ? 0 : 1) << row.probe;
    EXPECT_EQ(testing::internal::GetCapturedStderr(), row.error);
    EXPECT_EQ(workload.probe->size, row.size) << row.probe;
  }
  Workload workload;
  workload.probe = Probe{};
  testing::internal::CaptureStderr();
  EXPECT_EQ(bench::fit_probe(workload, {"buffer", "/dev/pseudo_lock/buffer", 0, {2, 1}}), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "rdtctl: the kernel does not tell how large pseudo_lock 'buffer' is\n");
}

TEST(ProbeSize, WhatCannotShowADifferenceIsSaid) {
  const Place place{.cache = {3, 0}, .bytes = 32 << 20, .inner_bytes = 1 << 20};
  const struct {
    const char* probe;
    unsigned ways;  // of 16
    uint64_t size;
    std::string warning, error;
  } rows[] = {
      {"latency", 6, 9 << 20, "", ""},
      {"timer", 6, 9 << 20, "", ""},
      {"latency", 0, 24 << 20, "", ""},
      {"latency:8M", 6, 8 << 20, "", ""},
      {"latency:256K", 6, 256 << 10,
       "The probe reads 256 KiB, which its core finds in its L2 cache of 1.00 MiB: the L3 cache "
       "makes no difference to it.",
       ""},
      {"timer:1ms:16M", 6, 16 << 20,
       "The probe reads 16.00 MiB, more than the 12.00 MiB of group 'redis'.", ""},
      {"latency", 1, 0, "",
       "rdtctl: group 'redis' has 2.00 MiB of the L3 cache, and each core has an L2 cache of 1.00 "
       "MiB before it, which hides what a probe of that size does: use more ways, or --probe with "
       "a SIZE\n"},
  };
  for (const auto& row : rows) {
    Workload workload;
    workload.probe = parse_probe(row.probe);
    testing::internal::CaptureStderr();
    const auto warnings = bench::size_probe(workload, place, {"redis", row.ways, 16});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), row.error) << row.probe;
    EXPECT_EQ(warnings.has_value(), row.error.empty());
    EXPECT_EQ(workload.probe->size, row.size) << row.probe;
    const auto expected =
        row.warning.empty() ? std::vector<std::string>{} : std::vector{row.warning};
    EXPECT_EQ(warnings.value_or(std::vector<std::string>{}), expected) << row.probe;
  }
  Workload command;
  EXPECT_EQ(bench::size_probe(command, place, {"redis", 1, 16}), std::vector<std::string>{});
}

// Such as one that went offline.
TEST(Pin, ToACpuThatIsNotThereIsAnError) {
  const CpuSet before = allowed_cpus();
  const auto pinned = pin({8000});
  ASSERT_FALSE(pinned);
  EXPECT_EQ(pinned.error().text(), "cannot run on CPU 8000: Invalid argument");
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(Pin, IsToTheseCpusAlone) {
  const CpuSet before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  const CpuSet one = {*before.rbegin()};
  EXPECT_TRUE(pin(one));
  EXPECT_EQ(allowed_cpus(), one);
  EXPECT_TRUE(pin(before));
  EXPECT_EQ(allowed_cpus(), before);
}

}  // namespace
}  // namespace rdtd::experiment
