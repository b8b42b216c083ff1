#include "log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <syslog.h>

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "rdtd/base/journal.hpp"

namespace rdtd {

namespace {

constexpr const char* identifier = "rdtd";

struct Kind {
  const char* message_id;
  spdlog::level::level_enum level;
};

// In the order of LogEvent. Made once with `systemd-id128 new`; they never change.
constexpr std::array kinds = {
    Kind{"182ffdfcc20c4f2a89c84c7d36ca7c7f", spdlog::level::info},
    Kind{"bdb75df7ba7f45ce8e45e5c8121d4383", spdlog::level::info},
    Kind{"4cab0b8b7b19414bbb4d1a6f41f992c8", spdlog::level::err},
    Kind{"1a5031bbdaf24b7c83e906f4fa967386", spdlog::level::warn},
    Kind{"fb652529994e4df5885ca8ad6316558e", spdlog::level::err},
    Kind{"000711698af84df08dcb511a07e31561", spdlog::level::warn},
    Kind{"718c74076fb2485f823f47b69e6fdad1", spdlog::level::err},
    Kind{"cd1cc069b22d4b749097a61dc7ddbf38", spdlog::level::err},
};

// The journal fields of the message that is being logged.
std::vector<std::string> fields_of_message;

class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    int priority = LOG_INFO;
    if (message.level <= spdlog::level::debug) priority = LOG_DEBUG;
    if (message.level == spdlog::level::warn) priority = LOG_WARNING;
    if (message.level == spdlog::level::err) priority = LOG_ERR;
    if (message.level == spdlog::level::critical) priority = LOG_CRIT;
    JournalWriter::Message fields = journal_message(
        identifier, priority, std::string_view(message.payload.data(), message.payload.size()));
    fields.insert(fields.end(), fields_of_message.begin(), fields_of_message.end());
    writer_->write(std::move(fields));
  }
  void flush_() override {}

 private:
  std::unique_ptr<JournalWriter> writer_ = open_journal("rdtd-journal", identifier);
};

struct LevelName {
  const char* syslog;
  spdlog::level::level_enum level;
};

// spdlog has fewer levels than syslog: the first name of each is the one that is shown.
constexpr std::array level_names = {
    LevelName{"debug", spdlog::level::debug},    LevelName{"info", spdlog::level::info},
    LevelName{"notice", spdlog::level::info},    LevelName{"warning", spdlog::level::warn},
    LevelName{"err", spdlog::level::err},        LevelName{"crit", spdlog::level::critical},
    LevelName{"alert", spdlog::level::critical}, LevelName{"emerg", spdlog::level::critical}};

}  // namespace

void open_log() {
  if (stderr_is_journal()) {
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("rdtd", std::make_shared<JournalSink>()));
  } else {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "rdtd", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
    spdlog::set_pattern("rdtd: %l: %v");
  }
}

void log(LogEvent event, std::string_view text, std::initializer_list<LogField> fields) {
  const Kind& kind = kinds.at(static_cast<size_t>(event));
  fields_of_message = {fmt::format("MESSAGE_ID={}", kind.message_id)};
  for (const LogField& field : fields)
    fields_of_message.push_back(fmt::format("{}={}", field.name, field.value));
  spdlog::log(kind.level, "{}", text);
  fields_of_message.clear();
}

void log(LogEvent event, std::string_view text, const Location& where) {
  if (where.file.empty()) return log(event, text);
  log(event, text,
      {{"CONFIG_FILE", where.file.text()}, {"CONFIG_LINE", std::to_string(where.line)}});
}

void log_assignment(pid_t pid, const std::string& group, const std::string& rule) {
  fields_of_message = {fmt::format("RDTD_PID={}", pid), fmt::format("RDTD_GROUP={}", group),
                       fmt::format("RDTD_RULE={}", rule)};
  spdlog::debug("process {} put in group {}{}", pid, group,
                rule.empty() ? ", manually" : fmt::format(", {}", rule));
  fields_of_message.clear();
}

bool logs_assignments() { return spdlog::should_log(spdlog::level::debug); }

void set_policy_log_level(const std::string& level) {
  spdlog::set_level(spdlog::level::from_str(level));
}

bool set_syslog_level(const std::string& level) {
  for (const LevelName& name : level_names)
    if (level == name.syslog) {
      spdlog::set_level(name.level);
      return true;
    }
  return false;
}

std::string syslog_level() {
  for (const LevelName& name : level_names)
    if (spdlog::get_level() == name.level) return name.syslog;
  return spdlog::get_level() < spdlog::level::debug ? "debug" : "emerg";
}

std::string log_target() { return stderr_is_journal() ? "journal" : "console"; }

}  // namespace rdtd
