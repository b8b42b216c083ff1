// Every single call to the kernel fails once, one after the other: what was asked for is in force
// all the same, or the caller hears that it is not, and a little later all is as it is to be.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "world.hpp"

namespace rdtd {
namespace {

using When = fake::Calls::When;

const std::string rule_texts =
    "[[rule]]\ngroup = \"a\"\nname = \"in-a\"\nmonitor = \"probe\"\n"
    "[[rule]]\ngroup = \"b\"\nname = \"in-b\"\n";
const std::string first_text =
    "[group.a]\nl3 = \"2 ways\"\nexclusive = true\n[group.b]\nmb = \"50%\"\ncpus = \"1\"\n"
    "[group.c]\nl3 = \"1 way\"\n" +
    rule_texts;
const std::string second_text =
    "[group.a]\nl3 = \"5 ways\"\nexclusive = true\n[group.b]\nmb = \"30%\"\nl3 = \"3 ways\"\n"
    "[group.d]\nl3 = \"1 way\"\ncpus = \"1\"\n" +
    rule_texts;

class EachCallTest : public test::World {
 protected:
  void SetUp() override {
    World::SetUp();
    start_processes();
  }
  // With where the processes are.
  [[nodiscard]] std::string tree() const {
    return fmt::format("{} {}\n{}", group_of(in_a_), group_of(in_b_), World::tree());
  }
  // `act` once for each of its calls, which fails. `check` after each.
  void fail_each(const std::function<void()>& arrange, const std::function<void()>& act,
                 const std::function<void()>& check) {
    arrange();
    kernel.calls.reset();
    act();
    const std::vector<std::string> calls = kernel.calls.texts();
    for (size_t n = 1; n <= calls.size(); n++) {
      const std::string& call = calls[n - 1];
      for (const int code : codes_for(n, call))
        fail_one(n, code, When::before_effect, call, arrange, act, check);
      if (call.starts_with("write"))
        fail_one(n, EIO, When::after_effect, call, arrange, act, check);
      if (HasFatalFailure()) return;
    }
  }
  // One in turn, or all with RDTD_TESTS=all.
  static std::vector<int> codes_for(size_t number, const std::string& call) {
    std::vector<int> codes = {EIO, EMFILE};
    // These two are also what the kernel says of a group that is gone. In info/, they say what the
    // machine has not.
    if (!call.contains(" info")) codes.insert(codes.end(), {ENODEV, ENOENT});
    const char* const extent = std::getenv("RDTD_TESTS");
    if (extent != nullptr && extent == std::string_view("all")) return codes;
    return {codes[number % codes.size()]};
  }
  void fail_one(size_t number, int code, When when, const std::string& call,
                const std::function<void()>& arrange, const std::function<void()>& act,
                const std::function<void()>& check) {
    SCOPED_TRACE(fmt::format("call {}, {}{}: {}", number, call,
                             when == When::after_effect ? ", after its effect" : "",
                             std::strerror(code)));
    kernel.calls.reset();
    arrange();
    kernel.calls.reset();
    kernel.calls.fail(number, code, when);
    act();
    kernel.calls.reset();
    check();
  }
  void start_processes() {
    in_a_ = processes.start({.name = "in-a"});
    in_b_ = processes.start({.name = "in-b"});
  }
  // A machine on which no daemon has run.
  void start_again(const std::string& text) {
    for (const pid_t pid : {in_a_, in_b_}) processes.exit(pid);
    use(kernel.resctrl.machine);
    policy = text;
    start_processes();
  }
  std::string reset() {
    return wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); });
  }
  pid_t in_a_ = 0, in_b_ = 0;
};

TEST_F(EachCallTest, OfTheFirstLoad) {
  start_again(first_text);
  ASSERT_EQ(load(), "");
  const std::string wanted = tree();
  std::string said;
  fail_each([&] { start_again(first_text); }, [&] { said = load(); },
            [&] {
              run(std::chrono::seconds(60));
              EXPECT_EQ(tree(), wanted) << said;
              EXPECT_EQ(problems(), std::vector<std::string>{}) << said;
              EXPECT_EQ(state(), "running") << said;
            });
}

// The groups are there, and the new daemon must not take them for those of another tool.
TEST_F(EachCallTest, OfARestart) {
  const std::string region = "[pseudo_lock.buffer]\nl2 = { \"1\" = \"2 ways\" }\n";
  const std::pair<fake::Machine, std::string> rows[] = {
      {fake::xeon(), first_text}, {fake::atom(), region + "[group.a]\nl2 = \"2 ways\"\n"}};
  for (const auto& [machine, text] : rows) {
    kernel.resctrl.machine = machine;
    start_again(text);
    ASSERT_EQ(load(), "");
    const std::string wanted = tree();
    std::string said;
    fail_each(
        [&] {
          ASSERT_EQ(reset(), "");
          ASSERT_EQ(reload(text), "");
          start();
        },
        [&] { said = load(); },
        [&] {
          run(std::chrono::seconds(60));
          EXPECT_EQ(tree(), wanted) << said;
          EXPECT_EQ(problems(), std::vector<std::string>{}) << said;
        });
  }
}

