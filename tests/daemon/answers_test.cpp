// What the core answers on D-Bus, in values.
#include <gtest/gtest.h>

#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

class AnswersTest : public test::World {
 protected:
  void SetUp() override {
    World::SetUp();
    ASSERT_EQ(reload(redis_policy + "[[rule]]\ngroup = \"default\"\nthread = \"bio*\"\n"), "");
  }
};

TEST_F(AnswersTest, ListsTheGroups) {
  const auto groups = manager->answers().list_groups();
  ASSERT_EQ(groups->all().size(), 2U);
  const GroupStatus* redis = groups->find("redis");
  ASSERT_NE(redis, nullptr);
  EXPECT_EQ(test::shares_line(redis->asked), "L3:0-1=4 ways");
  EXPECT_EQ(test::shares_line(redis->granted), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(redis->mode, "exclusive");
  ASSERT_EQ(redis->rules.size(), 1U);
  EXPECT_EQ(redis->rules[0].text(), "p.toml:4");
  EXPECT_EQ(groups->find("other"), nullptr);
  EXPECT_EQ(manager->answers().list_groups(), groups);  // made once
  ASSERT_EQ(reload(redis_policy), "");
  EXPECT_NE(manager->answers().list_groups(), groups);
}

// Others than root may read it in the file, or not at all.
TEST_F(AnswersTest, ADescriptionIsForWhoMayReadTheFile) {
  const auto for_all = [this] {
    const GroupStatus* group = manager->answers().list_groups()->find("redis");
    EXPECT_EQ(group->description, "text");
    return group->description_for_all;
  };
  const std::string text = "[group.redis]\ndescription = \"text\"\n";
  ASSERT_EQ(reload(text), "");
  EXPECT_FALSE(for_all());
  policy_for_all = true;
  ASSERT_EQ(reload(text), "");
  EXPECT_TRUE(for_all());
  ASSERT_EQ(lease("a", text + "override = true\n"), "");
  EXPECT_FALSE(for_all());
}

TEST_F(AnswersTest, CountsTheProcessesOfEachRule) {
  const auto shown = [this] {
    std::string out;
    for (const RuleStatus& rule : manager->answers().list_rules())
      out += rule.place + " " + rule.group + " " + std::to_string(rule.processes) + "\n";
    return out;
  };
  EXPECT_EQ(shown(), "p.toml:4 redis 0\np.toml:7 default 0\n");
  for (const char* name : {"redis-server", "redis-sentinel", "other"})
    (void)processes.start({.name = name});
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(shown(), "p.toml:4 redis 2\np.toml:7 default 0\n");
  ASSERT_EQ(reload(redis_policy), "");
  EXPECT_EQ(shown(), "p.toml:4 redis 2\n");
}

TEST_F(AnswersTest, ExplainsAProcess) {
  const pid_t pid = processes.start({.name = "redis-server", .identity = {1000, 1000, 1000}});
  const pid_t thread = processes.clone(pid, "bio_close");
  manager->core().sweeper.visit({.pid = pid});
  run();
  const auto explained = manager->answers().explain(pid, std::nullopt);
  ASSERT_TRUE(explained);
  EXPECT_EQ(explained->name, "redis-server");
  ASSERT_EQ(explained->trials.size(), 1U);
  EXPECT_TRUE(explained->trials[0].matched);
  EXPECT_EQ(explained->trials[0].place, "p.toml:4");
  EXPECT_EQ(explained->threads.size(), 2U);
  const pid_t other = processes.start({.name = "bash", .identity = {1000, 1000, 1000}});
  const pid_t others = processes.clone(other, "bio");
  const auto unmatched = manager->answers().explain(other, std::nullopt);
  ASSERT_TRUE(unmatched);
  ASSERT_EQ(unmatched->trials.size(), 2U);
  EXPECT_EQ(unmatched->trials[0].reason, "name is 'bash', not 'redis-*'");
  EXPECT_EQ(unmatched->trials[1].reason,
            "thread 'bio*' is for single threads, and matches " + std::to_string(others));
  processes.rename(others, "other");
  EXPECT_EQ(manager->answers().explain(other, std::nullopt)->trials[1].reason,
            "thread 'bio*' is for single threads, and matches none");
  // Its owner may not read the policy files.
  const auto own = manager->answers().explain(other, 1000);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->trials[0].reason, "name is 'bash', which does not match");
  EXPECT_EQ(own->trials[1].reason, "the rule is for single threads, and matches none");
  const auto foreign = manager->answers().explain(other, 1001);
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().text, "process " + std::to_string(other) + " belongs to another user");
  EXPECT_EQ(manager->answers().explain(77777, std::nullopt).error().text,
            "there is no process 77777");
  EXPECT_EQ(manager->answers().owner_of(other), 1000U);
  // A service of root acts for a user, or the user has started a program that is set-uid.
  for (const Identity identity : {Identity{1000, 1000, 0}, Identity{0, 0, 1000}}) {
    const pid_t roots = processes.start({.name = "smbd", .identity = identity});
    EXPECT_EQ(manager->answers().owner_of(roots), 0U);
    EXPECT_FALSE(manager->answers().explain(roots, 1000));
  }
  EXPECT_EQ(manager->answers().owner_of(77777), std::nullopt);
  EXPECT_EQ(manager->answers().effective_user_of(77777), std::nullopt);
  EXPECT_EQ(manager->answers().effective_user_of(other), 1000U);
  const pid_t set_uid = processes.start({.name = "su", .identity = {0, 0, 1000}});
  EXPECT_EQ(manager->answers().effective_user_of(set_uid), 0U);
  EXPECT_EQ(manager->answers().tasks_in("redis"), 2U);
  EXPECT_EQ(manager->answers().tasks_in("none"), 0U);
  EXPECT_NE(thread, 0);
}

