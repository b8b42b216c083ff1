// A machine whose rows of `schemata` and lists of CPUs are longer than what the kernel takes in one
// write.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "world.hpp"

namespace rdtd {
namespace {

constexpr unsigned num_cpus = 2048;
constexpr unsigned cpus_of_domain = 2;  // so that there are 1024
const std::string everything = "L2CODE:0-1023=ff L2DATA:0-1023=ff";

fake::Machine large() {
  fake::Machine machine = fake::atom();
  fake::Control l2 = machine.controls.at(Resource::L2);
  l2.domains.clear();
  for (unsigned cpu = 0; cpu < num_cpus; cpu++) {
    machine.cpus.insert(cpu);
    fake::Domain& domain = l2.domains[DomainId{cpu / cpus_of_domain}];
    domain.cpus.insert(cpu);
    domain.way_bytes = 512 << 10;
  }
  machine.controls = {{Resource::L2CODE, l2}, {Resource::L2DATA, l2}};
  return machine;
}

class LargeMachineTest : public test::World {
 protected:
  void SetUp() override {
    cpus = large().cpus;
    use(large());
  }
  [[nodiscard]] size_t writes_to(const std::string& file) const {
    return static_cast<size_t>(std::ranges::count_if(
        kernel.calls.log(),
        [&](const fake::Call& call) { return call.operation == "write" && call.path == file; }));
  }
};

TEST_F(LargeMachineTest, Schemata) {
  ASSERT_EQ(reload("[group.a]\nl2 = \"2 ways\"\nexclusive = true\n"), "");
  EXPECT_EQ(schemata("a"), "L2CODE:0-1023=3 L2DATA:0-1023=3");
  EXPECT_EQ(schemata(""), "L2CODE:0-1023=fc L2DATA:0-1023=fc");
  EXPECT_EQ(state(), "running");
  ASSERT_EQ(reload(""), "");
  EXPECT_EQ(schemata(""), everything);
}

// Also the half of a step is undone.
TEST_F(LargeMachineTest, AWriteThatFailsHalfWay) {
  const std::string before = "[group.a]\nl2 = \"2 ways\"\nexclusive = true\n";
  ASSERT_EQ(reload(before), "");
  kernel.calls.reset();
  kernel.calls.fail_if(
      [this](const fake::Call& call) {
        return call.operation == "write" && call.path == "a/schemata" &&
               writes_to("a/schemata") == 2;
      },
      EIO);
  const std::string refusal = reload("[group.a]\nl2 = \"3 ways\"\nexclusive = true\n");
  EXPECT_TRUE(refusal.ends_with(
      "' to /sys/fs/resctrl/a/schemata: Input/output error (everything is as it was)"))
      << refusal;
  EXPECT_GT(writes_to("a/schemata"), 2U);
  EXPECT_EQ(schemata("a"), "L2CODE:0-1023=3 L2DATA:0-1023=3");
  EXPECT_EQ(schemata(""), "L2CODE:0-1023=fc L2DATA:0-1023=fc");
  EXPECT_EQ(kernel.resctrl.find("a")->mode, Mode::exclusive);
}

TEST_F(LargeMachineTest, Cpus) {
  CpuSet odd;
  for (unsigned cpu = 1; cpu < num_cpus; cpu += 2) odd.insert(cpu);
  ASSERT_EQ(reload("[group.a]\ncpus = \"" + format_cpu_list(odd) + "\"\n"), "");
  EXPECT_EQ(kernel.resctrl.find("a")->cpus, odd);
  EXPECT_EQ(writes_to("a/cpus"), 1U);
  EXPECT_EQ(state(), "running");
  ASSERT_EQ(reload("[group.a]\ncpus = \"0-1023\"\n"), "");
  EXPECT_EQ(writes_to("a/cpus_list"), 1U);
  EXPECT_EQ(kernel.resctrl.find("a")->cpus.size(), 1024U);
}

}  // namespace
}  // namespace rdtd
