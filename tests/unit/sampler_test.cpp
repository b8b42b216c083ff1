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
  fs::remove_all(root_ / "redis");
  EXPECT_EQ(sampler.sample()->schemata, (Changed{{"redis", ""}}));
  EXPECT_EQ(sampler.sample()->schemata, Changed{});
}

}  // namespace
}  // namespace rdtd
