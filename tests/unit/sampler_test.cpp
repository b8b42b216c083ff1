// Sampler: what a sample has of a tree, and what only the first one has.
#include "rdtd/observer/sampler.hpp"

#include <gtest/gtest.h>

#include "files.hpp"

namespace rdtd {
namespace {

class SamplerTest : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    put("info/L3_MON/num_rmids", "8\n");
    put_group("", "L3:0=f\n", "4096\n");
    put_group("redis/", "L3:0=3\n", "8192\n");
    put("redis/mon_groups/web/mon_data/mon_L3_00/llc_occupancy", "1\n");
  }
  void put_group(const std::string& directory, const std::string& schemata,
                 const std::string& occupancy) const {
    put(directory + "schemata", schemata);
    put(directory + "tasks", "");
    put(directory + "mode", "shareable\n");
    put(directory + "mon_data/mon_L3_00/llc_occupancy", occupancy);
  }
};

// The guard of a replay makes steps of the size that the machine had.
TEST_F(SamplerTest, HeaderSaysWhatTheMachineIs) {
  put("schemata", "L3:0=f\nMB:0=100\n");
  put("size", "L3:0=4194304\n");
  put("cpus_list", "0-3\n");
  for (const auto& [file, text] :
       {std::pair("L3/cbm_mask", "f\n"), std::pair("L3/min_cbm_bits", "1\n"),
        std::pair("L3/num_closids", "4\n"), std::pair("MB/bandwidth_gran", "10\n"),
        std::pair("MB/min_bandwidth", "20\n"), std::pair("MB/num_closids", "4\n"),
        std::pair("MB/delay_linear", "1\n")})
    put(std::string("info/") + file, text);
  const observe::Header header = Sampler(*Tree::open(root_.string())).header(1);
  EXPECT_TRUE(header.mb.percent);
  EXPECT_EQ(header.mb.step, 10);
  EXPECT_EQ(header.mb.least, 20);
  EXPECT_EQ(header.way_bytes.at("L3").at(DomainId{0}), 1U << 20);
}

// A device may have filled what a group lost there.
TEST_F(SamplerTest, TheWaysOfDevices) {
  const auto ways = [&] { return Sampler(*Tree::open(root_.string())).header(1).io_ways; };
  using Ways = decltype(observe::Header::io_ways);
  put("schemata", "L3:0=ff;1=ff\n");
  put("size", "L3:0=4194304;1=4194304\n");
  put("cpus_list", "0-3\n");
  for (const auto& [file, text] :
       {std::pair("cbm_mask", "ff\n"), std::pair("min_cbm_bits", "1\n"),
        std::pair("num_closids", "4\n"), std::pair("shareable_bits", "c0\n")})
    put(std::string("info/L3/") + file, text);
  EXPECT_EQ(ways(), (Ways{{"L3", {{DomainId{0}, 0xc0}, {DomainId{1}, 0xc0}}}}));
  put("info/L3/io_alloc", "disabled\n");
  put("info/L3/io_alloc_cbm", "0=3;1=40\n");
  EXPECT_EQ(ways(), (Ways{{"L3", {{DomainId{0}, 0xc0}, {DomainId{1}, 0xc0}}}}));
  put("info/L3/io_alloc", "enabled\n");
  EXPECT_EQ(ways(), (Ways{{"L3", {{DomainId{0}, 0xc3}, {DomainId{1}, 0xc0}}}}));
  put("info/L3/io_alloc_cbm", "0=10;1=40\n");
  EXPECT_EQ(ways(), (Ways{{"L3", {{DomainId{0}, 0xd0}, {DomainId{1}, 0xc0}}}}));
  // The caches of instructions and of data are one.
  put("schemata", "L3CODE:0=ff;1=ff\nL3DATA:0=ff;1=ff\n");
  fs::rename(root_ / "info/L3", root_ / "info/L3CODE");
  fs::copy(root_ / "info/L3CODE", root_ / "info/L3DATA");
  EXPECT_EQ(ways(), (Ways{{"L3", {{DomainId{0}, 0xd0}, {DomainId{1}, 0xc0}}}}));
}

