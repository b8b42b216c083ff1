// What the kernel refuses at the first load keeps nothing else from being in force, and is tried
// again by itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "world.hpp"

namespace rdtd {
namespace {

const std::string only_b = "[group.b]\nl3 = \"3 ways\"\n[[rule]]\ngroup = \"b\"\nname = \"in-b\"\n";

class RefusedPartsTest : public test::World {
 protected:
  void refuse(const std::string& operation, const std::string& path, int code) {
    kernel.calls.reset();
    kernel.calls.fail_if(
        [=](const fake::Call& call) { return call.operation == operation && call.path == path; },
        code);
  }
  [[nodiscard]] std::ptrdiff_t attempts(const std::string& text) const {
    return std::ranges::count(kernel.calls.texts(), text);
  }
};

TEST_F(RefusedPartsTest, OneGroupKeepsNoOtherFromBeingHad) {
  const std::string a =
      "[group.a]\nl3 = \"2 ways\"\nmb = \"50%\"\nexclusive = true\ncpus = \"1\"\n[[rule]]\n"
      "group = \"a\"\nname = \"in-a\"\n";
  const std::string dir = "/sys/fs/resctrl/a";
  const struct {
    const char *operation, *path;
    int code;
    std::string why;
  } rows[] = {
      {"make", "a", ENOSPC, "cannot make group " + dir + ": No space left on device"},
      {"make", "a", EBUSY, "cannot make group " + dir + ": Device or resource busy"},
      {"write", "a/schemata", EINVAL,
       "cannot write 'L3:0=18;1=18\nMB:0=50;1=50' to " + dir + "/schemata: Invalid argument"},
      {"write", "a/cpus_list", EINVAL,
       "cannot write '1' to " + dir + "/cpus_list: Invalid argument"},
      {"write", "a/mode", EINVAL, "cannot write 'exclusive' to " + dir + "/mode: Invalid argument"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(fmt::format("{} {} {}", row.operation, row.path, row.code));
    refuse(row.operation, row.path, row.code);
    use(kernel.resctrl.machine);
    const pid_t in_a = processes.start({.name = "in-a"}), in_b = processes.start({.name = "in-b"});
    policy = a + only_b;
    EXPECT_EQ(load(), "");
    EXPECT_EQ(schemata("a"), "none");
    EXPECT_EQ(group_of(in_a), "default");
    EXPECT_EQ(group_of(in_b), "b");
    EXPECT_EQ(schemata("b"), "L3:0-1=7 MB:0-1=100");
    EXPECT_EQ(state(), "degraded");
    EXPECT_EQ(problems(), std::vector<std::string>{"group 'a' is not in force: " + row.why});
    kernel.calls.reset();
    run(std::chrono::seconds(20));
    EXPECT_EQ(group_of(in_a), "a");
    EXPECT_EQ(kernel.resctrl.find("a")->mode, Mode::exclusive);
    EXPECT_EQ(kernel.resctrl.find("a")->cpus, CpuSet{1});
    EXPECT_EQ(problems(), std::vector<std::string>{});
    processes.exit(in_a);
    processes.exit(in_b);
  }
}

// One at a time, but at once after one that the kernel takes again.
TEST_F(RefusedPartsTest, AllAreHadOnceTheKernelTakesThem) {
  std::string many;
  for (int i = 0; i < 6; i++) many += fmt::format("[group.g{}]\nmb = \"50%\"\n", i);
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "make"; }, ENOMEM);
  policy = many;
  EXPECT_EQ(load(), "");
  EXPECT_EQ(problems().size(), 6U);
  kernel.calls.reset();
  run(std::chrono::seconds(11));
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_EQ(kernel.resctrl.groups.size(), 7U);
}

// A kernel that takes its time to refuse keeps the daemon busy for two seconds at a time, and the
// rest waits for no more than that: what was asked for in one load is not asked for in the next.
TEST_F(RefusedPartsTest, SlowRefusalsAreAskedForALittleAtATime) {
  std::string many = only_b;
  for (int i = 0; i < 6; i++) many += fmt::format("[group.g{}]\nmb = \"50%\"\n", i);
  int refusals = 0;
  kernel.calls.fail_if(
      [&](const fake::Call& call) {
        if (call.operation != "make" || call.path == "b") return false;
        clock += std::chrono::seconds(1);
        refusals++;
        return true;
      },
      ENOMEM);
  policy = many;
  int at_once = 0;
  manager->start([&](const auto&) { at_once = refusals; });
  run(std::chrono::seconds(5));
  EXPECT_EQ(at_once, 2);
  run(std::chrono::seconds(30));
  EXPECT_EQ(schemata("b"), "L3:0-1=7 MB:0-1=100");
  EXPECT_EQ(problems().size(), 6U);
  kernel.calls.reset();
  run(std::chrono::seconds(300));
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_EQ(kernel.resctrl.groups.size(), 8U);
}

// Of files that change while nothing is in force yet: what is no policy leaves it at those of
// before, and is still shown; what only the machine refuses is what is wanted from then on.
TEST_F(RefusedPartsTest, FilesThatChangeDuringTheSearch) {
  kernel.calls.fail_if(
      [&](const fake::Call& call) {
        if (call.operation != "make" || !call.path.starts_with("g")) return false;
        clock += std::chrono::seconds(1);
        return true;
      },
      ENOMEM);
  const std::string many = only_b + "[group.g1]\nmb = \"50%\"\n[group.g2]\nmb = \"50%\"\n";
  policy = many;
  manager->start([](const auto&) {});
  run();
  EXPECT_NE(reload("[group.b]\nl3 = \"many ways\"\n"), "");
  run(std::chrono::seconds(30));
  EXPECT_EQ(schemata("b"), "L3:0-1=7 MB:0-1=100");
  EXPECT_EQ(problems().front(), "the last reload failed");
  start();
  policy = many;
  manager->start([](const auto&) {});
  run();
  EXPECT_NE(reload(many + "[group.c]\nl3 = \"2 ways\"\n"), "");
  run(std::chrono::seconds(30));
  EXPECT_NE(schemata("c"), "none");
  EXPECT_EQ(problems().size(), 2U);
}

// The others are not written meanwhile.
TEST_F(RefusedPartsTest, IsTriedAgainAfterPausesThatGrow) {
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "make" && call.path == "a"; }, ENOSPC);
  policy = "[group.a]\nl3 = \"2 ways\"\n" + only_b;
  EXPECT_EQ(load(), "");
  const uint64_t b = kernel.resctrl.find("b")->inode;
  for (int i = 0; i < 600; i++) {
    run(std::chrono::seconds(1));
    manager->reconciler().resctrl_changed({"a"});
  }
  EXPECT_GE(attempts("make a"), 6);
  EXPECT_LE(attempts("make a"), 10);
  EXPECT_EQ(kernel.resctrl.find("b")->inode, b);
  EXPECT_EQ(schemata("b"), "L3:0-1=7 MB:0-1=100");
}

