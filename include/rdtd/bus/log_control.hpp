// LogControl: org.freedesktop.LogControl1 in values, as the daemon's log implements it.
#pragma once

#include <string>

namespace rdtd {

class LogControl {
 public:
  LogControl() = default;
  LogControl(const LogControl&) = delete;
  LogControl& operator=(const LogControl&) = delete;
  virtual ~LogControl() = default;

  // Levels have the names of syslog(3) without "LOG_", in lower case: "debug". False if there is no
  // such level.
  [[nodiscard]] virtual std::string level() const = 0;
  [[nodiscard]] virtual bool set_level(const std::string& level) = 0;
  [[nodiscard]] virtual std::string target() const = 0;  // "journal" or "console"
};

}  // namespace rdtd
