// `monitor_cpus`: what runs on these CPUs is counted, by a monitoring group that rdtd keeps beside
// those of other tools.
#include <gtest/gtest.h>

#include "world.hpp"

namespace rdtd::monitor_cpus {
namespace {

const std::string redis_text = "[group.redis]\nl3 = \"4 ways\"\n";

std::string rule(const std::string& monitor) {
  return "[[rule]]\ngroup = \"default\"\nname = \"nginx\"\nmonitor = \"" + monitor + "\"\n";
}

class MonitorCpus : public test::World {
 protected:
  void reconcile() {
    manager->reconciler().reconcile();
    run(std::chrono::seconds(1));
  }
};

const std::string counting = redis_text +
                             "cpus = \"2-3\"\nmonitor_cpus = { core = 2 }\n"
                             "[group.default]\nmonitor_cpus = { web = \"0-1\" }\n";

TEST_F(MonitorCpus, CountsByCpu) {
  ASSERT_EQ(reload(counting + rule("web")), "");
  EXPECT_EQ(kernel.resctrl.read("redis/mon_groups/core/cpus_list"), "2\n");
  EXPECT_EQ(kernel.resctrl.read("mon_groups/web/cpus_list"), "0-1\n");
  const pid_t pid = processes.start({.name = "nginx"});
  place_at_exec(pid);
  EXPECT_EQ(group_of(pid), "default/web");
  // No template makes or removes them.
  ASSERT_EQ(reload(counting + rule("{user}")), "");
  run(std::chrono::minutes(3));
  EXPECT_EQ(kernel.resctrl.read("mon_groups/web/cpus_list"), "0-1\n");
  ASSERT_EQ(reload(redis_text + rule("web")), "");
  EXPECT_EQ(kernel.resctrl.read("mon_groups/web/cpus_list"), "\n");
  EXPECT_FALSE(kernel.resctrl.read("redis/mon_groups/core/cpus_list"));
  ASSERT_EQ(reload(""), "");
  EXPECT_FALSE(kernel.resctrl.read("mon_groups/web/cpus_list"));
}

TEST_F(MonitorCpus, CpusOfAMonitoringGroupAreKept) {
  const struct {
    const char* what;
    void (*change)(fake::Resctrl&);
    const char* drift;
  } rows[] = {
      {"another tool",
       [](fake::Resctrl& resctrl) { (void)resctrl.write("mon_groups/web/cpus_list", "1\n"); },
       "monitoring group 'default/web': CPUs 1, granted 0-1"},
      {"another tool, by way of the control group",
       [](fake::Resctrl& resctrl) { (void)resctrl.write("redis/cpus_list", "2-3\n"); },
       "monitoring group 'redis/core': CPUs none, granted 2"},
      {"the kernel",
       [](fake::Resctrl& resctrl) {
         resctrl.take_offline(1);
         resctrl.bring_online(1);
       },
       "monitoring group 'default/web': CPUs 0, granted 0-1"},
  };
  for (const bool restores : {true, false})
    for (const auto& row : rows) {
      ASSERT_EQ(reload(counting + (restores ? "" : "[daemon]\ndrift = \"report\"\n")), "");
      drift.clear();
      row.change(kernel.resctrl);
      reconcile();
      EXPECT_EQ(drift,
                std::vector<std::string>{std::string(row.drift) + (restores ? "; restored" : "")})
          << row.what << restores;
      EXPECT_EQ(kernel.resctrl.read("mon_groups/web/cpus_list") == "0-1\n" &&
                    kernel.resctrl.read("redis/mon_groups/core/cpus_list") == "2\n",
                restores)
          << row.what;
    }
}

TEST_F(MonitorCpus, CpusOfAGroupThatGoes) {
  for (const char* drift_setting : {"restore", "report"}) {
    const std::string daemon = fmt::format("[daemon]\ndrift = \"{}\"\n", drift_setting);
    ASSERT_EQ(reload(daemon + "[group.g]\ncpus = \"2-3\"\n"), "");
    ASSERT_EQ(reload(daemon + "[group.default]\nmonitor_cpus = { a = \"2-3\" }\n"), "");
    EXPECT_EQ(kernel.resctrl.read("mon_groups/a/cpus_list"), "2-3\n");
    reconcile();
    EXPECT_EQ(drift, std::vector<std::string>{});
  }
}

TEST_F(MonitorCpus, ACpuThatAnotherToolsGroupHas) {
  ASSERT_EQ(reload("[group.default]\nmonitor_cpus = { a = \"2-3\" }\n"), "");
  ASSERT_TRUE(kernel.resctrl.make("theirs"));
  ASSERT_TRUE(kernel.resctrl.write("theirs/cpus_list", "3\n"));
  reconcile();
  EXPECT_EQ(drift, std::vector<std::string>{"monitoring group 'default/a': CPUs 2, granted 2-3; "
                                            "group 'theirs' has 3"});
  EXPECT_EQ(kernel.resctrl.read("theirs/cpus_list"), "3\n");
  ASSERT_TRUE(kernel.resctrl.write("theirs/cpus_list", "\n"));
  reconcile();
  EXPECT_EQ(kernel.resctrl.read("mon_groups/a/cpus_list"), "2-3\n");
}

// Limits do not wait for what is counted, and what could not be counted is, as soon as it can.
TEST_F(MonitorCpus, CpusThatTheKernelRefuses) {
  const std::string with_limit = "[group.g]\nl3 = \"2 ways\"\n";
  for (const char* drift_setting : {"restore", "report"})
    for (const bool exists : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", drift_setting, exists));
      const std::string daemon = fmt::format("[daemon]\ndrift = \"{}\"\n", drift_setting);
      const std::string before = exists ? "[group.default]\nmonitor_cpus = { a = 0 }\n" : "";
      ASSERT_EQ(reload(daemon + before), "");
      kernel.calls.fail_if(
          [](const fake::Call& call) {
            return call.operation == "write" && call.path == "mon_groups/a/cpus_list";
          },
          EINVAL);
      ASSERT_EQ(reload(daemon + with_limit + "[group.default]\nmonitor_cpus = { a = \"0-1\" }\n"),
                "");
      EXPECT_NE(schemata("g"), "none");
      EXPECT_EQ(problems().size(), 1U);
      kernel.calls.reset();
      reconcile();
      EXPECT_EQ(kernel.resctrl.read("mon_groups/a/cpus_list"), "0-1\n");
      EXPECT_EQ(problems(), std::vector<std::string>{});
      EXPECT_EQ(drift, std::vector<std::string>{});
    }
}

// Another tool's monitoring group may end while it gets its CPUs back.
TEST_F(MonitorCpus, AMonitoringGroupOfAnotherToolThatEnds) {
  ASSERT_EQ(reload(counting), "");
  ASSERT_TRUE(kernel.resctrl.make("redis/mon_groups/theirs"));
  ASSERT_TRUE(kernel.resctrl.write("redis/mon_groups/theirs/cpus_list", "3\n"));
  kernel.calls.hook = [&](const fake::Call& call) {
    if (call.operation == "write" && call.path == "redis/cpus_list")
      (void)kernel.resctrl.remove("redis/mon_groups/theirs");
  };
  EXPECT_EQ(reload(redis_text + "cpus = \"1-3\"\nmonitor_cpus = { core = 1 }\n"), "");
  kernel.calls.hook = nullptr;
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_EQ(kernel.resctrl.read("redis/mon_groups/core/cpus_list"), "1\n");
}

// CPUs that a group took from the default group go back to who counted there.
TEST_F(MonitorCpus, AnUndoGivesTheDefaultGroupsMonitorsTheirCpusBack) {
  ASSERT_TRUE(kernel.resctrl.make("mon_groups/pqos"));
  ASSERT_TRUE(kernel.resctrl.write("mon_groups/pqos/cpus_list", "2-3\n"));
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "write" && call.path == "b/mode"; },
      EIO);
  EXPECT_NE(reload("[group.b]\nl3 = \"2 ways\"\nexclusive = true\ncpus = \"2-3\"\n"), "");
  kernel.calls.reset();
  EXPECT_EQ(schemata("b"), "none");
  EXPECT_EQ(kernel.resctrl.read("mon_groups/pqos/cpus_list"), "2-3\n");
}

