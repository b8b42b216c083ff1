// A file of resctrl that can never be read keeps nothing else from being as the policy says.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <cerrno>
#include <memory>
#include <sstream>
#include <string_view>

#include "world.hpp"

namespace rdtd {
namespace {

using Texts = std::vector<std::string>;

const std::string two_groups =
    "[group.a]\nl3 = \"2 ways\"\ncpus = \"1\"\nexclusive = true\n[group.b]\nl3 = \"3 ways\"\n"
    "[[rule]]\ngroup = \"a\"\nname = \"in-a\"\nmonitor = \"probe\"\n";

const std::string two_shared = "[group.a]\nl3 = \"2 ways\"\n[group.b]\nl3 = \"3 ways\"\n";

class UnreadableTest : public test::World {
 protected:
  void make_unreadable(const std::string& file, int code = EIO) {
    kernel.calls.fail_if(
        [=](const fake::Call& call) {
          return (call.operation == "read" || call.operation == "list") && call.path == file;
        },
        code);
  }
  void write(const std::string& file, const std::string& text) {
    ASSERT_TRUE(kernel.resctrl.write(file, text + "\n")) << file;
  }
  void reconcile() {
    manager->reconciler().reconcile();
    run(std::chrono::seconds(1));
  }
  std::string reset() {
    return wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); });
  }
  [[nodiscard]] size_t changes_of(const std::string& group) const {
    size_t out = 0;
    for (const std::string& text : kernel.calls.changes()) out += text.contains(" " + group + "/");
    return out;
  }
  static std::string text_of(const std::string& file) {
    return fmt::format("cannot {} /sys/fs/resctrl/{}: Input/output error",
                       file.ends_with("mon_groups") ? "list" : "read", file);
  }
};

TEST_F(UnreadableTest, OneOfAnotherTool) {
  for (const char* file : {"odd/mode", "odd/schemata", "odd/cpus_list", "odd/mon_groups"}) {
    SCOPED_TRACE(file);
    use(fake::xeon());
    ASSERT_TRUE(kernel.resctrl.make("odd"));
    kernel.calls.reset();
    make_unreadable(file);
    ASSERT_EQ(reload(two_shared), "");
    const std::string a = schemata("a"), b = schemata("b");
    write("a/schemata", "L3:0=fff00");
    write("b/schemata", "L3:0=fff00");
    reconcile();
    EXPECT_EQ(schemata("a"), a);
    EXPECT_EQ(schemata("b"), b);
    ASSERT_TRUE(kernel.resctrl.remove("b"));
    reconcile();
    EXPECT_EQ(schemata("b"), b);
    EXPECT_EQ(problems(), Texts{text_of(file)});
    EXPECT_EQ(reload("[group.a]\nl3 = \"2 ways\"\n"), "");
    EXPECT_EQ(changes_of("odd"), 0U);
    run(std::chrono::seconds(10));
    EXPECT_EQ(problems(), Texts{text_of(file)});
    kernel.calls.reset();
    run(std::chrono::seconds(400));
    EXPECT_EQ(problems(), Texts{});
  }
}

TEST_F(UnreadableTest, ItIsLoggedOnce) {
  ASSERT_TRUE(kernel.resctrl.make("odd"));
  make_unreadable("odd/schemata");
  std::ostringstream log;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_st>(log)));
  for (int load = 0; load < 3; load++) {
    EXPECT_EQ(reload(fmt::format("[group.b]\nl3 = \"{} ways\"\n", load + 2)), "");
    reconcile();
  }
  spdlog::set_default_logger(before);
  const std::string text = log.str(), one = text_of("odd/schemata");
  EXPECT_TRUE(text.contains(one)) << text;
  EXPECT_EQ(text.find(one), text.rfind(one)) << text;
}

