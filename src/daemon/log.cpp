#include "log.hpp"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

namespace rdtd {

namespace {

// sd-daemon(3): "<3>" before each line, since a message of several lines arrives as several entries.
class JournalFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const char* prefix = SD_INFO;
    if (message.level <= spdlog::level::debug) prefix = SD_DEBUG;
    if (message.level == spdlog::level::warn) prefix = SD_WARNING;
    if (message.level >= spdlog::level::err) prefix = SD_ERR;
    bool line_start = true;
    for (const char c : message.payload) {
      if (line_start) out.append(std::string_view(prefix));
      out.push_back(c);
      line_start = c == '\n';
    }
    out.push_back('\n');
  }
  [[nodiscard]] std::unique_ptr<formatter> clone() const override { return std::make_unique<JournalFormatter>(); }
};

// Whether standard error is the journal: JOURNAL_STREAM names its device and inode (systemd.exec(5)), and is inherited
// by programs whose standard error is something else.
bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status{};
  return stream != nullptr && ::fstat(STDERR_FILENO, &status) == 0 && fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

}  // namespace

void open_log() {
  auto logger = std::make_shared<spdlog::logger>("rdtd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (stderr_is_journal())
    logger->set_formatter(std::make_unique<JournalFormatter>());
  else
    logger->set_pattern("rdtd: %l: %v");
  spdlog::set_default_logger(std::move(logger));
}

void set_log_level(const std::string& level) { spdlog::set_level(spdlog::level::from_str(level)); }

}  // namespace rdtd
