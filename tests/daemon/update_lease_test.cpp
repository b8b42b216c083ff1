// Loads that change amounts only: the texts are not read again, and no process is looked at.
#include <gtest/gtest.h>

#include <algorithm>

#include "world.hpp"

namespace rdtd {
namespace {

const std::string web_and_batch =
    "[group.web]\nmb = \"50%\"\n[group.batch]\nl3 = \"2 ways\"\n"
    "[[rule]]\ngroup = \"web\"\nname = \"nginx\"\n";

class UpdateLeaseTest : public test::World {
 protected:
  std::string guard(const std::string& text, uid_t uid = 0) { return lease("guard", text, uid); }
  std::string update(const std::string& text, const std::string& name = "guard", uid_t uid = 0) {
    return wait([&](Manager::Done done) {
      manager->changes().update_lease(name, text, {.uid = uid}, std::move(done));
    });
  }
  // What the daemon reads of processes from now on.
  void forget_calls() { processes.calls.reset(); }
  [[nodiscard]] size_t calls() const { return processes.calls.count(); }
  // What the daemon reads of processes until a reload is answered.
  size_t answer_of_reload(const std::string& text) {
    run(std::chrono::seconds(1));
    forget_calls();
    policy = text;
    size_t out = SIZE_MAX;
    manager->changes().reload([&](const auto& done) { out = done ? calls() : SIZE_MAX; });
    run(std::chrono::seconds(1));
    return out;
  }
};

TEST_F(UpdateLeaseTest, ChangesAmountsAndLooksAtNoProcess) {
  const pid_t nginx = processes.start({.name = "nginx"});
  policy = web_and_batch;
  ASSERT_EQ(load(), "");
  ASSERT_EQ(guard("[group.web]\noverride = true\nmb = \"40%\"\n"), "");
  EXPECT_EQ(schemata("web"), "L3:0-1=fffff MB:0-1=40");
  EXPECT_EQ(group_of(nginx), "web");
  forget_calls();
  EXPECT_EQ(update("[group.web]\noverride = true\nmb = \"30%\"\n"), "");
  EXPECT_EQ(schemata("web"), "L3:0-1=fffff MB:0-1=30");
  EXPECT_EQ(calls(), 0U);
  EXPECT_EQ(manager->answers().list_leases({.uid = 0})[0].policy,
            "[group.web]\noverride = true\nmb = \"30%\"\n");
  // The policy of the files comes back at the end, and still nobody is looked at.
  lease_fds.erase("guard");
  manager->leases().end_abandoned();
  run(std::chrono::seconds(1));
  EXPECT_EQ(schemata("web"), "L3:0-1=fffff MB:0-1=50");
  EXPECT_EQ(calls(), 0U);
}

// A lease that amends a group changes those amounts, and nothing else of it or of other groups.
TEST_F(UpdateLeaseTest, AmendsAGroupOfTheFiles) {
  policy =
      "[group.web]\nl3 = \"4 ways\"\nexclusive = true\ncpus = \"1\"\nmb = \"50%\"\n"
      "[group.batch]\nl3 = \"2 ways\"\nmb = { \"1\" = \"70%\", \"*\" = \"10%..90%\" }\n"
      "[[rule]]\ngroup = \"batch\"\nname = \"tar\"\n";
  ASSERT_EQ(load(), "");
  const std::string others = schemata("web") + schemata("");
  const std::string mb = schemata("batch");
  ASSERT_EQ(guard("[group.batch]\namend = true\nmb = { \"0\" = \"30%\" }\n"), "");
  EXPECT_EQ(schemata("batch"), "L3:0-1=30 MB:0=30;1=70");
  EXPECT_EQ(manager->answers().list_leases({.uid = 0})[0].groups,
            std::vector<std::string>{"batch"});
  forget_calls();
  EXPECT_EQ(update("[group.batch]\namend = true\nmb = { \"0\" = \"20%\", \"1\" = \"10%\" }\n"), "");
  EXPECT_EQ(schemata("batch"), "L3:0-1=30 MB:0=20;1=10");
  // What the text no longer has is as in the files.
  EXPECT_EQ(update("[group.batch]\namend = true\nmb = { \"1\" = \"20%\" }\n"), "");
  EXPECT_EQ(schemata("batch"), "L3:0-1=30 MB:0=90;1=20");
  EXPECT_EQ(update("[group.batch]\namend = true\nmb = \"40%\"\n"), "");
  EXPECT_EQ(schemata("batch"), "L3:0-1=30 MB:0-1=40");
  EXPECT_EQ(calls(), 0U);
  EXPECT_EQ(schemata("web") + schemata(""), others);
  lease_fds.erase("guard");
  manager->leases().end_abandoned();
  run(std::chrono::seconds(1));
  EXPECT_EQ(schemata("batch"), mb);
}

TEST_F(UpdateLeaseTest, AnAmendmentHasAmountsOnly) {
  policy = web_and_batch;
  ASSERT_EQ(load(), "");
  EXPECT_EQ(guard("[group.batch]\namend = true\nmb = \"40%\"\nexclusive = true\n"),
            "lease:guard:1:8: error: group 'batch' with 'amend' has amounts only\n"
            "    1 | [group.batch]\n"
            "      |        ^~~~~ everything else stays as it is in the policy files\n");
  EXPECT_EQ(guard("[group.batsh]\namend = true\nmb = \"40%\"\n"),
            "lease:guard:1:8: error: there is no group 'batsh' to amend\n"
            "    1 | [group.batsh]\n"
            "      |        ^~~~~ did you mean 'batch'?\n");
  ASSERT_EQ(guard("[group.batch]\namend = true\nmb = \"40%\"\n"), "");
  // The guard gives way: when it holds a group depends on the traffic of the moment.
  EXPECT_EQ(lease("first", "[group.batch]\namend = true\nmb = \"30%\"\n"), "");
  EXPECT_EQ(schemata("batch"), "L3:0-1=3 MB:0-1=30");
  EXPECT_EQ(update("[group.batch]\namend = true\nmb = \"20%\"\n"), "");
  EXPECT_EQ(schemata("batch"), "L3:0-1=3 MB:0-1=30");
  EXPECT_EQ(lease("other", "[group.batch]\namend = true\nmb = \"50%\"\n"),
            "lease:other:1:8: error: group 'batch' belongs to another lease, in lease:first\n"
            "    1 | [group.batch]\n"
            "      |        ^~~~~ a lease can amend groups of policy files only\n");
  lease_fds.erase("first");
  manager->leases().end_abandoned();
  run(std::chrono::seconds(1));
  EXPECT_EQ(schemata("batch"), "L3:0-1=3 MB:0-1=20");
  EXPECT_EQ(lease("first", "[group.batch]\noverride = true\nmb = \"60%\"\n"), "");
  EXPECT_EQ(schemata("batch"), "L3:0-1=fffff MB:0-1=60");
  lease_fds.erase("first");
  manager->leases().end_abandoned();
  run(std::chrono::seconds(1));
  EXPECT_EQ(schemata("batch"), "L3:0-1=3 MB:0-1=20");
  // Its rules may name the group all the same: it stays when the amendment ends.
  EXPECT_EQ(lease("other", "[[rule]]\ngroup = \"batch\"\nname = \"tar\"\n"), "");
}

// polkit lets the observer have this lease whatever it says.
TEST_F(UpdateLeaseTest, TheGuardStaysInTheRangesOfThePolicy) {
  constexpr uid_t observer = 981;
  policy =
      "[guard]\nmode = \"on\"\n[group.web]\nl3 = \"4 ways\"\nmb = \"50%\"\n[group.batch]\nmb = { "
      "\"1\" = \"70%\", \"*\" = "
      "\"10%..90%\" }\n";
  ASSERT_EQ(load(), "");
  const std::string only = "lease 'guard' may only change mb within the ranges of the policy: ";
  const struct {
    const char* text;
    std::string refusal;
  } rows[] = {
      {"[[rule]]\ngroup = \"web\"\nname = \"*\"\n", "it has a rule"},
      {"[group.x]\nl3 = \"100%\"\n", "it does not amend group 'x', but makes it"},
      {"[group.web]\noverride = true\nmb = \"10%\"\n",
       "it does not amend group 'web', but makes it"},
      {"[group.batch]\namend = true\nl3 = \"1 way\"\n", "it sets more of group 'batch' than mb"},
      {"[group.web]\namend = true\nmb = \"40%\"\n",
       "'40%' is not within a range that group 'web' has"},
      {"[group.nosuch]\namend = true\nmb = \"40%\"\n",
       "'40%' is not within a range that group 'nosuch' has"},
      {"[group.batch]\namend = true\nmb = { \"0\" = \"9%\" }\n",
       "'9%' is not within a range that group 'batch' has"},
      {"[group.batch]\namend = true\nmb = { \"0\" = \"95%\" }\n",
       "'95%' is not within a range that group 'batch' has"},
      {"[group.batch]\namend = true\nmb = { \"0\" = \"20%..30%\" }\n",
       "'20%..30%' is not within a range that group 'batch' has"},
      {"[group.batch]\namend = true\nmb = { \"1\" = \"20%\" }\n",
       "'20%' is not within a range that group 'batch' has"},
      {"[group.batch]\namend = true\nmb = \"20%\"\n",
       "'20%' is not within a range that group 'batch' has"},
  };
  for (const auto& row : rows) EXPECT_EQ(guard(row.text, observer), only + row.refusal) << row.text;
  // Not on a domain for which the policy has none.
  policy = "[guard]\nmode = \"on\"\n[group.batch]\nmb = { \"0\" = \"10%..90%\" }\n";
  ASSERT_EQ(reload(policy), "");
  EXPECT_EQ(guard("[group.batch]\namend = true\nmb = \"20%\"\n", observer),
            only + "'20%' is not within a range that group 'batch' has");
  policy =
      "[guard]\nmode = \"on\"\n[group.web]\nl3 = \"4 ways\"\nmb = \"50%\"\n[group.batch]\nmb = { "
      "\"1\" = \"70%\", \"*\" = "
      "\"10%..90%\" }\n";
  ASSERT_EQ(reload(policy), "");
  const char* within = "[group.batch]\namend = true\nmb = { \"0\" = \"20%\" }\n";
  // Files that are not loaded switch nothing on: the observer reads them by itself.
  const std::string on = policy;
  policy.replace(policy.find("on"), 2, "shadow");
  ASSERT_EQ(reload(policy), "");
  EXPECT_EQ(guard(within, observer),
            only + "the guard's mode is \"shadow\" in the policy that is in force");
  policy = on;
  ASSERT_EQ(reload(policy), "");
  ASSERT_EQ(guard(within, observer), "");
  for (const auto& row : rows)
    EXPECT_EQ(update(row.text, "guard", observer), only + row.refusal) << row.text;
  EXPECT_EQ(update("[group.batch]\namend = true\nmb = { \"0\" = \"90%\" }\n", "guard", observer),
            "");
  EXPECT_EQ(schemata("batch"), "L3:0-1=fffff MB:0=90;1=70");
  lease_fds.erase("guard");
  manager->leases().end_abandoned();
  run(std::chrono::seconds(1));
  // Root may do all that any lease may.
  EXPECT_EQ(guard("[group.web]\namend = true\nmb = \"40%\"\n"), "");
}

// What another lease replaces, the guard may go on to ask for: its other groups do not wait for
// that.
TEST_F(UpdateLeaseTest, TheGuardGoesOnBesideALeaseThatReplacesAGroup) {
  constexpr uid_t observer = 981;
  policy =
      "[guard]\nmode = \"on\"\n[group.web]\nmb = \"10%..100%\"\n[group.batch]\nmb = "
      "\"10%..100%\"\n";
  ASSERT_EQ(load(), "");
  const auto text = [](int of_web, int of_batch) {
    return fmt::format(
        "[group.web]\namend = true\nmb = \"{}%\"\n[group.batch]\namend = true\nmb = \"{}%\"\n",
        of_web, of_batch);
  };
  ASSERT_EQ(guard(text(50, 50), observer), "");
  ASSERT_EQ(lease("other", "[group.batch]\noverride = true\nmb = \"60%\"\n"), "");
  EXPECT_EQ(update(text(30, 40), "guard", observer), "");
  EXPECT_EQ(schemata("web"), "L3:0-1=fffff MB:0-1=30");
  EXPECT_EQ(schemata("batch"), "L3:0-1=fffff MB:0-1=60");
  // Still within the range of the files only.
  EXPECT_NE(update(text(30, 5), "guard", observer), "");
  lease_fds.erase("other");
  manager->leases().end_abandoned();
  run(std::chrono::seconds(1));
  EXPECT_EQ(schemata("batch"), "L3:0-1=fffff MB:0-1=40");
}

// A policy that narrows a range takes back what the guard holds below it.
TEST_F(UpdateLeaseTest, TheGuardsLeaseEndsWithItsRange) {
  const auto with = [&](const std::string& amount) {
    return "[guard]\nmode = \"on\"\n[group.batch]\nmb = { \"0\" = \"" + amount + "\" }\n";
  };
  policy = with("10%..90%");
  ASSERT_EQ(load(), "");
  const char* text = "[group.batch]\namend = true\nmb = { \"0\" = \"20%\" }\n";
  for (const uid_t user : {0U, 981U}) {
    ASSERT_EQ(reload(with("10%..90%")), "");
    ASSERT_EQ(guard(text, user), "");
    ASSERT_EQ(reload(with("20%..80%")), "");
    EXPECT_EQ(schemata("batch"), "L3:0-1=fffff MB:0=20;1=100");
    ASSERT_EQ(reload(with("30%..90%")), "");
    // That of root is no guard's.
    EXPECT_EQ(schemata("batch"),
              user == 0 ? "L3:0-1=fffff MB:0=20;1=100" : "L3:0-1=fffff MB:0=90;1=100");
    EXPECT_EQ(manager->core().leases.contains("guard"), user == 0);
    lease_fds.erase("guard");
    manager->leases().end_abandoned();
    run(std::chrono::seconds(1));
  }
}

TEST_F(UpdateLeaseTest, ARuleThatChangesIsCarriedOut) {
  const pid_t tar = processes.start({.name = "tar"});
  policy = web_and_batch;
  ASSERT_EQ(load(), "");
  ASSERT_EQ(guard("[group.backup]\nmb = \"20%\"\n"), "");
  EXPECT_EQ(update("[group.backup]\nmb = \"20%\"\n[[rule]]\ngroup = \"backup\"\nname = \"tar\"\n"),
            "");
  EXPECT_EQ(group_of(tar), "backup");
}

TEST_F(UpdateLeaseTest, WhatIsRefusedLeavesTheTextBefore) {
  policy = web_and_batch;
  ASSERT_EQ(load(), "");
  ASSERT_EQ(guard("[group.backup]\nmb = \"20%\"\n"), "");
  EXPECT_EQ(update("[group.backup]\nmb = \"lots\"\n"),
            "lease:guard:2:6: error: 'lots' is not a bandwidth\n"
            "    2 | mb = \"lots\"\n"
            "      |      ^~~~~~ write \"50%\", \"8 GB/s\", \"800 MiB/s\" or \"unlimited\"\n");
  EXPECT_EQ(update("[group.backup]\nl3 = \"99 ways\"\n").substr(0, 30),
            "lease:guard:2:6: error: backup");
  EXPECT_EQ(schemata("backup"), "L3:0-1=fffff MB:0-1=20");
  EXPECT_EQ(manager->answers().list_leases({.uid = 0})[0].policy, "[group.backup]\nmb = \"20%\"\n");
  EXPECT_EQ(update("[group.backup]\nmb = \"10%\"\n"), "");
}

// Its holder closes it while the change waits for the lock.
TEST_F(UpdateLeaseTest, ALeaseThatHasEndedIsNotChanged) {
  policy = web_and_batch;
  ASSERT_EQ(load(), "");
  ASSERT_EQ(guard("[group.backup]\nmb = \"20%\"\n"), "");
  kernel.locked_by_other = true;
  std::string answer = "never finished";
  manager->changes().update_lease(
      "guard", "[group.backup]\nmb = \"30%\"\n", {.uid = 0},
      [&](const std::expected<void, Refusal>& done) { answer = done ? "" : done.error().text; });
  lease_fds.erase("guard");
  manager->leases().end_abandoned();
  run(std::chrono::seconds(5));
  EXPECT_EQ(answer, "there is no lease 'guard'");
}

// What only a look at the processes finds does not go with a load that looks at none.
TEST_F(UpdateLeaseTest, DoesNotForgetWhatALookHasFound) {
  policy = web_and_batch + "[daemon]\ndrift = \"report\"\n";
  const pid_t nginx = processes.start({.name = "nginx"});
  ASSERT_EQ(load(), "");
  ASSERT_EQ(guard("[group.backup]\nmb = \"20%\"\n"), "");
  (void)kernel.resctrl.write("tasks", std::to_string(nginx) + "\n");
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(state(), "degraded");
  ASSERT_EQ(update("[group.backup]\nmb = \"30%\"\n"), "");
  EXPECT_EQ(state(), "degraded");
  // An explicit reload moves it all the same.
  ASSERT_EQ(reload(policy), "");
  EXPECT_EQ(group_of(nginx), "web");
}

TEST_F(UpdateLeaseTest, IsForTheUserOfTheLeaseAndRoot) {
  ASSERT_EQ(load(), "");
  ASSERT_EQ(lease("backup", "[group.backup]\nmb = \"20%\"\n", 1000), "");
  EXPECT_EQ(update("[group.backup]\nmb = \"30%\"\n", "backup", 1001),
            "lease 'backup' belongs to another user");
  EXPECT_EQ(update("[group.backup]\nmb = \"30%\"\n", "backup", 1000), "");
  EXPECT_EQ(update("[group.backup]\nmb = \"40%\"\n", "backup", 0), "");
  EXPECT_EQ(update("[group.backup]\nmb = \"40%\"\n", "other"), "there is no lease 'other'");
}

// An override that is gone would define the group twice: that must not pass as an amount.
TEST_F(UpdateLeaseTest, ReadsTheWholeTextWhereMoreThanAmountsDiffers) {
  policy = web_and_batch;
  ASSERT_EQ(load(), "");
  ASSERT_EQ(guard("[group.web]\noverride = true\nmb = \"40%\"\n"), "");
  EXPECT_EQ(update("[group.web]\nmb = \"30%\"\n"),
            "lease:guard:1:8: error: group 'web' is defined twice: here and in p.toml:1\n"
            "    1 | [group.web]\n"
            "      |        ^~~ 'override = true' here would replace that one\n");
  EXPECT_EQ(
      update("[group.web]\noverride = true\nmb = \"30%\"\nexclusive = true\nl3 = \"1 way\"\n"), "");
  EXPECT_EQ(manager->in_force().find("web")->exclusive, true);
}

TEST_F(UpdateLeaseTest, AReloadOfTheSameTextLooksAtNoProcess) {
  policy = web_and_batch;
  ASSERT_EQ(load(), "");
  const pid_t nginx = processes.start({.name = "nginx"});
  manager->core().sweeper.visit({.pid = nginx});
  run();
  forget_calls();
  EXPECT_EQ(answer_of_reload(policy), 0U);
  // Another amount changes no rule either.
  EXPECT_EQ(answer_of_reload("[group.web]\nmb = \"60%\"\n" +
                             web_and_batch.substr(web_and_batch.find("[group.b"))),
            0U);
  EXPECT_EQ(schemata("web"), "L3:0-1=fffff MB:0-1=60");
  EXPECT_EQ(manager->answers().list_rules()[0].processes, 1U);
  // A group that another tool removed comes back with its processes.
  ASSERT_TRUE(kernel.resctrl.remove("web"));
  EXPECT_EQ(reload(policy), "");
  EXPECT_EQ(group_of(nginx), "web");
}

}  // namespace
}  // namespace rdtd