// A load that ends half way leaves the CPUs of other tools' monitoring groups with them.
TEST_F(MonitorCpus, AnUndoGivesMonitoringGroupsTheirCpusBack) {
  ASSERT_EQ(reload(counting), "");
  ASSERT_TRUE(kernel.resctrl.make("redis/mon_groups/theirs"));
  ASSERT_TRUE(kernel.resctrl.write("redis/mon_groups/theirs/cpus_list", "3\n"));
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.operation == "write" && call.path == "b/mode"; },
      EIO);
  EXPECT_NE(reload(redis_text + "cpus = \"1-3\"\nmonitor_cpus = { core = 1 }\n"
                                "[group.b]\nl3 = \"2 ways\"\nexclusive = true\n"),
            "");
  kernel.calls.reset();
  EXPECT_EQ(kernel.resctrl.read("redis/cpus_list"), "2-3\n");
  EXPECT_EQ(kernel.resctrl.read("redis/mon_groups/core/cpus_list"), "2\n");
  EXPECT_EQ(kernel.resctrl.read("redis/mon_groups/theirs/cpus_list"), "3\n");
  EXPECT_EQ(kernel.resctrl.read("mon_groups/web/cpus_list"), "0-1\n");
}

}  // namespace
}  // namespace rdtd::monitor_cpus