// Nobody is to take a group for removed that could not be listed.
TEST_F(AnswersTest, CountersThatCannotBeListed) {
  for (const std::string path :
       {"redis/mon_data", "redis/mon_groups", "redis/mon_data/mon_L3_00", "mon_data"}) {
    run(std::chrono::seconds(10));
    const auto whole = manager->answers().counters();
    ASSERT_TRUE(whole);
    run(std::chrono::seconds(10));
    kernel.calls.fail_if([&](const fake::Call& call) { return call.path == path; }, EMFILE);
    const auto failed = manager->answers().counters();
    ASSERT_FALSE(failed) << path;
    EXPECT_EQ(failed.error().text, "cannot list /sys/fs/resctrl/" + path + ": Too many open files");
    kernel.calls.reset();
    // It is gone, or closed.
    for (const int code : {ENOENT, ENODEV, EACCES}) {
      run(std::chrono::seconds(10));
      kernel.calls.fail_if([&](const fake::Call& call) { return call.path == path; }, code);
      EXPECT_TRUE(manager->answers().counters()) << path;
      kernel.calls.reset();
    }
  }
}

TEST_F(AnswersTest, ExplainsAManualAssignment) {
  const pid_t pid = processes.start({.name = "bash"});
  ASSERT_TRUE((*manager->changes().prepare_assign(pid, "redis", {.uid = 0, .pid = 1}))->run());
  const auto explained = manager->answers().explain(pid, std::nullopt);
  ASSERT_TRUE(explained);
  ASSERT_EQ(explained->trials.size(), 1U);
  EXPECT_EQ(explained->trials[0].place, "manual assignment");
  EXPECT_EQ(explained->trials[0].group, "redis");
}

TEST_F(AnswersTest, ChecksAndPlansTheFilesAsTheyAre) {
  policy = "[group.redis]\nl3 = \"2 ways\"\n[[rule]]\ngroup = \"redis\"\nuser = \"nobody-here\"\n";
  const auto checked = manager->answers().check();
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->public_warnings,
            "p.toml:5:8: warning: there is no user 'nobody-here' here: nothing matches it until "
            "the next reload\n");
  EXPECT_TRUE(checked->warnings.contains("    5 | user")) << checked->warnings;
  const auto plan = manager->answers().plan();
  ASSERT_TRUE(plan);
  ASSERT_FALSE(plan->steps.empty());
  EXPECT_EQ(plan->steps[0].kind, "mode");
  EXPECT_EQ(plan->steps[0].group, "redis");
  policy = "[group.redis]\nl3 = \"999 ways\"\n";
  const auto refused = manager->answers().plan();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Refusal::Kind::invalid_policy);
  EXPECT_FALSE(refused.error().text_for(false).contains("    2 |"));
  EXPECT_TRUE(refused.error().text_for(true).contains("    2 |"));
  EXPECT_FALSE(manager->answers().check());
}

TEST_F(AnswersTest, TellsItsState) {
  EXPECT_EQ(manager->answers().status_line(), "2 groups, 2 rules, 0 threads assigned");
  const pid_t pid = processes.start({.name = "redis-server"});
  manager->core().sweeper.visit({.pid = pid});
  run();
  EXPECT_EQ(manager->answers().status_line(), "2 groups, 2 rules, 1 thread assigned");
  manager->core().state.events_seen = 7;
  manager->core().state.event_overruns = 3;
  const ManagerProperties now = manager->answers().properties();
  EXPECT_EQ(now.events_seen, 7U);
  EXPECT_EQ(now.event_overruns, 3U);
  EXPECT_EQ(now.config_files, std::vector<std::string>{"p.toml"});
  manager->core().state.events_available = false;
  EXPECT_EQ(state(), "degraded");
  EXPECT_EQ(problems(), std::vector<std::string>{"the kernel sends no process events"});
  manager->core().state.events_available = true;
  EXPECT_NE(reload("[group.x"), "");
  EXPECT_TRUE(manager->answers().status_line().contains("; last reload failed: p.toml:1:"))
      << manager->answers().status_line();
}

