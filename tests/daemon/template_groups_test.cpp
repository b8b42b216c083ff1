// Rules with a template of monitoring groups: each value gets a group when its first process comes,
// and the group goes a minute after the last one.
#include <gtest/gtest.h>

#include "rdtd/rules/monitor_value.hpp"
#include "world.hpp"

namespace rdtd {
namespace {

const std::string units =
    "[group.web]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"web\"\nname = \"worker\"\nmonitor = "
    "\"{unit}\"\n";

class TemplateGroupsTest : public test::World {
 protected:
  pid_t worker(const std::string& unit, const std::string& name = "worker") {
    return processes.start({.name = name, .cgroup = "/system.slice/" + unit});
  }
  // The loop thread looks a little later.
  void exec(pid_t pid) {
    place_at_exec(pid);
    const pid_t moved[] = {pid};
    manager->core().sweeper.look_for_more(moved);
    run(std::chrono::seconds(2));
  }
  void reconcile(std::chrono::seconds after = {}) {
    clock += after;
    manager->reconciler().reconcile();
    run(std::chrono::seconds(2));
  }
  [[nodiscard]] bool is_there(const std::string& group) const {
    return kernel.resctrl.read("web/mon_groups/" + group + "/tasks").has_value();
  }
};

TEST_F(TemplateGroupsTest, ComeWithTheFirstProcess) {
  const pid_t before = worker("shop.service");
  ASSERT_EQ(reload(units), "");
  EXPECT_EQ(group_of(before), "web/shop.service");
  const pid_t second = worker("shop.service");
  exec(second);
  EXPECT_EQ(group_of(second), "web/shop.service");
  const pid_t other = worker("mail.service");
  exec(other);
  EXPECT_EQ(group_of(other), "web/mail.service");
  const pid_t no_unit = processes.start({.name = "worker", .cgroup = "/"});
  exec(no_unit);
  EXPECT_EQ(group_of(no_unit), "web");
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_EQ(drift, std::vector<std::string>{});
}

// A program that a process executes in its group does not take it out.
TEST_F(TemplateGroupsTest, AnExecWritesNothing) {
  const pid_t pid = worker("shop.service");
  ASSERT_EQ(reload(units), "");
  kernel.calls.reset();
  exec(pid);
  EXPECT_EQ(kernel.calls.changes(), std::vector<std::string>{});
  EXPECT_EQ(group_of(pid), "web/shop.service");
}

TEST_F(TemplateGroupsTest, GoAMinuteAfterTheLastOne) {
  const pid_t pid = worker("shop.service");
  ASSERT_EQ(reload(units), "");
  processes.exit(pid);
  reconcile();
  EXPECT_TRUE(is_there("shop.service"));
  reconcile(std::chrono::seconds(30));
  EXPECT_TRUE(is_there("shop.service"));
  const pid_t again = worker("shop.service");
  exec(again);
  reconcile(std::chrono::seconds(31));
  EXPECT_TRUE(is_there("shop.service"));
  processes.exit(again);
  reconcile(std::chrono::seconds(30));
  reconcile(std::chrono::seconds(61));
  EXPECT_FALSE(is_there("shop.service"));
  EXPECT_EQ(drift, std::vector<std::string>{});
  // That it is gone is no reason to look at all processes.
  const auto table = manager->in_force().table;
  manager->reconciler().resctrl_changed({"web"});
  run(std::chrono::seconds(2));
  EXPECT_EQ(manager->in_force().table, table);
}

// A look at all processes in very many turns, while groups are made between them.
TEST_F(TemplateGroupsTest, ALongLookKeepsTheGroupsThatItFoundFirst) {
  const pid_t first = worker("first.service");
  for (int i = 0; i < 200; i++) (void)processes.start({.name = "other"});
  const pid_t last = worker("last.service");
  ASSERT_EQ(reload(units), "");
  for (int look = 0; look < 4; look++) {
    clock += std::chrono::seconds(61);
    manager->reconciler().reconcile();
    int turns = 0;
    for (int turn = 0; turn < 100; turn++) {
      manager->step(clock + std::chrono::microseconds(200));
      clock += std::chrono::milliseconds(250);
      if (manager->core().sweeper.sweeps()) turns++;
    }
    EXPECT_GE(turns, 3);
    EXPECT_FALSE(manager->core().sweeper.sweeps());
  }
  EXPECT_EQ(group_of(first), "web/first.service");
  EXPECT_EQ(group_of(last), "web/last.service");
  EXPECT_EQ(drift, std::vector<std::string>{});
}

// Nobody has moved what rdtd itself made a group for.
TEST_F(TemplateGroupsTest, AreFilledWhereDriftIsOnlyReported) {
  const pid_t pid = worker("shop.service");
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + units), "");
  EXPECT_EQ(group_of(pid), "web/shop.service");
  reconcile();
  EXPECT_EQ(drift, std::vector<std::string>{});
  EXPECT_EQ(state(), "running");
  ASSERT_TRUE(kernel.resctrl.write("tasks", std::to_string(pid)).has_value());
  reconcile();
  EXPECT_EQ(group_of(pid), "default");
  EXPECT_EQ(drift, std::vector<std::string>{"1 thread was not in the group that the rules name"});
}

