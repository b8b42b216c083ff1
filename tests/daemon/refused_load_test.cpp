// Loads that fail: what the refusal says, and what is there afterwards.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

class RefusedLoadTest : public test::World {
 protected:
  // The next load gives this refusal.
  Refusal refusal_of(const std::string& text) {
    policy = text;
    Refusal refusal{.text = "none"};
    manager->changes().reload([&](const std::expected<void, Refusal>& done) {
      if (!done) refusal = done.error();
    });
    run(std::chrono::seconds(5));
    return refusal;
  }
  // Another tool acts before the first call with this text.
  void before(const std::string& text, std::function<void()> change) {
    kernel.calls.reset();
    kernel.calls.hook = [this, text, change = std::move(change)](const fake::Call& call) {
      if (!call.text().starts_with(text)) return;
      const auto once = std::exchange(kernel.calls.hook, nullptr);
      change();
    };
  }
  void fail(const std::string& text, int code) {
    kernel.calls.fail_if([text](const fake::Call& call) { return call.text().starts_with(text); },
                         code);
  }
};

// The kind decides how the bus and the log name a refusal.
TEST_F(RefusedLoadTest, Kinds) {
  std::string many;
  for (int i = 0; i < 20; i++) many += "[group.g" + std::to_string(i) + "]\n";
  const struct {
    const char* name;
    std::string policy;
    const char* fails;
    int code;
    Refusal::Kind kind;
  } rows[] = {
      {"a key", "x = 1\n", "none", 0, Refusal::Kind::invalid_policy},
      {"CLOSIDs", many, "none", 0, Refusal::Kind::out_of_closids},
      {"no CLOSID", "[group.a]\n", "make", ENOSPC, Refusal::Kind::out_of_closids},
      {"RMIDs in limbo", "[group.a]\n", "make", EBUSY, Refusal::Kind::busy},
      {"a file", "[group.a]\n", "write a/schemata", EIO, Refusal::Kind::kernel_rejected},
      {"another's group", "[group.theirs]\n", "none", 0, Refusal::Kind::busy},
  };
  (void)kernel.resctrl.make("theirs");
  for (const auto& row : rows) {
    kernel.calls.reset();
    fail(row.fails, row.code);
    EXPECT_EQ(refusal_of(row.policy).kind, row.kind) << row.name;
    EXPECT_EQ(kernel.resctrl.groups.size(), 2U) << row.name;
  }
}

// A reading that fails is no error of the policy, after which the daemon would not start again.
TEST_F(RefusedLoadTest, TheSizeOfACacheThatCannotBeRead) {
  for (const int code : {EIO, EMFILE}) {
    fail("read size", code);
    const Refusal refusal = refusal_of("[group.a]\nl3 = \"256 KiB\"\n");
    EXPECT_EQ(refusal.text,
              fmt::format("cannot read /sys/fs/resctrl/size: {}", std::strerror(code)));
    EXPECT_EQ(refusal.kind, Refusal::Kind::kernel_rejected);
    kernel.calls.reset();
  }
  EXPECT_EQ(refusal_of("[group.a]\nl3 = \"256 KiB\"\n").text, "none");
}

// Nor does it end a lease.
TEST_F(RefusedLoadTest, TheSizeOfACacheThatALeaseNeeds) {
  ASSERT_EQ(lease("job", "[group.b]\nl3 = \"256 KiB\"\n"), "");
  fail("read size", EIO);
  (void)refusal_of("[group.a]\nl3 = \"1 way\"\n");
  kernel.calls.reset();
  run(std::chrono::minutes(2));
  EXPECT_EQ(manager->answers().list_leases({.uid = 0, .pid = 1}).size(), 1U);
  EXPECT_NE(schemata("b"), "none");
}

TEST_F(RefusedLoadTest, CodeAndDataNeedAnotherMount) {
  const Refusal refusal = refusal_of("[group.a]\nl3data = \"4 ways\"\n");
  EXPECT_EQ(refusal.kind, Refusal::Kind::not_supported);
  EXPECT_EQ(refusal.text,
            "p.toml:2:10: error: 'l3data': resctrl is mounted without 'cdp', so code and data "
            "share L3\n    2 | l3data = \"4 ways\"\n      |          ^~~~~~~~ if the processor has "
            "cdp_l3 (Arm: if the kernel was built with CONFIG_EXPERT=y): systemctl edit "
            "sys-fs-resctrl.mount, add the lines \"[Mount]\" and \"Options=cdp\", and reboot\n");
}

// What is written is read back, since some kernels round it.
TEST_F(RefusedLoadTest, SchemataThatReadBackOtherwise) {
  before("read redis/schemata", [&] { (void)kernel.resctrl.write("redis/schemata", "L3:1=3\n"); });
  EXPECT_EQ(refusal_of(redis_policy).text,
            "cannot write 'L3:0=f;1=f' to /sys/fs/resctrl/redis/schemata: it reads back '0=f;1=3'; "
            "everything is as it was");
  EXPECT_EQ(kernel.resctrl.groups.size(), 1U);
}

