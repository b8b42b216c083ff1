// What other tools' groups and the kernel do to exclusive groups, in any order: the limits are
// restored, and each group has the mode that a fresh load would give it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "rdtd/model/footprint.hpp"
#include "unit/support.hpp"
#include "world.hpp"

namespace rdtd {
namespace {

using test::redis_policy;

class OthersTest : public test::World {
 protected:
  void reconcile() {
    manager->reconciler().reconcile();
    run(std::chrono::seconds(1));
  }
  // The groups with their modes and masks.
  [[nodiscard]] std::string all() const {
    std::string out;
    for (const fake::Group& group : kernel.resctrl.groups)
      out += fmt::format("{} {} {}\n", group_label(group.name), to_string(group.mode),
                         schemata(group.name));
    return out;
  }
  [[nodiscard]] std::string mode(const std::string& group) const {
    return std::string(to_string(kernel.resctrl.find(group)->mode));
  }
  // They may be refused: then nothing changes.
  void write(const std::string& file, const std::string& text) {
    (void)kernel.resctrl.write(file, text + "\n");
  }
  void restart_domain() {
    for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
    for (const unsigned cpu : {2U, 3U}) kernel.resctrl.bring_online(cpu);
    manager->reconciler().cpu_changed();
  }
  const std::string shared =
      "group 'theirs', which rdtd did not make, can fill ways 0-3 of L3 domain 1, exclusive to "
      "'redis'";
};

// A script makes a group, and narrows it a moment later.
TEST_F(OthersTest, ANarrowedGroupIsNoticedSoon) {
  ASSERT_EQ(reload("[daemon]\nreconcile_interval = \"0\"\n" + redis_policy), "");
  ASSERT_TRUE(kernel.resctrl.make("theirs"));
  write("redis/mode", "shareable");
  write("theirs/schemata", "L3:1=f");
  manager->reconciler().resctrl_changed({"theirs", "redis"});
  run(std::chrono::seconds(1));
  EXPECT_EQ(problems(), std::vector<std::string>{shared});
  write("theirs/schemata", "L3:1=c0000");
  manager->reconciler().others_changed();
  run(std::chrono::seconds(3));
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_EQ(mode("redis"), "exclusive");
}

// The kernel gives the other tool's group all ways too, and refuses the exclusive mode.
TEST_F(OthersTest, WhatTheKernelResetIsRestoredBesideAPlainGroup) {
  ASSERT_EQ(reload(redis_policy), "");
  ASSERT_TRUE(kernel.resctrl.make("theirs"));
  write("theirs/schemata", "L3:0=c0000;1=c0000");
  reconcile();
  restart_domain();
  run(std::chrono::seconds(1));
  EXPECT_EQ(all(),
            "default shareable L3:0-1=ffff0 MB:0-1=100\n"
            "redis shareable L3:0-1=f MB:0-1=100\n"
            "theirs shareable L3:0=c0000;1=fffff MB:0-1=100\n");
  EXPECT_EQ(problems(), std::vector<std::string>{shared});
  EXPECT_EQ(state(), "degraded");
  for (const std::string& text : drift) EXPECT_TRUE(text.ends_with("; restored")) << text;

  // It takes its own masks back.
  drift.clear();
  write("theirs/schemata", "L3:1=c0000");
  reconcile();
  EXPECT_EQ(mode("redis"), "exclusive");
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(drift, std::vector<std::string>{});
  EXPECT_EQ(manager->answers().list_groups()->find("redis")->mode, "exclusive");
}

// One that was there at the load keeps the guard away only as long as it is in the way.
TEST_F(OthersTest, AGroupIsGuardedOnceTheOthersHaveGone) {
  for (const char* daemon : {"", "[daemon]\ndrift = \"report\"\n"}) {
    SCOPED_TRACE(daemon);
    ASSERT_TRUE(kernel.resctrl.make("theirs"));
    ASSERT_EQ(reload(daemon + redis_policy), "");
    EXPECT_EQ(mode("redis"), "shareable");
    ASSERT_TRUE(kernel.resctrl.remove("theirs"));
    reconcile();
    EXPECT_EQ(mode("redis"), "exclusive");
    EXPECT_EQ(manager->answers().plan()->summary, "Nothing to change.");
    EXPECT_EQ(drift, std::vector<std::string>{});
    EXPECT_EQ(state(), "running");
    ASSERT_EQ(reload(""), "");
  }
}

// The kernel does not guard a group that is exclusive on one domain only.
TEST_F(OthersTest, OneThatComesLaterIsReported) {
  ASSERT_EQ(reload("[group.redis]\nl3 = { \"1\" = \"4 ways\" }\nexclusive = true\n"), "");
  ASSERT_EQ(mode("redis"), "shareable");
  ASSERT_TRUE(kernel.resctrl.make("theirs"));
  reconcile();
  EXPECT_EQ(problems(), std::vector<std::string>{shared});
  reconcile();
  EXPECT_EQ(problems(), std::vector<std::string>{shared});
  write("theirs/schemata", "L3:1=c0000");
  reconcile();
  EXPECT_EQ(problems(), std::vector<std::string>{});
}

// A tool takes the guard away and widens its own group: the limits of all others are restored.
TEST_F(OthersTest, AModeThatCannotBeHadUndoesNothing) {
  ASSERT_EQ(reload(redis_policy + "[group.batch]\nl3 = \"2 ways\"\n"), "");
  ASSERT_TRUE(kernel.resctrl.make("theirs"));
  write("redis/mode", "shareable");
  write("theirs/schemata", "L3:1=fffff");
  write("batch/schemata", "L3:0=f0000");
  reconcile();
  EXPECT_EQ(schemata("batch"), "L3:0-1=30 MB:0-1=100");
  EXPECT_EQ(problems(), std::vector<std::string>{shared});
}

TEST_F(OthersTest, AModeThatTheKernelRefusesIsADifferenceOfItsOwn) {
  ASSERT_EQ(reload(redis_policy), "");
  write("redis/schemata", "L3:0=3");
  write("redis/mode", "shareable");
  kernel.calls.fail_if(
      [](const fake::Call& call) { return call.text() == "write redis/mode 'exclusive'"; }, EINVAL);
  const std::vector<std::string> expected = {
      "cannot write 'exclusive' to /sys/fs/resctrl/redis/mode: Invalid argument (everything is as "
      "it was)",
      "group 'redis': mode shareable, granted exclusive"};
  for (int times = 0; times < 2; times++) {
    reconcile();
    EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
    EXPECT_EQ(problems(), expected);
  }
  kernel.calls.reset();
  reconcile();
  EXPECT_EQ(mode("redis"), "exclusive");
  EXPECT_EQ(state(), "running");
}

// Another tool has taken the last CLOSID: what is there is restored, one of two groups is made
// again, and the attempts to make the other one are ever further apart.
TEST_F(OthersTest, WhatCannotBeMadeKeepsNothingElseFromBeingRestored) {
  const std::string three =
      "[group.a]\nl3 = \"2 ways\"\n[group.b]\nl3 = \"3 ways\"\nexclusive = true\n[group.c]\nl3 = "
      "\"2 ways\"\n";
  ASSERT_EQ(reload(three), "");
  const std::string granted = schemata("b");
  for (int i = 0; kernel.resctrl.make(fmt::format("x{}", i)); i++) {}
  ASSERT_TRUE(kernel.resctrl.remove("a"));
  ASSERT_TRUE(kernel.resctrl.remove("c"));
  ASSERT_TRUE(kernel.resctrl.make("theirs"));
  write("b/schemata", "L3:0=1");
  ASSERT_NE(schemata("b"), granted);
  int attempts = 0;
  kernel.calls.fail_if(
      [&](const fake::Call& call) {
        attempts += call.operation == "make" ? 1 : 0;
        return false;
      },
      EIO);
  // Its own writes are changes too.
  for (int i = 0; i < 600; i++) {
    manager->reconciler().resctrl_changed({"c"});
    run(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(schemata("b"), granted);
  EXPECT_EQ(mode("b"), "exclusive");
  EXPECT_TRUE(kernel.resctrl.find("a") != nullptr);
  EXPECT_TRUE(kernel.resctrl.find("c") == nullptr);
  EXPECT_GT(attempts, 1);
  EXPECT_LT(attempts, 40);
  // Another group does not wait.
  write("b/schemata", "L3:0=1");
  manager->reconciler().resctrl_changed({"b"});
  run(std::chrono::milliseconds(500));
  EXPECT_EQ(schemata("b"), granted);
  EXPECT_EQ(mode("b"), "exclusive");
}

// What the kernel has reset is restored once: afterwards, a policy that only reports does so again,
// also if a group cannot be made.
TEST_F(OthersTest, AGroupThatCannotBeMadeLeavesReportingAsItIs) {
  const std::string two =
      "[daemon]\ndrift = \"report\"\n[group.a]\nl3 = \"2 ways\"\n[group.b]\nl3 = \"3 ways\"\n";
  ASSERT_EQ(reload(two), "");
  for (int i = 0; kernel.resctrl.make(fmt::format("x{}", i)); i++) {}
  ASSERT_TRUE(kernel.resctrl.remove("a"));
  ASSERT_TRUE(kernel.resctrl.make("theirs"));
  restart_domain();
  run(std::chrono::seconds(1));
  write("b/schemata", "L3:0=1");
  const std::string theirs = schemata("b");
  reconcile();
  EXPECT_EQ(schemata("b"), theirs);
}

// An exclusive group of another tool whose domain the kernel has reset keeps everybody from writing
// there. The other domain does not wait for it.
TEST_F(OthersTest, AnExclusiveGroupInTheWayUndoesNothing) {
  ASSERT_EQ(reload(redis_policy), "");
  ASSERT_TRUE(kernel.resctrl.make("theirs"));
  write("schemata", "L3:0=3fff0;1=3fff0");
  write("theirs/schemata", "L3:0=c0000;1=c0000");
  write("theirs/mode", "exclusive");
  ASSERT_EQ(mode("theirs"), "exclusive");
  ASSERT_EQ(reload(redis_policy), "");
  restart_domain();
  write("redis/mode", "shareable");
  write("redis/schemata", "L3:0=3");
  run(std::chrono::seconds(1));
  EXPECT_EQ(all(),
            "default shareable L3:0=3fff0;1=fffff MB:0-1=100\n"
            "redis shareable L3:0=f;1=fffff MB:0-1=100\n"
            "theirs exclusive L3:0=c0000;1=fffff MB:0-1=100\n");
  EXPECT_EQ(problems(),
            (std::vector<std::string>{
                "the machine has changed, and the policy in force does not fit it:\np.toml:2:6: "
                "error: 4 ways asked for exclusively (redis 4), but L3 domain 1 has 20 ways, 20 "
                "held by group 'theirs', which rdtd did not make, and 1 must be left to default\n"
                "    2 | l3 = \"4 ways\"\n      |      ^~~~~~~~",
                shared, "group 'redis': L3:1=fffff, granted L3:1=f",
                "group 'default': L3:1=fffff, granted L3:1=3fff0"}));
  ASSERT_TRUE(kernel.resctrl.remove("theirs"));
  reconcile();
  EXPECT_EQ(state(), "running");
  EXPECT_EQ(schemata("redis"), "L3:0-1=f MB:0-1=100");
  EXPECT_EQ(mode("redis"), "exclusive");
}

// All sequences of up to three changes.
class AnyOrder : public OthersTest {
 protected:
  struct Change {
    const char* name;
    std::function<void()> make;
  };
  void take_domain_offline() {
    for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
    manager->reconciler().cpu_changed();
  }
  void bring_domain_online() {
    for (const unsigned cpu : {2U, 3U})
      if (!kernel.resctrl.online.contains(cpu)) kernel.resctrl.bring_online(cpu);
    manager->reconciler().cpu_changed();
  }
  // The default group makes room for it.
  void make_theirs_exclusive() {
    write("schemata", "L3:0=3fff0;1=3fff0");
    (void)kernel.resctrl.make("theirs");
    write("theirs/schemata", "L3:0=c0000;1=c0000");
    write("theirs/mode", "exclusive");
  }
  const std::vector<Change> changes = {
      {"theirs is made", [this] { (void)kernel.resctrl.make("theirs"); }},
      {"theirs goes", [this] { (void)kernel.resctrl.remove("theirs"); }},
      {"theirs widens",
       [this] {
         for (const char* mask : {"L3:0=fffff", "L3:1=fffff"}) write("theirs/schemata", mask);
       }},
      {"theirs narrows", [this] { write("theirs/schemata", "L3:0=c0000;1=c0000"); }},
      {"theirs becomes exclusive", [this] { make_theirs_exclusive(); }},
      {"the mode of redis is changed", [this] { write("redis/mode", "shareable"); }},
      {"the masks are changed",
       [this] {
         write("redis/schemata", "L3:0=3");
         write("batch/schemata", "L3:0=3f0;1=3f0");
       }},
      {"domain 1 goes offline", [this] { take_domain_offline(); }},
      {"domain 1 comes online", [this] { bring_domain_online(); }},
      {"domain 1 is reset", [this] { restart_domain(); }},
  };

  // What another tool holds in the exclusive mode cannot be had.
  [[nodiscard]] bool is_held(Resource resource, DomainId domain, uint32_t mask) const {
    const fake::Group* theirs = kernel.resctrl.find("theirs");
    if (theirs == nullptr || theirs->mode != Mode::exclusive || !is_cache(resource)) return false;
    return Cbm{kernel.resctrl.values.at(resource).at(domain).at(theirs->closid)}.overlaps(
        Cbm{mask});
  }
  void expect_limits() const {
    for (const GroupTarget& target : manager->in_force().groups) {
      const Schemata now =
          *parse_schemata(*kernel.resctrl.read(resctrl::file_of(target.directory, "schemata")));
      for (const auto& [resource, values] : target.state.schemata)
        for (const auto& [domain, value] : values)
          if (now.at(resource).contains(domain) && !is_held(resource, domain, value)) {
            EXPECT_EQ(now.at(resource).at(domain), value) << group_label(target.directory);
          }
      EXPECT_EQ(to_string(kernel.resctrl.find(target.directory)->mode),
                to_string(target.state.mode));
    }
  }
  // A daemon that starts now finds nothing to do, and says the same.
  void expect_what_a_load_gives() {
    if (!manager->answers().plan()) {
      EXPECT_EQ(state(), "degraded");
      return;
    }
    const std::string before = all();
    const std::vector<std::string> said = problems();
    start();
    ASSERT_EQ(load(), "");
    reconcile();
    EXPECT_EQ(all(), before);
    EXPECT_EQ(problems(), said);
  }
  void run_sequence(const std::vector<size_t>& sequence, bool compares_each) {
    std::string names;
    for (const size_t i : sequence) names += std::string(changes[i].name) + "; ";
    SCOPED_TRACE(names + (compares_each ? "compared each time" : "compared at the end"));
    kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
    start();  // which prunes the record
    ASSERT_EQ(load(), "");
    for (const size_t i : sequence) {
      changes[i].make();
      if (compares_each) reconcile();
    }
    reconcile();
    expect_limits();
    expect_what_a_load_gives();
  }
};

TEST_F(AnyOrder, EndsAsALoadWould) {
  policy = redis_policy +
           "[group.web]\nl3 = { \"0\" = \"2 ways\" }\nexclusive = true\n"
           "[group.batch]\nl3 = \"2 ways\"\n";
  std::vector<std::vector<size_t>> sequences = {{}};
  for (size_t i = 0; i < sequences.size() && sequences[i].size() < 3; i++)
    for (size_t change = 0; change < changes.size(); change++) {
      sequences.push_back(sequences[i]);
      sequences.back().push_back(change);
    }
  // Of the longest ones, half is compared after each change, half at the end.
  size_t number = 0;
  for (const auto& sequence : sequences)
    for (const bool compares_each : {false, true}) {
      const size_t sum = std::accumulate(sequence.begin(), sequence.end(), size_t{0});
      if (sequence.size() == 3 && compares_each != (sum % 2 == 0)) continue;
      if (sequence.size() > 1 && number++ % test::stride(23) != 0) continue;
      run_sequence(sequence, compares_each);
      if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace rdtd