// A failed reading, or a domain that is offline, takes nothing away.
TEST_F(SamplerTest, WhatCannotBeReadStays) {
  put("schemata", "L3:0=ff;1=ff\nMB:0=100;1=100\n");
  put("size", "L3:0=4194304;1=4194304\nMB:0=100;1=100\n");
  put("cpus_list", "0-3\n");
  for (const auto& [file, text] :
       {std::pair("L3/cbm_mask", "ff\n"), std::pair("L3/min_cbm_bits", "1\n"),
        std::pair("L3/num_closids", "4\n"), std::pair("L3/shareable_bits", "c0\n"),
        std::pair("MB/bandwidth_gran", "10\n"), std::pair("MB/min_bandwidth", "20\n"),
        std::pair("MB/num_closids", "4\n"), std::pair("MB/delay_linear", "1\n")})
    put(std::string("info/") + file, text);
  const Sampler sampler(*Tree::open(root_.string()));
  const observe::Header whole = sampler.header(1);
  EXPECT_EQ(whole.way_bytes.at("L3").size(), 2U);
  observe::Header header = whole;
  fs::rename(root_ / "schemata", root_ / "hidden");
  sampler.update(header);
  EXPECT_EQ(header, whole);
  fs::rename(root_ / "hidden", root_ / "schemata");
  put("schemata", "L3:1=ff\nMB:1=100\n");
  put("size", "L3:1=4194304\nMB:1=100\n");
  sampler.update(header);
  EXPECT_EQ(header.way_bytes, whole.way_bytes);
  put("info/L3/shareable_bits", "80\n");
  sampler.update(header);
  EXPECT_EQ(header.io_ways.at("L3").at(DomainId{1}), 0x80U);
}

// Amounts stand in a recording where they change.
TEST_F(SamplerTest, SchemataThatAreNew) {
  using Changed = std::map<std::string, std::string>;
  Sampler sampler(*Tree::open(root_.string()));
  const auto first = sampler.sample();
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(first->schemata, (Changed{{"default", "L3:0=f"}, {"redis", "L3:0=3"}}));
  EXPECT_EQ(first->counters.size(), 3U);
  EXPECT_EQ(sampler.sample()->schemata, Changed{});
  put("redis/schemata", "L3:0=1\n");
  EXPECT_EQ(sampler.sample()->schemata, (Changed{{"redis", "L3:0=1"}}));
  EXPECT_EQ(sampler.sample()->schemata, Changed{});
  // A recording begins with all of them, and with who is gone.
  sampler.begin_recording();
  EXPECT_EQ(sampler.sample()->schemata, (Changed{{"default", "L3:0=f"}, {"redis", "L3:0=1"}}));
  fs::remove_all(root_ / "redis");
  sampler.begin_recording();
  EXPECT_EQ(sampler.sample()->schemata, (Changed{{"default", "L3:0=f"}, {"redis", ""}}));
  EXPECT_EQ(sampler.sample()->schemata, Changed{});
}

// Only a group that is gone has none.
TEST_F(SamplerTest, SchemataThatCannotBeRead) {
  using Changed = std::map<std::string, std::string>;
  Sampler sampler(*Tree::open(root_.string()));
  const auto hide = [&] { fs::rename(root_ / "redis/schemata", root_ / "redis/hidden"); };
  const auto show = [&] { fs::rename(root_ / "redis/hidden", root_ / "redis/schemata"); };
  hide();
  EXPECT_EQ(sampler.sample()->schemata, (Changed{{"default", "L3:0=f"}}));
  show();
  EXPECT_EQ(sampler.sample()->schemata, (Changed{{"redis", "L3:0=3"}}));
  hide();
  EXPECT_EQ(sampler.sample()->schemata, Changed{});
  sampler.begin_recording();
  EXPECT_EQ(sampler.sample()->schemata, (Changed{{"default", "L3:0=f"}, {"redis", "L3:0=3"}}));
  show();
  EXPECT_EQ(sampler.sample()->schemata, Changed{});
}

// MPAM rounds a percentage: the guard looks for the one that its step asked for.
TEST_F(SamplerTest, PercentagesThatTheKernelRounds) {
  put("info/MB/bandwidth_gran", "2\n");
  put("redis/schemata", "L3:0=3\nMB:0=9\n");
  Sampler sampler(*Tree::open(root_.string()));
  EXPECT_EQ(sampler.sample()->schemata.at("redis"), "L3:0=3 MB:0=10");
}

}  // namespace
}  // namespace rdtd
