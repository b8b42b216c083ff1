// The real Filesystem on an ordinary directory: errors, links, locks, tasks.
#include "rdtd/resctrl/kernel.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>

#include "files.hpp"
#include "rdtd/resctrl/counters.hpp"
#include "rdtd/resctrl/tree.hpp"

namespace rdtd {
namespace {

class KernelTest : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    put("schemata", "L3:0=f\n");
    put("tasks", "");
    put("redis/tasks", "12\n3\n");
    kernel_ = std::move(*resctrl::Kernel::open(root_.string()));
  }
  [[nodiscard]] std::string path(const std::string& file) const { return (root_ / file).string(); }
  std::unique_ptr<resctrl::Kernel> kernel_;
};

TEST_F(KernelTest, Operations) {
  EXPECT_TRUE(kernel_->make("batch"));
  EXPECT_EQ(kernel_->make("batch").error().text(),
            "cannot make group " + path("batch") + ": File exists");
  const auto entries = kernel_->list("");
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 4U);
  EXPECT_EQ((*entries)[0].name, "batch");
  EXPECT_TRUE((*entries)[0].is_directory);
  struct stat status{};
  ASSERT_EQ(::stat(path("batch").c_str(), &status), 0);
  EXPECT_EQ((*entries)[0].inode, status.st_ino);
  EXPECT_TRUE(kernel_->remove("batch"));
  EXPECT_EQ(kernel_->remove("batch").error().text(),
            "cannot remove group " + path("batch") + ": No such file or directory");
  EXPECT_EQ(kernel_->read("schemata").value_or(""), "L3:0=f\n");
  EXPECT_EQ(kernel_->read("none").error().code, ENOENT);
  EXPECT_TRUE(kernel_->write("schemata", "L3:0=3\n"));
  EXPECT_EQ(kernel_->write("none/schemata", "L3:0=3\n").error().code, ENOENT);
  EXPECT_EQ(kernel_->list("none").error().code, ENOENT);
  EXPECT_EQ(kernel_->path(), root_.string());
}

// The error contains the command, without its last line break. A command that was written in part
// has failed.
TEST_F(KernelTest, AWriteThatFailsNamesTheCommand) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const auto write_at_most = [&](rlim_t bytes) {
    const rlimit limited{bytes, before.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
    const auto written = kernel_->write("schemata", "L3:0=3\n");
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    return written ? "" : written.error().text();
  };
  const std::string cannot = "cannot write 'L3:0=3' to " + path("schemata") + ": ";
  EXPECT_EQ(write_at_most(0), cannot + "File too large");
  EXPECT_EQ(write_at_most(4), cannot + "Input/output error");
  EXPECT_EQ(write_at_most(7), "");
  (void)std::signal(SIGXFSZ, handler);
}

TEST_F(KernelTest, TheLockIsNotWaitedFor) {
  const auto other = std::move(*resctrl::Kernel::open(root_.string()));
  {
    const auto lock = kernel_->lock();
    ASSERT_TRUE(lock);
    EXPECT_EQ(other->lock().error().code, EWOULDBLOCK);
  }
  EXPECT_TRUE(other->lock());
}

TEST_F(KernelTest, Tasks) {
  EXPECT_EQ(resctrl::read_tasks(*kernel_, "redis").value_or(std::vector<pid_t>{}),
            (std::vector<pid_t>{3, 12}));
  EXPECT_FALSE(resctrl::read_tasks(*kernel_, "none"));
  const auto tasks = kernel_->open_tasks("");
  ASSERT_TRUE(tasks);
  EXPECT_EQ((*tasks)->add(77), 0);
  EXPECT_EQ(kernel_->read("tasks").value_or(""), "77");
  EXPECT_EQ(kernel_->open_tasks("none").error().code, ENOENT);
}

