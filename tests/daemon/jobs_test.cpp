// Jobs: one after the other, whatever they wait for, and seen by status while they wait.
#include "rdtd/daemon/jobs.hpp"

#include <gtest/gtest.h>

#include "world.hpp"

namespace rdtd {
namespace {

class JobsTest : public test::World {
 protected:
  // A job that waits for `finish`, and writes down when it begins and ends.
  void add(const std::string& name) {
    core().jobs.add(name_of(name), [this, name] { return wait_for_callback(name); });
  }
  Task<> wait_in(Stage stage) {
    std::function<void(std::function<void(int)>)> begin = [this](std::function<void(int)> then) {
      finish = std::move(then);
    };
    auto result = core().jobs.result<int>(stage, std::move(begin));
    (void)co_await result;
  }
  Task<> wait_for_callback(std::string name) {
    log += name + " begins;";
    std::function<void(std::function<void(int)>)> begin = [this](std::function<void(int)> then) {
      finish = std::move(then);
    };
    auto result = core().jobs.result<int>(Stage::classifier, std::move(begin));
    const int value = co_await result;
    log += name + " ends with " + std::to_string(value) + ";";
  }
  std::string_view name_of(const std::string& name) { return *names.insert(name).first; }
  Core& core() { return manager->core(); }
  // Lets the time pass in which the manager has something to do.
  void pass(std::chrono::seconds time) { run(time); }

  std::set<std::string> names;
  std::function<void(int)> finish;
  std::string log;
};

TEST_F(JobsTest, RunOneAfterTheOther) {
  add("a");
  add("b");
  EXPECT_EQ(log, "a begins;");
  std::exchange(finish, nullptr)(1);
  EXPECT_EQ(log, "a begins;a ends with 1;b begins;");
  std::exchange(finish, nullptr)(2);
  EXPECT_EQ(log, "a begins;a ends with 1;b begins;b ends with 2;");
  EXPECT_FALSE(core().jobs.running());
}

Task<> at_once(Jobs& jobs, std::string& log) {
  std::function<void(std::function<void(int)>)> begin = [](const std::function<void(int)>& then) {
    then(7);
  };
  auto result = jobs.result<int>(Stage::work, std::move(begin));
  log += std::to_string(co_await result);
}

TEST_F(JobsTest, AnAnswerInTheCallIsEnough) {
  core().jobs.add("a", [this] { return at_once(core().jobs, log); });
  EXPECT_EQ(log, "7");
}

TEST_F(JobsTest, OneThatStandsIsAProblemUntilItGoesOn) {
  std::vector<std::string> states;
  manager->connect({.state_changed = [&] { states.push_back(state()); }});
  add("reload");
  EXPECT_EQ(core().jobs.running()->name, "reload");
  EXPECT_EQ(to_string(core().jobs.running()->stage), "waiting for the classifier");
  pass(std::chrono::seconds(9));
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_FALSE(manager->stuck());
  pass(std::chrono::seconds(2));
  EXPECT_EQ(problems(),
            std::vector<std::string>{
                "a change does not go on: reload, waiting for the classifier for more than 10 s"});
  EXPECT_EQ(states, std::vector<std::string>{"degraded"});
  pass(std::chrono::seconds(30));
  EXPECT_TRUE(manager->stuck());  // nothing is at work that could call back
  finish(1);
  EXPECT_EQ(problems(), std::vector<std::string>{});
  EXPECT_FALSE(manager->stuck());
}

// A look at all processes may take minutes, as long as it goes on.
TEST_F(JobsTest, ASlowLookIsNoProblemUntilItStops) {
  core().jobs.add("reload", [this] { return wait_in(Stage::processes); });
  for (int i = 0; i < 4; i++) {
    pass(std::chrono::seconds(25));
    core().jobs.swept();
  }
  EXPECT_EQ(problems(), std::vector<std::string>{});
  pass(std::chrono::seconds(61));
  EXPECT_EQ(problems(), std::vector<std::string>{"a change does not go on: reload, examining all "
                                                 "processes for more than 60 s"});
  EXPECT_TRUE(manager->stuck());
}

// Work for others is none for the job that waits.
TEST_F(JobsTest, ALostCallbackIsNotHiddenByOtherWork) {
  core().jobs.add("reload", [this] { return wait_in(Stage::processes); });
  const pid_t pid = processes.start({.name = "bash"});
  for (int i = 0; i < 40; i++) {
    manager->core().sweeper.visit({.pid = pid});
    pass(std::chrono::seconds(1));
  }
  EXPECT_TRUE(manager->stuck());
}

// Another tool holds the lock: rdtd tries again, which is work.
TEST_F(JobsTest, WaitForTheLockAndGoOnWithoutIt) {
  ASSERT_EQ(load(), "");
  kernel.locked_by_other = true;
  std::string answer = "none yet";
  manager->changes().reload([&](const auto& done) { answer = done ? "" : done.error().text; });
  EXPECT_EQ(manager->answers().properties().job, "reload: waiting for the lock of resctrl");
  pass(std::chrono::seconds(1));
  EXPECT_EQ(answer, "none yet");
  pass(std::chrono::seconds(2));
  EXPECT_EQ(answer, "");
  EXPECT_EQ(manager->answers().properties().job, "");
}

}  // namespace
}  // namespace rdtd