// What its other files say is still restored, and nothing is written to what nobody can read.
TEST_F(UnreadableTest, OneOfTheDaemonsOwn) {
  const struct {
    const char *file, *other;
  } rows[] = {{"a/mode", "a/schemata"},
              {"a/schemata", "a/mode"},
              {"a/cpus_list", "a/schemata"},
              {"a/mon_groups", "a/schemata"},
              {"a/mon_groups/probe/cpus_list", "a/schemata"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.file);
    use(fake::xeon());
    kernel.calls.reset();
    ASSERT_EQ(reload(two_groups), "");
    reconcile();
    const std::string a = schemata("a"), b = schemata("b");
    const pid_t pid = processes.start({.name = "in-a"});
    kernel.calls.reset();
    make_unreadable(row.file);
    reconcile();
    for (const std::string& change : kernel.calls.changes())
      EXPECT_TRUE(change.starts_with("add ")) << change;
    const bool of_mode = std::string_view(row.other) == "a/mode";
    write("a/mode", "shareable");
    if (!of_mode) write(row.other, "L3:0=fff00");
    write("b/schemata", "L3:0=fff00");
    reconcile();
    EXPECT_EQ(schemata("a"), a);
    EXPECT_EQ(schemata("b"), b);
    EXPECT_EQ(group_of(pid), "a/probe");
    EXPECT_EQ(problems(), Texts{text_of(row.file)});
    EXPECT_EQ(state(), "degraded");
    // A load of what concerns the others, and one without the group.
    std::string text = two_groups;
    text.replace(text.find("3 ways"), 6, "4 ways");
    EXPECT_EQ(reload(text), "");
    EXPECT_NE(schemata("b"), b);
    EXPECT_EQ(reload("[group.b]\nl3 = \"3 ways\"\n"), "");
    kernel.calls.reset();
    run(std::chrono::seconds(400));
    EXPECT_EQ(schemata("a"), "none");
    EXPECT_EQ(problems(), Texts{});
    processes.exit(pid);
  }
}

// A daemon that has just started does not know what it was granted.
TEST_F(UnreadableTest, OneOfTheDaemonsOwnAtTheStart) {
  for (const std::string file : {"a/mode", "a/schemata", "a/cpus_list", "a/mon_groups"}) {
    SCOPED_TRACE(file);
    use(fake::xeon());
    kernel.calls.reset();
    // The kernel refuses what overlaps with an exclusive group, whoever knows its ways.
    ASSERT_EQ(reload(file == "a/schemata" ? two_shared : two_groups), "");
    const std::string a = schemata("a");
    write("b/schemata", "L3:0=fff00");
    const std::string changed = schemata("b");
    // No rule knows it: it stays where somebody put it.
    const pid_t in_a = processes.start({.name = "by-hand"});
    ASSERT_TRUE(kernel.resctrl.write("a/tasks", std::to_string(in_a) + "\n"));
    start();
    make_unreadable(file);
    EXPECT_EQ(load(), "");
    EXPECT_EQ(schemata("a"), a);
    EXPECT_NE(schemata("b"), changed);
    kernel.calls.reset();
    reconcile();
    run(std::chrono::seconds(400));
    EXPECT_EQ(problems(), Texts{});
    EXPECT_EQ(group_of(in_a), "a");
    EXPECT_EQ(schemata("a"), a);
    EXPECT_NE(schemata("b"), changed);
    const auto& owned = manager->core().applier.last_owned();
    EXPECT_TRUE(owned.contains("a"));
    EXPECT_EQ(owned.contains("a/mon_groups/probe"), file != "a/schemata");
  }
}

// Another tool has made one of that name, and what it has cannot be read.
TEST_F(UnreadableTest, OneThatWasMadeAgainIsNotTheDaemons) {
  ASSERT_EQ(reload(two_groups), "");
  reconcile();
  ASSERT_TRUE(kernel.resctrl.remove("b"));
  ASSERT_TRUE(kernel.resctrl.make("b"));
  kernel.calls.reset();
  make_unreadable("b/schemata");
  reconcile();
  EXPECT_EQ(kernel.calls.changes(), Texts{"write a/mode 'shareable'"});
}

TEST_F(UnreadableTest, AResetRemovesItNevertheless) {
  for (const char* file : {"a/schemata", "a/cpus_list"}) {
    SCOPED_TRACE(file);
    ASSERT_EQ(reload(two_groups), "");
    make_unreadable(file);
    EXPECT_EQ(reset(), "");
    kernel.calls.reset();
    EXPECT_EQ(schemata("a"), "none");
    EXPECT_EQ(schemata(""), "L3:0-1=fffff MB:0-1=100");
  }
  ASSERT_EQ(reload(two_groups), "");
  make_unreadable("a/mode");
  EXPECT_NE(reset(), "");
  kernel.calls.reset();
  EXPECT_EQ(reset(), "");
  EXPECT_EQ(schemata("a"), "none");
}