// A process can hold up who reads its command line.
TEST_F(AnswersTest, ReadsNoCommandLineThatNoRuleIsAbout) {
  const pid_t pid = processes.start({.name = "bash", .identity = {1000, 1000, 1000}});
  const auto read_it = [&] {
    processes.calls.reset();
    (void)manager->answers().explain(pid, 1000);
    return std::ranges::any_of(processes.calls.texts(),
                               [](const std::string& call) { return call.contains("cmdline"); });
  };
  EXPECT_FALSE(read_it());
  ASSERT_EQ(reload("[[rule]]\ngroup = \"default\"\nname = \"x\"\ncmdline = \"*y*\"\n"), "");
  EXPECT_TRUE(read_it());
}

TEST_F(AnswersTest, ReportsCounters) {
  const auto none = manager->answers().counters();
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->empty());
  kernel.resctrl.counters["redis/mon_data/mon_L3_00/llc_occupancy"] = "4096\n";
  kernel.resctrl.counters["redis/mon_data/mon_L3_00/mbm_total_bytes"] = "Unavailable\n";
  EXPECT_EQ(manager->answers().counters()->front().counters, none->front().counters);
  clock += std::chrono::seconds(1);
  const auto counters = manager->answers().counters();
  ASSERT_TRUE(counters);
  for (const DomainCounters& domain : *counters) {
    if (domain.group != "redis" || domain.domain != DomainId{0}) continue;
    EXPECT_EQ(domain.counters.at("llc_occupancy"), CounterValue(uint64_t{4096}));
    EXPECT_EQ(domain.counters.at("mbm_total_bytes"), CounterValue(NoCount::unavailable));
  }
}

TEST_F(AnswersTest, WatchesAssignmentsWhileSomebodyListens) {
  std::vector<bool> watched;
  manager->connect({.watch_assignments = [&](bool on) { watched.push_back(on); }});
  manager->answers().watch_assignments(true);
  manager->answers().watch_assignments(false);
  EXPECT_EQ(watched, (std::vector<bool>{true, false}));
}

// The classifier uses new rules before the processes are examined; if it does not, work goes on.
TEST_F(AnswersTest, WaitsForTheClassifier) {
  uint64_t published = 0;
  manager->connect({}, [&](const auto&) { return ++published; });
  policy = redis_policy;
  std::string result = "waiting";
  manager->changes().reload([&](const auto& done) { result = done ? "done" : "refused"; });
  run(std::chrono::milliseconds(500));
  EXPECT_EQ(result, "waiting");
  manager->core().publisher.taken(0);  // an earlier table
  run(std::chrono::milliseconds(100));
  EXPECT_EQ(result, "waiting");
  manager->core().publisher.taken(published);
  run(std::chrono::milliseconds(100));
  EXPECT_EQ(result, "done");
  result = "waiting";
  manager->changes().reload([&](const auto& done) { result = done ? "done" : "refused"; });
  run(std::chrono::seconds(3));
  EXPECT_EQ(result, "done");
}

// Requests that come while a change is under way wait for it, and end each with an answer.
TEST_F(AnswersTest, ChangesAreMadeOneAfterTheOther) {
  kernel.locked_by_other = true;
  std::vector<std::string> finished;
  const auto note = [&](const char* what) {
    return [&finished, what](const auto& done) {
      finished.push_back(std::string(what) + (done ? "" : " refused"));
    };
  };
  policy = redis_policy + "[group.b]\n";
  manager->changes().reload(note("first"));
  manager->changes().reload(note("second"));
  manager->changes().reset(note("reset"));
  manager->reconciler().reconcile();
  manager->changes().reload(note("third"));
  kernel.locked_by_other = false;
  run(std::chrono::seconds(2));
  EXPECT_EQ(finished, (std::vector<std::string>{"first", "second", "reset", "third"}));
  EXPECT_EQ(schemata("b"), "L3:0-1=ffff0 MB:0-1=100");
}

