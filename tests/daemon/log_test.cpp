// The log: levels by their names, and standard error. What the journal gets is tried in the virtual
// machine.
#include "log.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <sstream>

#include "stderr_file.hpp"
#include "unit/files.hpp"

namespace rdtd {
namespace {

class LogTest : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    ::unsetenv("JOURNAL_STREAM");
    logger_ = spdlog::default_logger();
    spdlog::set_level(spdlog::level::info);
  }
  void TearDown() override {
    ::unsetenv("JOURNAL_STREAM");
    spdlog::set_default_logger(logger_);
    spdlog::set_level(spdlog::level::info);
    Files::TearDown();
  }
  // What `write` logs to standard error.
  template <class Write>
  [[nodiscard]] std::string logged(Write write) const {
    {
      const test::StderrFile file(root_ / "log");
      open_log();
      write();
    }
    std::ostringstream text;
    text << std::ifstream(root_ / "log").rdbuf();
    fs::remove(root_ / "log");
    return text.str();
  }
  std::shared_ptr<spdlog::logger> logger_;
};

TEST_F(LogTest, LevelsOfSyslog) {
  const struct {
    const char *set, *shown;
  } rows[] = {{"debug", "debug"}, {"info", "info"}, {"notice", "info"}, {"warning", "warning"},
              {"err", "err"},     {"crit", "crit"}, {"alert", "crit"},  {"emerg", "crit"}};
  for (const auto& row : rows) {
    EXPECT_TRUE(set_syslog_level(row.set)) << row.set;
    EXPECT_EQ(syslog_level(), row.shown) << row.set;
    EXPECT_EQ(logs_assignments(), std::string(row.set) == "debug") << row.set;
  }
  for (const char* unknown : {"", "trace", "warn", "7"}) {
    EXPECT_FALSE(set_syslog_level(unknown)) << unknown;
    EXPECT_EQ(syslog_level(), "crit");
  }
}

TEST_F(LogTest, LevelsOfPolicies) {
  const struct {
    const char *policy, *syslog;
  } rows[] = {{"debug", "debug"}, {"info", "info"}, {"warning", "warning"}, {"error", "err"}};
  for (const auto& row : rows) {
    set_policy_log_level(row.policy);
    EXPECT_EQ(syslog_level(), row.syslog) << row.policy;
  }
}

TEST_F(LogTest, WritesToStandardError) {
  EXPECT_EQ(logged([] {
              log(LogEvent::applied, "a {} b", {{"RDTD_GROUP", "web"}});
              log(LogEvent::drift, "drift");
              log(LogEvent::reload_failed, "failed", Location{"p.toml", 3, 1});
              log(LogEvent::events_lost, "lost", Location{});
              log_assignment(12, "web", "p.toml:3");
            }),
            "rdtd: info: a {} b\nrdtd: warning: drift\nrdtd: error: failed\nrdtd: warning: lost\n");
  EXPECT_EQ(log_target(), "console");
}

TEST_F(LogTest, NamesAssignmentsAtLevelDebug) {
  EXPECT_EQ(logged([] {
              set_policy_log_level("debug");
              log_assignment(12, "web", "p.toml:3");
              log_assignment(13, "web", "");
            }),
            "rdtd: debug: process 12 put in group web, p.toml:3\n"
            "rdtd: debug: process 13 put in group web, manually\n");
}

// A program that the journal's reader starts may have JOURNAL_STREAM, but another standard error.
TEST_F(LogTest, TheJournalIsUsedIfStandardErrorIsOne) {
  ::setenv("JOURNAL_STREAM", "1:2", 1);
  EXPECT_EQ(logged([] {
              EXPECT_EQ(log_target(), "console");
              spdlog::info("text");
            }),
            "rdtd: info: text\n");
  EXPECT_EQ(logged([] {
              struct stat status{};
              ASSERT_EQ(::fstat(STDERR_FILENO, &status), 0);
              ::setenv(
                  "JOURNAL_STREAM",
                  (std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino)).c_str(), 1);
              EXPECT_EQ(log_target(), "journal");
              open_log();
              spdlog::debug("text");  // below the level: a real journal gets nothing
            }),
            "");
  ASSERT_EQ(spdlog::default_logger()->sinks().size(), 1U);
  EXPECT_EQ(spdlog::default_logger()->name(), "rdtd");
}

}  // namespace
}  // namespace rdtd