// What the steps wrote is written back, also where nobody can read what is there.
TEST_F(UnreadableTest, AnUndoWritesItBack) {
  const std::string before =
      "[group.a]\nl3 = \"ways 2-5\"\n[group.b]\nl3 = \"ways 6-8\"\n"
      "[[rule]]\ngroup = \"a\"\nname = \"in-a\"\nmonitor = \"web\"\n";
  const struct {
    const char *file, *from, *to, *failing, *end;
  } rows[] = {
      {"a/schemata", "ways 2-5\"", "ways 3-5\"", "write b/mode 'exclusive'",
       "not restored: group 'a': cannot read /sys/fs/resctrl/a/schemata: Input/output error"},
      {"a/cpus_list", "ways 2-5\"", "ways 2-5\"\ncpus = \"2\"", "write b/mode 'exclusive'",
       "everything is as it was"},
      {"a/mode", "ways 2-5\"", "ways 2-5\"\nexclusive = true", "write b/mode 'exclusive'",
       "everything is as it was"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.file);
    use(fake::xeon());
    kernel.calls.reset();
    ASSERT_EQ(reload(before), "");
    reconcile();
    const auto all = [&] {
      std::string out;
      for (const char* file : {"a/schemata", "a/cpus_list", "a/mode", "a/mon_groups/web/cpus_list",
                               "b/schemata", "b/cpus_list", "b/mode", "schemata", "cpus_list"})
        out += fmt::format("{}: {}", file, kernel.resctrl.read(file).value_or("none\n"));
      return out;
    };
    const std::string was = all();
    make_unreadable(row.file);
    kernel.calls.fail_if([&](const fake::Call& call) { return call.text() == row.failing; }, EIO);
    std::string text = before;
    text.replace(text.find(row.from), std::string_view(row.from).size(), row.to);
    if (const size_t b = text.find("ways 6-8\""); row.failing == rows[0].failing)
      text.insert(b + 9, "\nexclusive = true");
    const std::string refused = reload(text);
    EXPECT_TRUE(refused.contains(row.end)) << refused;
    EXPECT_EQ(all(), was);
    kernel.calls.reset();
  }
}

TEST_F(UnreadableTest, AnUndoTakesCpusFromAMonitoringGroup) {
  const std::string before =
      "[group.a]\nl3 = \"2 ways\"\ncpus = \"2-3\"\n"
      "[[rule]]\ngroup = \"a\"\nname = \"in-a\"\nmonitor = \"web\"\n";
  ASSERT_EQ(reload(before), "");
  reconcile();
  const std::string file = "a/mon_groups/web/cpus_list";
  make_unreadable(file);
  int failed = 0;
  kernel.calls.fail_if(
      [&](const fake::Call& call) {
        const bool fails = call.text() == "write " + file + " '2'";
        failed += fails;
        return fails;
      },
      EIO, fake::Calls::When::after_effect);
  std::string text = before;
  text.insert(text.find("[[rule]]"), "monitor_cpus = { web = \"2\" }\n");
  EXPECT_EQ(reload(text), "");
  EXPECT_GT(failed, 0);
  EXPECT_EQ(kernel.resctrl.read(file).value_or("none"), "\n");
}

// The mode of a region cannot be read at first: then it looks like a group.
TEST_F(UnreadableTest, AResetLeavesAnOpenRegion) {
  use(fake::atom());
  ASSERT_EQ(reload("[pseudo_lock.buffer]\nl2 = { \"1\" = \"1 MiB\" }\n"), "");
  holders["buffer"] = "process 812 (app) has /dev/pseudo_lock/buffer open";
  for (const int failures : {2, 4}) {
    SCOPED_TRACE(failures);
    int reads = 0;
    kernel.calls.fail_if(
        [&](const fake::Call& call) {
          return call.operation == "read" && call.path == "buffer/mode" && ++reads <= failures;
        },
        EIO);
    EXPECT_EQ(reset(),
              "cannot remove pseudo_lock 'buffer': Device or resource busy (process 812 (app) has "
              "/dev/pseudo_lock/buffer open)");
    kernel.calls.reset();
    EXPECT_EQ(kernel.resctrl.read("buffer/mode").value_or("none"), "pseudo-locked\n");
  }
}

// Whom a rule held that is gone is not known then. All others are looked at nevertheless.
TEST_F(UnreadableTest, TheTasksThatARuleHeld) {
  const std::string rule_b = "[[rule]]\ngroup = \"b\"\nname = \"in-b\"\n";
  ASSERT_EQ(reload(two_groups + rule_b), "");
  const pid_t in_b = processes.start({.name = "in-b"});
  reconcile();
  ASSERT_EQ(group_of(in_b), "b");
  kernel.calls.reset();
  make_unreadable("b/tasks");
  EXPECT_EQ(reload(two_groups), "the policy is in force, but " + text_of("b/tasks"));
  const pid_t in_a = processes.start({.name = "in-a"});
  reconcile();
  EXPECT_EQ(group_of(in_a), "a/probe");
  EXPECT_EQ(problems(), Texts{text_of("b/tasks")});
  kernel.calls.reset();
  run(std::chrono::seconds(400));
  EXPECT_EQ(group_of(in_b), "default");
  EXPECT_EQ(problems(), Texts{});
}

}  // namespace
}  // namespace rdtd