TEST_F(RefusedLoadTest, AGroupThatIsRemovedAtOnce) {
  bool made = false;
  kernel.calls.hook = [&](const fake::Call& call) {
    if (call.operation == "list" && made) (void)kernel.resctrl.remove("redis");
    made |= call.operation == "make";
  };
  EXPECT_EQ(refusal_of(redis_policy).text,
            "cannot make group /sys/fs/resctrl/redis: No such file or directory (another tool "
            "removed it at once; everything is as it was)");
  kernel.calls.hook = nullptr;
  EXPECT_EQ(refusal_of(redis_policy).text, "none");
}

TEST_F(RefusedLoadTest, ARecordThatCannotBeWritten) {
  put("groups/in the way", "");
  kernel.calls.reset();
  EXPECT_EQ(refusal_of(redis_policy).text, "cannot replace " + (root_ / "groups").string() +
                                               ": Is a directory (nothing was changed)");
  EXPECT_EQ(kernel.calls.changes(), std::vector<std::string>{});
}

// Each thing that an undo could not restore is named.
TEST_F(RefusedLoadTest, AnUndoThatFailsIsReported) {
  const std::string both = redis_policy + "[group.b]\nl3 = \"2 ways\"\n";
  const std::string change = "[group.redis]\nl3 = \"6 ways\"\n[group.b]\nl3 = \"3 ways\"\n";
  ASSERT_EQ(reload(both), "");
  before("write b/schemata", [&] {
    (void)kernel.resctrl.remove("redis");
    fail("write b/schemata", EIO);
  });
  EXPECT_EQ(refusal_of(change).text,
            "cannot write 'L3:0=1c0;1=1c0' to /sys/fs/resctrl/b/schemata: Input/output error (not "
            "restored: group 'redis': another tool removed it meanwhile)");
  kernel.calls.reset();
  ASSERT_EQ(reload(both), "");
  before("write b/schemata", [&] { fail("write", EIO); });
  EXPECT_EQ(refusal_of(change).text,
            "cannot write 'L3:0=1c0;1=1c0' to /sys/fs/resctrl/b/schemata: Input/output error (not "
            "restored: group 'redis': cannot write 'exclusive' to /sys/fs/resctrl/redis/mode: "
            "Input/output error)");
  kernel.calls.reset();
  EXPECT_EQ(reload(both), "");
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
}

// No CLOSID is free, so that redis is removed before b is made; its tasks cannot be put back.
TEST_F(RefusedLoadTest, TasksThatCannotBePutBackAreReported) {
  for (auto& [resource, control] : kernel.resctrl.machine.controls) control.num_closids = 2;
  kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
  const pid_t redis = processes.start({.name = "redis-server"});
  ASSERT_EQ(reload(redis_policy), "");
  before("write b/schemata", [&] {
    fail("write b/schemata", EIO);
    fail("add", EPERM);
  });
  EXPECT_EQ(
      refusal_of("[group.b]\nl3 = \"2 ways\"\n").text,
      "cannot write 'L3:0=3;1=3\nMB:0=100;1=100' to /sys/fs/resctrl/b/schemata: Input/output error "
      "(not restored: cannot put its tasks back in group 'redis': Operation not permitted)");
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  kernel.calls.reset();
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(redis), "redis");
}

// The same for devices.
TEST_F(RefusedLoadTest, DevicesGoBack) {
  for (auto& [resource, control] : kernel.resctrl.machine.controls) control.num_closids = 2;
  kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
  ASSERT_EQ(reload(redis_policy), "");
  kernel.resctrl.find("redis")->iommu_groups = {5, 7};
  const std::string other = "[group.b]\nl3 = \"2 ways\"\n";
  before("write b/schemata", [&] { fail("write b/schemata", EIO); });
  EXPECT_EQ(
      refusal_of(other).text,
      "cannot write 'L3:0=3;1=3\nMB:0=100;1=100' to /sys/fs/resctrl/b/schemata: Input/output error "
      "(everything is as it was)");
  EXPECT_EQ(kernel.resctrl.find("redis")->iommu_groups, (std::set<unsigned>{5, 7}));
  kernel.calls.reset();
  before("write b/schemata", [&] {
    fail("write b/schemata", EIO);
    fail("write redis/tasks", EPERM);
  });
  EXPECT_TRUE(refusal_of(other).text.ends_with(
      "(not restored: cannot put its tasks back in group 'redis': Operation not permitted)"));
}

// A CPU that another group was given is back in its own.
TEST_F(RefusedLoadTest, CpusGoBack) {
  ASSERT_EQ(reload("[group.a]\ncpus = \"1\"\n[group.b]\n"), "");
  before("write b/schemata", [&] { fail("write b/schemata", EIO); });
  EXPECT_EQ(refusal_of("[group.a]\n[group.b]\ncpus = \"1\"\nl3 = \"2 ways\"\n").text,
            "cannot write 'L3:0=3;1=3' to /sys/fs/resctrl/b/schemata: Input/output error "
            "(everything is as it was)");
  EXPECT_EQ(kernel.resctrl.find("a")->cpus, CpuSet{1});
  EXPECT_EQ(kernel.resctrl.find("b")->cpus, CpuSet{});
}

}  // namespace
}  // namespace rdtd