TEST_F(EachCallTest, OfAReload) {
  const auto arrange = [&] {
    ASSERT_EQ(reset(), "");
    ASSERT_EQ(reload(first_text), "");
  };
  arrange();
  const std::string before = tree();
  ASSERT_EQ(reload(second_text), "");
  const std::string after = tree();
  std::string said;
  fail_each(
      arrange, [&] { said = reload(second_text); },
      [&] {
        run(std::chrono::seconds(60));
        const bool done = said.empty() || said.starts_with("the policy is in force");
        EXPECT_EQ(tree(), done ? after : before) << said;
        EXPECT_EQ(problems(), done ? std::vector<std::string>{}
                                   : std::vector<std::string>{"the last reload failed"})
            << said;
      });
}

TEST_F(EachCallTest, OfAComparison) {
  ASSERT_EQ(reload(first_text), "");
  const std::string wanted = tree();
  const auto arrange = [&] {
    manager->reconciler().reconcile();
    run(std::chrono::seconds(10));
    ASSERT_EQ(tree(), wanted);
    (void)kernel.resctrl.remove("c");
    (void)kernel.resctrl.remove("a/mon_groups/probe");
    (void)kernel.resctrl.write("b/schemata", "MB:0=100\n");
    (void)kernel.resctrl.write("tasks", std::to_string(in_b_));
    for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
    for (const unsigned cpu : {2U, 3U}) kernel.resctrl.bring_online(cpu);
  };
  fail_each(
      arrange,
      [&] {
        manager->reconciler().cpu_changed();
        manager->reconciler().reconcile();
        run(std::chrono::seconds(1));
      },
      [&] {
        manager->reconciler().reconcile();  // as every minute
        run(std::chrono::seconds(60));
        EXPECT_EQ(tree(), wanted);
        EXPECT_EQ(problems(), std::vector<std::string>{});
      });
}

TEST_F(EachCallTest, OfALease) {
  ASSERT_EQ(reload(first_text), "");
  const std::string without = tree();
  std::string said;
  const auto take = [&] {
    said = lease("bench",
                 "[group.bench]\nl3 = \"2 ways\"\n[group.c]\noverride = true\n"
                 "l3 = \"4 ways\"\n[[rule]]\ngroup = \"bench\"\nname = \"in-b\"\n");
  };
  take();
  ASSERT_EQ(said, "");
  const std::string with = tree();
  const auto end = [&] {
    lease_fds.clear();
    manager->leases().end_abandoned();
    run(std::chrono::seconds(5));
  };
  fail_each(
      [&] {
        end();
        run(std::chrono::seconds(30));
        ASSERT_EQ(tree(), without);
      },
      take,
      [&] {
        run(std::chrono::seconds(60));
        EXPECT_EQ(tree(), said.empty() ? with : without) << said;
        EXPECT_EQ(problems(), std::vector<std::string>{}) << said;
      });
  fail_each(
      [&] {
        if (lease_fds.empty()) take();
        ASSERT_EQ(tree(), with);
      },
      end,
      [&] {
        run(std::chrono::seconds(60));
        EXPECT_EQ(tree(), without);
        EXPECT_EQ(problems(), std::vector<std::string>{});
      });
}

TEST_F(EachCallTest, OfAReset) {
  std::string said;
  const std::string nothing = tree();
  fail_each(
      [&] {
        (void)reset();
        ASSERT_EQ(reload(first_text + "[[rule]]\ngroup = \"default\"\nname = \"in-default\"\n"
                                      "monitor = \"count\"\n"),
                  "");
      },
      [&] { said = reset(); },
      [&] {
        run(std::chrono::seconds(60));
        if (said.empty()) {
          EXPECT_EQ(tree(), nothing);
        }
        EXPECT_EQ(reset(), "");
        EXPECT_EQ(tree(), nothing);
      });
}

// What the kernel never takes costs the group that it is about, and no other.
TEST_F(EachCallTest, OfTheFirstLoadThatFailsForEver) {
  start_again(first_text);
  kernel.calls.reset();
  ASSERT_EQ(load(), "");
  std::set<std::pair<std::string, std::string>> changes;
  for (const fake::Call& call : kernel.calls.log())
    if (call.operation == "make" || call.operation == "write" || call.operation == "open_tasks")
      changes.emplace(call.operation, call.path);
  for (const auto& [operation, path] : changes) {
    SCOPED_TRACE(operation + " " + path);
    // Group a is exclusive: the default group must leave its ways.
    const std::string hit = path == "schemata" ? "a" : path.substr(0, path.find('/'));
    const bool costs_it = operation != "open_tasks" && !path.contains("mon_groups");
    start_again(first_text);
    kernel.calls.reset();
    kernel.calls.fail_if(
        [&](const fake::Call& call) { return call.operation == operation && call.path == path; },
        EINVAL);
    EXPECT_EQ(load(), "");
    for (const char* group : {"a", "b", "c"})
      EXPECT_EQ(schemata(group) != "none", group != hit || !costs_it) << group;
    EXPECT_EQ(state(), "degraded");
    EXPECT_FALSE(problems().empty());
    kernel.calls.reset();
    run(std::chrono::seconds(60));
    EXPECT_EQ(problems(), std::vector<std::string>{});
    for (const char* group : {"a", "b", "c"}) EXPECT_NE(schemata(group), "none") << group;
    EXPECT_EQ(group_of(in_a_) + " " + group_of(in_b_), "a/probe b");
  }
}

}  // namespace
}  // namespace rdtd