// A thread that somebody moved away stays there under drift = "report", look after look.
TEST_F(AnswersTest, ReportedThreadsStayReported) {
  const pid_t pid = processes.start({.name = "redis-server"});
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy), "");
  (void)kernel.resctrl.write("tasks", std::to_string(pid) + "\n");
  for (int look = 0; look < 3; look++) {
    manager->reconciler().reconcile();
    run();
    EXPECT_EQ(group_of(pid), "default");
    EXPECT_EQ(state(), "degraded");
    manager->reconciler().sweep("a test", [] {});
    run();
    EXPECT_EQ(group_of(pid), "default");
  }
}

// A group that is removed again and again must not keep the daemon busy.
TEST_F(AnswersTest, AGroupThatCannotBeMadeAgainCostsLittle) {
  const pid_t pid = processes.start({.name = "redis-server"});
  manager->core().sweeper.visit({.pid = pid});
  run();
  (void)kernel.resctrl.remove("redis");
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "make"; }, ENOSPC);
  kernel.calls.reset();
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "make"; }, ENOSPC);
  for (int i = 0; i < 100; i++) {
    manager->core().sweeper.visit({.pid = pid});
    run(std::chrono::milliseconds(50));
  }
  size_t attempts = 0;
  for (const fake::Call& call : kernel.calls.log()) attempts += call.operation == "make" ? 1 : 0;
  EXPECT_LE(attempts, 12U);
  EXPECT_EQ(state(), "degraded");
  kernel.calls.reset();
  manager->reconciler().reconcile();
  run(std::chrono::seconds(1));
  EXPECT_EQ(group_of(pid), "redis");
  EXPECT_EQ(state(), "running");
}

TEST_F(AnswersTest, CountersThatCannotBeRead) {
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "list"; }, EIO);
  EXPECT_EQ(manager->answers().counters().error().text,
            "cannot list /sys/fs/resctrl: Input/output error");
  kernel.calls.reset();
  kernel.resctrl.machine.num_rmids = 0;
  kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
  const auto none = manager->answers().counters();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, Refusal::Kind::not_supported);
  EXPECT_EQ(none.error().text,
            "this machine's resctrl does not monitor: no directory of info ends in _MON");
}

TEST_F(AnswersTest, ShowsWhatIsWrongInOneLine) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + redis_policy), "");
  (void)kernel.resctrl.write("redis/schemata", "L3:0=3\n");
  manager->reconciler().reconcile();
  run();
  EXPECT_EQ(manager->answers().status_line(),
            "2 groups, 1 rule, 0 threads assigned; group 'redis': L3:0=3, granted L3:0=f");
  ASSERT_EQ(reload(redis_policy), "");
  kernel.locked_by_other = true;
  ASSERT_EQ(reload(redis_policy), "");
  EXPECT_EQ(manager->answers().status_line(),
            "2 groups, 1 rule, 0 threads assigned; process 812 (pqos) holds the lock of "
            "/sys/fs/resctrl for 2 s: it is changed without it");
}

// The name of a thread is no name of a process.
TEST_F(AnswersTest, AThreadIsExplainedByItsProcess) {
  ASSERT_EQ(reload(redis_policy), "");
  const pid_t pid = processes.start({.name = "redis-server"});
  const pid_t thread = processes.clone(pid, "bio_close");
  const auto explained = manager->answers().explain(thread, std::nullopt);
  ASSERT_FALSE(explained);
  EXPECT_EQ(explained.error().text,
            fmt::format("{} is a thread of process {}: rdtctl explain {} shows what is decided "
                        "about its threads",
                        thread, pid, pid));
}

// Of very many threads, the first ones are compared.
TEST_F(AnswersTest, SaysOfHowManyThreadsItSpeaks) {
  ASSERT_EQ(reload("[group.a]\n[[rule]]\ngroup = \"a\"\nthread = \"late\"\n"), "");
  const pid_t pid = processes.start({.name = "many"});
  for (int i = 0; i < 999; i++) (void)processes.clone(pid, "early");
  const auto reason = [&] {
    return manager->answers().explain(pid, std::nullopt)->trials[0].reason;
  };
  EXPECT_EQ(reason(), "thread 'late' is for single threads, and matches none");
  (void)processes.clone(pid, "late");
  EXPECT_EQ(reason(), "thread 'late' is for single threads, and matches none of the first 1000");
}

TEST_F(AnswersTest, AProcessThatEndsIsNotExplained) {
  const pid_t pid = processes.start({.name = "bash"});
  processes.calls.hook = [&](const fake::Call& call) {
    if (call.operation != "read" || call.argument != "name") return;
    processes.calls.hook = nullptr;
    processes.exit(pid);
  };
  EXPECT_EQ(manager->answers().explain(pid, std::nullopt).error().text,
            "there is no process " + std::to_string(pid));
}

}  // namespace
}  // namespace rdtd
