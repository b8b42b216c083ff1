// The first policy of README.md, in force on the model kernels of the machines that people have.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "machines.hpp"
#include "rdtd/base/text.hpp"
#include "world.hpp"

namespace rdtd {
namespace {

// The lines that are indented below its heading.
std::string policy_of_readme() {
  std::ifstream file(RDTD_TEST_DATA "/../../README.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = text.find("## A first policy");
  std::string out;
  for (const std::string_view line : split(std::string_view(text).substr(begin), '\n')) {
    if (line.starts_with("- ")) break;
    if (line.starts_with("    ")) out += std::string(line.substr(4)) + "\n";
  }
  return out;
}

fake::Machine ice_lake() {
  return test::with_l3(fake::xeon(2, 12),
                       [](fake::Control& l3) { l3.shareable_bits = Cbm::range(10, 2); });
}

// Linux 7.1: what MPAM has in common with x86.
fake::Machine mpam() {
  fake::Machine machine = test::arm();
  for (const char* name : {"MB_HLIM", "L3_MAX", "MB_NODE"})
    machine.controls.erase(Resource(name, false));
  return machine;
}

struct FirstPolicyCase {
  const char* name;
  fake::Machine machine;
  const char* tree;
  const char* beside_others;  // the same where libvirt has two machines
};

const std::vector<FirstPolicyCase>& first_policy_cases() {
  static const std::vector<FirstPolicyCase> all = {
      {"Ice Lake", ice_lake(),
       "redis exclusive L3:0-1=f MB:0-1=100\n"
       "batch shareable L3:0-1=10 MB:0-1=10\n"
       "default shareable L3:0-1=ff0 MB:0-1=100\n",
       "redis exclusive L3:0-1=78 MB:0-1=100\n"
       "batch shareable L3:0-1=200 MB:0-1=10\n"
       "default shareable L3:0-1=f80 MB:0-1=100\n"},
      {"Genoa", fake::amd(),
       "redis exclusive L3:0=f MB:0=2048 SMBA:0=2048\n"
       "batch shareable L3:0=10 MB:0=32 SMBA:0=2048\n"
       "default shareable L3:0=fff0 MB:0=2048 SMBA:0=2048\n",
       "redis exclusive L3:0=78 MB:0=2048 SMBA:0=2048\n"
       "batch shareable L3:0=200 MB:0=32 SMBA:0=2048\n"
       "default shareable L3:0=ff87 MB:0=2048 SMBA:0=2048\n"},
      {"MPAM", mpam(),
       "redis shareable L3:0-1=f MB:0-1=100\n"
       "batch shareable L3:0-1=10 MB:0-1=10\n"
       "default shareable L3:0-1=fff0 MB:0-1=100\n",
       "redis shareable L3:0-1=78 MB:0-1=100\n"
       "batch shareable L3:0-1=200 MB:0-1=10\n"
       "default shareable L3:0-1=ff87 MB:0-1=100\n"},
      {"Vera", test::arm(),
       "redis shareable L3:0-1=f MB:0-1=100 L3_MAX:0-1=100 MB_HLIM:0-1=0 "
       "MB_NODE:0-1,65536=100\n"
       "batch shareable L3:0-1=10 MB:0-1=10 L3_MAX:0-1=100 MB_HLIM:0-1=0 "
       "MB_NODE:0-1,65536=100\n"
       "default shareable L3:0-1=fff0 MB:0-1=100 L3_MAX:0-1=100 MB_HLIM:0-1=0 "
       "MB_NODE:0-1,65536=100\n",
       "redis shareable L3:0-1=78 MB:0-1=100 L3_MAX:0-1=100 MB_HLIM:0-1=0 "
       "MB_NODE:0-1,65536=100\n"
       "batch shareable L3:0-1=200 MB:0-1=10 L3_MAX:0-1=100 MB_HLIM:0-1=0 "
       "MB_NODE:0-1,65536=100\n"
       "default shareable L3:0-1=ff87 MB:0-1=100 L3_MAX:0-1=100 MB_HLIM:0-1=0 "
       "MB_NODE:0-1,65536=100\n"},
  };
  return all;
}

class FirstPolicy : public test::World {
 protected:
  void add_machines_of_libvirt() {
    for (const auto& [name, mask] :
         {std::pair("qemu-1-web-vcpus_0-1", "7"), std::pair("qemu-2-db-emulator", "180")}) {
      ASSERT_TRUE(kernel.resctrl.make(name));
      std::string masks = "L3:";
      for (const auto& [id, domain] : kernel.resctrl.machine.controls.at(Resource::L3).domains)
        masks += fmt::format("{}={};", to_string(id), mask);
      masks.back() = '\n';
      ASSERT_TRUE(kernel.resctrl.write(std::string(name) + "/schemata", masks));
    }
  }
  [[nodiscard]] std::string tree() const {
    std::string out;
    for (const char* group : {"redis", "batch", ""})
      out += fmt::format("{} {} {}\n", group_label(group),
                         trim(kernel.resctrl.read(resctrl::file_of(group, "mode")).value_or("-")),
                         schemata(group));
    return out;
  }
};

TEST_F(FirstPolicy, IsInForce) {
  for (const FirstPolicyCase& c : first_policy_cases())
    for (const bool beside_others : {false, true}) {
      SCOPED_TRACE(c.name);
      cpus = c.machine.cpus;
      use(c.machine);
      if (beside_others) add_machines_of_libvirt();
      const auto others = [&] {
        return schemata("qemu-1-web-vcpus_0-1") + schemata("qemu-2-db-emulator");
      };
      const std::string before = others();
      const pid_t tar = processes.start({.name = "tar"});
      ASSERT_EQ(reload(policy_of_readme()), "");
      EXPECT_EQ(group_of(tar), "batch");
      EXPECT_EQ(tree(), beside_others ? c.beside_others : c.tree);
      EXPECT_EQ(state(), "running");
      EXPECT_EQ(problems(), std::vector<std::string>{});
      EXPECT_EQ(others(), before);
    }
}

// The kernel turns L3 CAT off on Cascade Lake, and a policy may say that the rest is to be had.
TEST_F(FirstPolicy, WithoutL3) {
  use(test::without_l3());
  const std::string first = policy_of_readme();
  EXPECT_EQ(reload(first),
            "p.toml:3:6: error: 'l3': resctrl offers no L3 here; it offers MB\n"
            "    3 | l3 = \"4 ways\"\n"
            "      |      ^~~~~~~~ on Skylake-SP and Cascade Lake, the kernel needs "
            "rdt=l3cat on its command line to offer it\n"
            "p.toml:6:6: error: 'l3': resctrl offers no L3 here; it offers MB\n"
            "    6 | l3 = \"1 way\"\n"
            "      |      ^~~~~~~ on Skylake-SP and Cascade Lake, the kernel needs "
            "rdt=l3cat on its command line to offer it\n");
  ASSERT_EQ(reload("[daemon]\nunsupported = \"skip\"\n" + first), "");
  EXPECT_EQ(tree(),
            "redis shareable MB:0-1=100\n"
            "batch shareable MB:0-1=10\n"
            "default shareable MB:0-1=100\n");
}

}  // namespace
}  // namespace rdtd