// The group that a rule names is no matter of templates.
TEST_F(TemplateGroupsTest, AThreadTakenOutOfANamedGroupIsReported) {
  const pid_t pid = processes.start({.name = "named"});
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + units +
                   "[[rule]]\ngroup = \"web\"\nname = \"named\"\nmonitor = \"own\"\n"),
            "");
  ASSERT_EQ(group_of(pid), "web/own");
  ASSERT_TRUE(kernel.resctrl.write("web/tasks", std::to_string(pid)));
  ASSERT_EQ(group_of(pid), "web");
  reconcile();
  EXPECT_EQ(group_of(pid), "web");
  EXPECT_EQ(drift, std::vector<std::string>{"1 thread was not in the group that the rules name"});
}

// As a container runtime does, or rdtctl watch.
TEST_F(TemplateGroupsTest, LeaveWhomAnotherToolCountsWhereDriftIsOnlyReported) {
  const pid_t pid = worker("shop.service");
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + units), "");
  ASSERT_TRUE(kernel.resctrl.make("web/mon_groups/theirs"));
  ASSERT_TRUE(kernel.resctrl.write("web/mon_groups/theirs/tasks", std::to_string(pid)));
  reconcile();
  EXPECT_EQ(group_of(pid), "web/theirs");
  EXPECT_EQ(drift, std::vector<std::string>{"1 thread was not in the group that the rules name"});
}

// A rule without monitor takes a process out of them, and so does a value that waits.
TEST_F(TemplateGroupsTest, AreLeftWithTheValue) {
  const pid_t pid = worker("shop.service");
  const pid_t stays = worker("shop.service");
  const std::string all_of_unit = "[[rule]]\ngroup = \"web\"\nunit = \"shop.service\"\n";
  for (const char* report : {"", "[daemon]\ndrift = \"report\"\n"}) {
    ASSERT_EQ(reload(report + units + all_of_unit), "");
    ASSERT_EQ(group_of(pid), "web/shop.service");
    processes.rename(pid, "helper");
    manager->core().sweeper.visit({.pid = pid});
    run();
    EXPECT_EQ(group_of(pid), "web");
    processes.rename(pid, "worker");
    reconcile();
    EXPECT_EQ(group_of(pid), "web/shop.service");
    processes.rename(pid, "helper");
    reconcile();
    EXPECT_EQ(group_of(pid), "web");
    processes.rename(pid, "worker");
    reconcile();
    EXPECT_EQ(group_of(stays), "web/shop.service");
  }
}

// What cannot be listed may be there.
TEST_F(TemplateGroupsTest, AListingThatFailsRenewsNoTable) {
  const pid_t pid = worker("shop.service");
  ASSERT_EQ(reload(units), "");
  ASSERT_EQ(group_of(pid), "web/shop.service");
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "list" && call.path == "web/mon_groups";
      },
      EIO);
  const auto table = manager->in_force().table;
  for (int comparison = 0; comparison < 3; comparison++) {
    manager->reconciler().resctrl_changed({"web"});
    run(std::chrono::seconds(2));
  }
  EXPECT_EQ(manager->in_force().table, table);
}

TEST_F(TemplateGroupsTest, StayWithAReloadARestartAndGoWithTheirRule) {
  const pid_t pid = worker("shop.service");
  ASSERT_EQ(reload(units), "");
  kernel.calls.reset();
  ASSERT_EQ(reload(units), "");
  start();
  ASSERT_EQ(load(), "");
  EXPECT_EQ(kernel.calls.changes(), std::vector<std::string>{});
  EXPECT_EQ(group_of(pid), "web/shop.service");
  ASSERT_EQ(reload("[group.web]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"web\"\nname = \"worker\"\n"),
            "");
  EXPECT_FALSE(is_there("shop.service"));
  EXPECT_EQ(group_of(pid), "web");
}

// Another tool's group of that name is left alone.
TEST_F(TemplateGroupsTest, LeaveAnotherToolsGroupAlone) {
  ASSERT_EQ(reload(units), "");
  ASSERT_TRUE(kernel.resctrl.make("web/mon_groups/shop.service"));
  const pid_t pid = worker("shop.service");
  exec(pid);
  EXPECT_EQ(group_of(pid), "web");
  reconcile();
  EXPECT_EQ(manager->answers().properties().drift, 0U);
  EXPECT_EQ(problems(), std::vector<std::string>{});
  reconcile();
  EXPECT_EQ(manager->answers().properties().drift, 0U);
}