TEST_F(RefusedPartsTest, AReloadTriesAllOfIt) {
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "make" && call.path == "a"; }, ENOSPC);
  policy = "[group.a]\nl3 = \"2 ways\"\n" + only_b;
  ASSERT_EQ(load(), "");
  EXPECT_EQ(reload(policy),
            "cannot make group /sys/fs/resctrl/a: No space left on device (everything is as it "
            "was)");
  kernel.calls.reset();
  EXPECT_EQ(reload(policy), "");
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

// A group of before, whose limits the kernel does not change: it is left as it is, with its
// processes.
TEST_F(RefusedPartsTest, AGroupThatCannotBeChangedKeepsNoOther) {
  const std::string alone = "exclusive = true\n[[rule]]\ngroup = \"a\"\nname = \"in-a\"\n";
  const pid_t in_a = processes.start({.name = "in-a"});
  ASSERT_EQ(reload("[group.a]\nl3 = \"2 ways\"\n" + alone), "");
  const std::string before = schemata("a");
  start();
  refuse("write", "a/schemata", EIO);
  policy = "[group.a]\nl3 = \"4 ways\"\n" + alone + only_b;
  EXPECT_EQ(load(), "");
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(schemata("a"), before);
    EXPECT_EQ(kernel.resctrl.find("a")->mode, Mode::exclusive);
    EXPECT_EQ(group_of(in_a), "a");
    EXPECT_NE(schemata("b"), "none");
    EXPECT_EQ(problems(), std::vector<std::string>{
                              "group 'a' is not in force: cannot write 'L3:0=1e0;1=1e0' to "
                              "/sys/fs/resctrl/a/schemata: Input/output error"});
    manager->reconciler().reconcile();
    run(std::chrono::seconds(20));
  }
  kernel.calls.reset();
  run(std::chrono::seconds(60));
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_EQ(schemata("a"), "L3:0-1=1e0 MB:0-1=100");
  EXPECT_EQ(group_of(in_a), "a");
}

