// A daemon that is killed at any call to the kernel: the next one knows each group that it made,
// and brings the policy in force; a reset leaves nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include "world.hpp"

namespace rdtd {
namespace {

class KillTest : public test::World {
 protected:
  // The kernel and the record as they are just before a call.
  struct Left {
    std::string call;
    fake::Resctrl resctrl;
    std::optional<std::string> record;
  };
  // After each change, and before it: between others, nothing differs.
  std::vector<Left> left_by(const std::function<void()>& act) {
    std::vector<Left> out;
    bool after_change = true;
    kernel.calls.hook = [&](const fake::Call& call) {
      const bool changes = call.operation == "make" || call.operation == "remove" ||
                           call.operation == "write" || call.operation == "add";
      if (changes || after_change) out.push_back({call.text(), kernel.resctrl, record()});
      after_change = changes;
    };
    act();
    kernel.calls.hook = {};
    return out;
  }
  [[nodiscard]] std::optional<std::string> record() const {
    const std::ifstream file(root_ / "groups");
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void restart_on(const Left& left) {
    kernel.resctrl = left.resctrl;
    std::filesystem::remove(root_ / "groups");
    if (left.record) std::ofstream(root_ / "groups") << *left.record;
    start();
  }
  void settle() {
    for (int turn = 0; turn < 3; turn++) {
      manager->reconciler().reconcile();
      run(std::chrono::seconds(30));
    }
  }
  // `text` is the policy of the daemon that comes after.
  void kill_at_each_call(const std::function<void()>& act, const std::string& text) {
    const std::vector<Left> kills = left_by(act);
    settle();
    const std::string wanted = tree();
    for (const Left& left : kills) {
      SCOPED_TRACE(fmt::format("{}\n{}", left.call, left.record.value_or("no record")));
      restart_on(left);
      policy = text;
      EXPECT_EQ(load(), "");
      settle();
      EXPECT_EQ(tree(), wanted);
      EXPECT_EQ(problems(), std::vector<std::string>{});
      EXPECT_EQ(wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); }),
                "");
      EXPECT_EQ(tree(), empty_);
      if (HasFailure()) return;
    }
  }
  struct Policies {
    fake::Machine machine;
    std::string first, second;
  };
  // The first load, a reload, and a comparison that makes all groups again.
  void kill(const Policies& row) {
    const auto begin = [&](const std::string& text) {
      use(row.machine);
      empty_ = tree();
      policy = text;
    };
    begin(row.first);
    kill_at_each_call([&] { (void)load(); }, row.first);
    begin(row.first);
    ASSERT_EQ(load(), "");
    kill_at_each_call([&] { (void)reload(row.second); }, row.second);
    begin(row.first);
    ASSERT_EQ(load(), "");
    settle();
    const auto groups = kernel.resctrl.groups;
    for (const fake::Group& group : groups)
      if (!group.name.empty() && !is_pseudo(group.mode)) (void)kernel.resctrl.remove(group.name);
    kill_at_each_call(
        [&] {
          manager->reconciler().cpu_changed();
          run(std::chrono::seconds(5));
        },
        row.first);
  }

  std::string empty_;  // the machine without a policy
};

TEST_F(KillTest, CpusAndExclusiveGroups) {
  kill({fake::xeon(),
        "[group.a]\nl3 = \"2 ways\"\nexclusive = true\n[group.b]\nmb = \"50%\"\ncpus = \"1\"\n"
        "[group.c]\nl3 = \"1 way\"\n",
        "[group.a]\nl3 = \"5 ways\"\nexclusive = true\n[group.b]\nmb = \"30%\"\nl3 = \"3 ways\"\n"
        "[group.d]\nl3 = \"1 way\"\ncpus = \"1\"\n"});
}

TEST_F(KillTest, LockedRegions) {
  kill({fake::atom(),
        "[pseudo_lock.buffer]\nl2 = { \"1\" = \"1 MiB\" }\n[group.a]\nl2 = \"2 ways\"\n",
        "[pseudo_lock.buffer]\nl2 = { \"1\" = \"512 KiB\" }\n[group.b]\nl2 = \"3 ways\"\n"});
}

TEST_F(KillTest, MonitoringGroupsWithCpus) {
  kill({fake::xeon(),
        "[group.a]\nl3 = \"2 ways\"\nmonitor_cpus = { c0 = \"0\" }\ncpus = \"0\"\n"
        "[group.b]\nmb = \"50%\"\n",
        "[group.a]\nl3 = \"3 ways\"\nmonitor_cpus = { c0 = \"0\", c1 = \"1\" }\ncpus = \"0-1\"\n"});
}

TEST_F(KillTest, IoDevices) {
  kill({fake::with_io_alloc(fake::amd()),
        "[io]\nl3 = \"2 ways\"\n[group.db]\nl3 = \"ways 0-3\"\nexclusive = true\n",
        "[io]\nl3 = \"3 ways\"\n[group.x]\nl3 = \"2 ways\"\n"});
}

// Such a group has tasks, so that its name alone does not show whose it is. Until its first change
// it is as its tool left it.
TEST_F(KillTest, AnAdoption) {
  use(fake::xeon());
  ASSERT_EQ(load(), "");
  ASSERT_TRUE(kernel.resctrl.make("theirs"));
  const std::string pid = std::to_string(processes.start({.name = "theirs"}));
  ASSERT_TRUE(kernel.resctrl.write("theirs/tasks", pid + "\n"));
  const std::string before = schemata("theirs");
  const std::string text = "[group.a]\nl3 = \"2 ways\"\n[group.theirs]\nl3 = \"3 ways\"\n";
  policy = text;
  const std::vector<Left> kills = left_by([&] {
    manager->changes().adopt({"theirs"}, [](const auto& adopted) { EXPECT_TRUE(adopted); });
    run(std::chrono::seconds(5));
  });
  size_t kills_after_a_change = 0;
  for (const Left& left : kills) {
    SCOPED_TRACE(fmt::format("{}\n{}", left.call, left.record.value_or("no record")));
    restart_on(left);
    if (schemata("theirs") == before) continue;
    kills_after_a_change++;
    EXPECT_EQ(load(), "");
    settle();
    EXPECT_EQ(problems(), std::vector<std::string>{});
  }
  EXPECT_GT(kills_after_a_change, 0U);
}

// The way back after a failure makes the region again that the reload had undone.
TEST_F(KillTest, AWayBack) {
  use(fake::atom());
  empty_ = tree();
  const std::string text = "[pseudo_lock.buffer]\nl2 = { \"1\" = \"1 MiB\" }\n";
  policy = text;
  ASSERT_EQ(load(), "");
  bool failed = false;
  kernel.calls.fail_if(
      [&](const fake::Call& call) {
        const bool hit = !failed && call.operation == "write" && call.path == "buffer/schemata";
        failed = failed || hit;
        return hit;
      },
      ENOMEM);
  kill_at_each_call([&] { (void)reload("[pseudo_lock.buffer]\nl2 = { \"1\" = \"512 KiB\" }\n"); },
                    text);
  EXPECT_TRUE(failed);
}

}  // namespace
}  // namespace rdtd