// More values than RMIDs: the newest wait, and a control group comes before them.
TEST_F(TemplateGroupsTest, WaitForAnRmid) {
  kernel.resctrl.machine.num_rmids = 6;
  for (auto& [resource, control] : kernel.resctrl.machine.controls) control.num_closids = 4;
  kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
  ASSERT_EQ(reload(units), "");
  exec(worker("a.service"));
  exec(worker("b.service"));
  const pid_t third = worker("c.service");
  exec(third);
  EXPECT_EQ(group_of(third), "web");
  EXPECT_EQ(problems(),
            std::vector<std::string>{"1 monitoring group waits for an RMID: web/c.service"});
  ASSERT_EQ(reload(units + "[group.batch]\n"), "");
  EXPECT_NE(kernel.resctrl.find("batch"), nullptr);
  reconcile();
  EXPECT_EQ(problems().size(), 1U);
}

// What other tools monitor counts too.
TEST_F(TemplateGroupsTest, LeaveAnRmidForALoad) {
  kernel.resctrl.machine.num_rmids = 6;
  for (auto& [resource, control] : kernel.resctrl.machine.controls) control.num_closids = 4;
  kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
  ASSERT_EQ(reload(units), "");
  for (const char* group : {"mon_groups/theirs", "web/mon_groups/theirs"})
    ASSERT_TRUE(kernel.resctrl.make(group));
  reconcile();
  exec(worker("a.service"));
  EXPECT_EQ(problems(),
            std::vector<std::string>{"1 monitoring group waits for an RMID: web/a.service"});
  ASSERT_EQ(reload(units + "[group.batch]\n"), "");
  EXPECT_NE(kernel.resctrl.find("batch"), nullptr);
}

TEST(MonitorValue, OfProcesses) {
  const std::string uid = "8f2c1d3e-0000-4abc-9def-0123456789ab";
  const std::string with_low_lines = "8f2c1d3e_0000_4abc_9def_0123456789ab";
  const struct {
    MonitorTemplate::Value value;
    std::string cgroup, expected;
  } rows[] = {
      {MonitorTemplate::Value::unit, "/system.slice/redis.service", "redis.service"},
      {MonitorTemplate::Value::unit, "/system.slice/redis.service/child", "redis.service"},
      {MonitorTemplate::Value::unit, "/user.slice/user-1000.slice/session-2.scope",
       "session-2.scope"},
      {MonitorTemplate::Value::unit, "/user.slice", ""},
      {MonitorTemplate::Value::unit, "/", ""},
      {MonitorTemplate::Value::pod, "/kubepods/burstable/pod" + uid + "/abc", uid},
      {MonitorTemplate::Value::pod,
       "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + with_low_lines +
           ".slice/cri-containerd-12.scope",
       uid},
      {MonitorTemplate::Value::pod, "/system.slice/pod" + uid, ""},
      {MonitorTemplate::Value::pod, "/kubepods/podshort", ""},
  };
  for (const auto& row : rows)
    EXPECT_EQ(monitor_value(row.value, {.cgroup = row.cgroup}).value_or(""), row.expected)
        << row.cgroup;
  EXPECT_EQ(
      monitor_value(MonitorTemplate::Value::user, {.identity = Identity{0, 0, 1000}}).value_or(""),
      "1000");
  EXPECT_EQ(monitor_value(MonitorTemplate::Value::user, {}), std::nullopt);
}

TEST(MonitorTemplate, NamesAndErrors) {
  const auto pods = parse_monitor_template("pod-{pod}");
  ASSERT_TRUE(pods);
  EXPECT_EQ(pods->name_for("a/b\\x2dc"), "pod-a_b_x2dc");
  EXPECT_EQ(pods->name_for(std::string(200, 'a')).size(), 64U);
  EXPECT_TRUE(pods->makes("pod-1"));
  EXPECT_FALSE(pods->makes("pod-"));
  EXPECT_FALSE(pods->makes("other"));
  EXPECT_EQ(parse_monitor_template("{unit}")->name_for(".x"), "_x");
  for (const auto& [text, error] : std::initializer_list<std::pair<const char*, const char*>>{
           {"{pods}", "the values are {unit}, {user} and {pod}"},
           {"{unit", "the values are {unit}, {user} and {pod}"},
           {"{unit}-{user}", "it has more than one value"},
           {"a b{unit}", "a name consists of letters, digits, '.', '_' and '-'"}})
    EXPECT_EQ(parse_monitor_template(text).error(), error) << text;
}

}  // namespace
}  // namespace rdtd