// What is in force stays so, although the kernel refuses to change it for what waits: the default
// group must leave ways.
TEST_F(RefusedPartsTest, NothingInForceIsLeftOut) {
  refuse("make", "a", EBUSY);
  policy =
      "[group.a]\nl3 = \"4 ways\"\nexclusive = true\n" + only_b + "[group.default]\nmb = \"50%\"\n";
  ASSERT_EQ(load(), "");
  const std::string before = schemata("b") + schemata("");
  refuse("write", "schemata", EIO);
  run(std::chrono::seconds(60));
  EXPECT_EQ(schemata("b") + schemata(""), before);
  EXPECT_EQ(schemata("a"), "none");
  kernel.calls.reset();
  run(std::chrono::seconds(300));
  EXPECT_NE(schemata("a"), "none");
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

TEST_F(RefusedPartsTest, TasksThatCannotBeOpenedKeepNoOther) {
  refuse("open_tasks", "a/tasks", EMFILE);
  const pid_t in_b = processes.start({.name = "in-b"}), in_a = processes.start({.name = "in-a"});
  policy = "[group.a]\nl3 = \"2 ways\"\n[[rule]]\ngroup = \"a\"\nname = \"in-a\"\n" + only_b;
  EXPECT_EQ(load(), "");
  EXPECT_EQ(group_of(in_b), "b");
  EXPECT_EQ(problems(),
            std::vector<std::string>{"cannot open /sys/fs/resctrl/a/tasks: Too many open files"});
  kernel.calls.reset();
  run(std::chrono::seconds(20));
  EXPECT_EQ(group_of(in_a), "a");
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

TEST_F(RefusedPartsTest, ARegionKeepsNoGroup) {
  use(fake::atom());
  refuse("write", "buffer/schemata", ENOMEM);
  policy = "[pseudo_lock.buffer]\nl2 = { \"1\" = \"1 MiB\" }\n[group.b]\nl2 = \"2 ways\"\n";
  EXPECT_EQ(load(), "");
  EXPECT_NE(schemata("b"), "none");
  EXPECT_EQ(schemata("buffer"), "none");
  EXPECT_EQ(problems(),
            std::vector<std::string>{"pseudo_lock 'buffer' is not in force: cannot write 'L2:1=c' "
                                     "to /sys/fs/resctrl/buffer/schemata: Cannot allocate memory"});
  kernel.calls.reset();
  run(std::chrono::seconds(20));
  EXPECT_EQ(kernel.resctrl.find("buffer")->mode, Mode::pseudo_locked);
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

TEST_F(RefusedPartsTest, WaysOfDevicesKeepNoGroup) {
  use(fake::with_io_alloc(fake::amd()));
  refuse("write", "info/L3/io_alloc", EINVAL);
  policy = "[io]\nl3 = \"2 ways\"\n[group.b]\nl3 = \"ways 0-3\"\n";
  EXPECT_EQ(load(), "");
  EXPECT_EQ(schemata("b"), "L3:0=f MB:0=2048 SMBA:0=2048");
  EXPECT_EQ(problems(), std::vector<std::string>{
                            "the ways of I/O devices are not in force: cannot write '1' to "
                            "/sys/fs/resctrl/info/L3/io_alloc: Invalid argument"});
  kernel.calls.reset();
  run(std::chrono::seconds(20));
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_FALSE(kernel.resctrl.read("info/L3/io_alloc_cbm").value_or("").empty());
}

// What needs nothing of the default group is had.
TEST_F(RefusedPartsTest, TheDefaultGroupsPart) {
  const std::string why =
      "cannot write 'L3:0=fffe0;1=fffe0\nMB:0=50;1=50' to "
      "/sys/fs/resctrl/schemata: Cannot allocate memory";
  refuse("write", "schemata", ENOMEM);
  policy = "[group.a]\nl3 = \"2 ways\"\nexclusive = true\n[group.default]\nmb = \"50%\"\n" + only_b;
  EXPECT_EQ(load(), "");
  EXPECT_EQ(problems(),
            (std::vector<std::string>{"group 'a' is not in force: " + why,
                                      "the amounts of group 'default' are not in force: " + why}));
  EXPECT_EQ(schemata("b"), "L3:0-1=7 MB:0-1=100");
  run(std::chrono::seconds(600));
  EXPECT_EQ(schemata("b"), "L3:0-1=7 MB:0-1=100");
  EXPECT_LE(attempts("write schemata 'L3:0=fffe0;1=fffe0\nMB:0=50;1=50'"), 10);
  kernel.calls.reset();
  run(std::chrono::seconds(300));
  EXPECT_NE(schemata("a"), "none");
  EXPECT_EQ(schemata("").substr(schemata("").find("MB")), "MB:0-1=50");
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

// What a lease asks for is had or refused, whatever waits meanwhile.
TEST_F(RefusedPartsTest, ALeaseIsNotLeftOut) {
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "make" && (call.path == "a" || call.path == "bench");
      },
      ENOSPC);
  policy = "[daemon]\nreconcile_interval = \"0\"\n[group.a]\nl3 = \"2 ways\"\n" + only_b;
  ASSERT_EQ(load(), "");
  clock += std::chrono::seconds(60);  // its pause is over
  EXPECT_EQ(lease("bench", "[group.bench]\nl3 = \"2 ways\"\n"),
            "cannot make group /sys/fs/resctrl/bench: No space left on device (everything is as it "
            "was)");
  EXPECT_EQ(lease("other", "[group.other]\nl3 = \"2 ways\"\n"), "");
  EXPECT_NE(schemata("other"), "none");
}

// A group of another tool that comes meanwhile is no reason to forget what waits.
TEST_F(RefusedPartsTest, AnothersGroupDoesNotEndTheWait) {
  refuse("make", "a", ENOSPC);
  policy = "[group.a]\nl3 = \"2 ways\"\n" + only_b;
  ASSERT_EQ(load(), "");
  const std::vector<std::string> waits = problems();
  ASSERT_TRUE(kernel.resctrl.make("theirs"));
  ASSERT_TRUE(kernel.resctrl.write("theirs/schemata", "L3:0=c0000;1=c0000\n"));
  ASSERT_TRUE(kernel.resctrl.write("schemata", "L3:0=3fff8;1=3fff8\n"));
  ASSERT_TRUE(kernel.resctrl.write("theirs/mode", "exclusive\n"));
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(problems(), waits);
  kernel.calls.reset();
  run(std::chrono::seconds(20));
  EXPECT_NE(schemata("a"), "none");
}

}  // namespace
}  // namespace rdtd