// Whatever the kernel has in mon_data: it differs between processors.
TEST_F(KernelTest, Counters) {
  put("mon_data/mon_L3_00/llc_occupancy", "4096\n");
  put("mon_data/mon_L3_00/mbm_total_bytes", "Unavailable\n");
  put("mon_data/mon_L3_00/mon_sub_L3_01/mbm_total_bytes", "9\n");
  put("mon_data/mon_PERF_PKG_00/core_energy", "12.625\n");
  put("mon_data/odd/llc_occupancy", "1\n");
  put("redis/mon_data/mon_L3_01/mbm_local_bytes", "Unassigned\n");
  put("redis/mon_data/mon_L3_01/mbm_total_bytes", "Error\n");
  put("redis/mon_data/mon_L3_01/new", "7 of 9\n");
  put("redis/mon_groups/m/mon_data/mon_MB_1000/mbm_total_bytes", "5\n");
  put("info/last_cmd_status", "ok\n");
  const auto counters = resctrl::read_counters(*kernel_);
  ASSERT_TRUE(counters);
  std::string text;
  for (const DomainCounters& of : *counters) {
    text += group_label(of.group) + " " + of.resource + " " + to_string(of.domain);
    for (const auto& [name, value] : of.counters) {
      text += " " + name + "=";
      if (const auto* integer = std::get_if<uint64_t>(&value)) text += std::to_string(*integer);
      if (const auto* decimal = std::get_if<double>(&value))
        text += fmt::format("{:.3f}", *decimal);
      if (const auto* reason = std::get_if<NoCount>(&value)) text += to_string(*reason);
    }
    text += "\n";
  }
  EXPECT_EQ(text,
            "default L3 0 llc_occupancy=4096 mbm_total_bytes=Unavailable\n"
            "default sub_L3 1 mbm_total_bytes=9\n"
            "default PERF_PKG 0 core_energy=12.625\n"
            "redis L3 1 mbm_local_bytes=Unassigned mbm_total_bytes=Error\n"
            "redis/m MB 1000 mbm_total_bytes=5\n");
}

// Kernels that put devices into groups name them in the same file.
TEST_F(KernelTest, IommuGroups) {
  put("redis/tasks", "12\niommu_group:7\n3\niommu_group:5\niommu_group:\niommu_group:x\n");
  const auto members = resctrl::read_members(*kernel_, "redis");
  ASSERT_TRUE(members);
  EXPECT_EQ(members->tasks, (std::vector<pid_t>{3, 12}));
  EXPECT_EQ(members->iommu_groups, (std::set<unsigned>{5, 7}));
  EXPECT_EQ(resctrl::iommu_groups_text(members->iommu_groups), "IOMMU groups 5,7");
  EXPECT_EQ(resctrl::iommu_groups_text({5}), "IOMMU group 5");
  EXPECT_EQ(resctrl::iommu_groups_text({}), "");
}

// Programs that only look at resctrl read the same.
TEST_F(KernelTest, ATreeReadsCountersAndTasks) {
  put("mon_data/mon_L3_00/llc_occupancy", "4096\n");
  const auto tree = Tree::open(root_.string());
  ASSERT_TRUE(tree);
  const auto counters = tree->read_counters();
  ASSERT_TRUE(counters);
  ASSERT_EQ(counters->size(), 1U);
  EXPECT_EQ((*counters)[0].counters.at("llc_occupancy"), CounterValue(uint64_t{4096}));
  EXPECT_EQ(tree->read_tasks("redis").value_or(std::vector<pid_t>{}), (std::vector<pid_t>{3, 12}));
  EXPECT_EQ(tree->read_tasks("none").error().text(),
            "cannot open " + path("none/tasks") + ": No such file or directory");
}

TEST_F(KernelTest, FollowsNoLink) {
  put("elsewhere/secret", "secret\n");
  fs::create_symlink(root_ / "elsewhere/secret", root_ / "mode");
  fs::create_directory_symlink(root_ / "elsewhere", root_ / "linked");
  EXPECT_FALSE(kernel_->read("mode"));
  EXPECT_FALSE(kernel_->read("linked/secret"));
  EXPECT_FALSE(kernel_->list("linked"));
  ASSERT_EQ(::mkfifo(path("size").c_str(), 0600), 0);
  EXPECT_FALSE(kernel_->read("size"));
}

TEST_F(KernelTest, Open) {
  fs::remove(root_ / "schemata");
  EXPECT_EQ(resctrl::Kernel::open(root_.string()).error().code, ENODEV);
  EXPECT_EQ(resctrl::Kernel::open(path("none")).error().code, ENOENT);
}

}  // namespace
}  // namespace rdtd
