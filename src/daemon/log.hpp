// The daemon's log: spdlog, into the journal where standard error is one, else onto standard error.
// Only the loop thread logs, and before there is one, the first thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "rdtd/base/located.hpp"
#include "rdtd/bus/log_control.hpp"

namespace rdtd {

// Events that an administrator may look for; each has a MESSAGE_ID and a text in
// systemd/rdtd.catalog.
enum class LogEvent {
  applied,
  reloaded,
  reload_failed,
  drift,
  kernel_refused,
  events_lost,
  out_of_closids,
  wrong_mount_options
};

// A journal field beside the message: RDTD_GROUP, RDTD_RULE, RDTD_PID, CONFIG_FILE, CONFIG_LINE.
struct LogField {
  std::string_view name;
  std::string value;
};

void open_log();
void log(LogEvent event, std::string_view text, std::initializer_list<LogField> fields = {});
// CONFIG_FILE and CONFIG_LINE of a place in a policy.
void log(LogEvent event, std::string_view text, const Location& where);
// One assignment, at debug level: a machine may see thousands a second.
void log_assignment(pid_t pid, const std::string& group, const std::string& rule);
[[nodiscard]] bool logs_assignments();

// As a policy names them: debug, info, warning, error.
void set_policy_log_level(const std::string& level);
// As syslog(3) does; false where there is no such level.
[[nodiscard]] bool set_syslog_level(const std::string& level);
[[nodiscard]] std::string syslog_level();
[[nodiscard]] std::string log_target();  // "journal" or "console"

class LogLevels final : public LogControl {
 public:
  // `changed` is called after each request for another level.
  explicit LogLevels(std::function<void()> changed) : changed_(std::move(changed)) {}
  std::string level() const override { return syslog_level(); }
  bool set_level(const std::string& level) override {
    const bool known = set_syslog_level(level);
    changed_();
    return known;
  }
  std::string target() const override { return log_target(); }
  // The level of the policy in force. One that does not change leaves the level that was set
  // meanwhile, as by `systemctl service-log-level`.
  void follow_policy(const std::string& level) {
    if (level == std::exchange(policy_level_, level)) return;
    set_policy_log_level(level);
    changed_();
  }

 private:
  std::function<void()> changed_;
  std::string policy_level_;
};

}  // namespace rdtd
