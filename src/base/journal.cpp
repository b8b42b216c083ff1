#include "rdtd/base/journal.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <syslog.h>
#include <unistd.h>

#define SD_JOURNAL_SUPPRESS_LOCATION  // the journal's readers know a program by its messages, not
                                      // by its source files
#include <systemd/sd-journal.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// Where the journal cannot be reached there is nobody left to tell.
void send_to_journal(const JournalWriter::Message& fields) {
  std::vector<iovec> vectors;
  // sd_journal_sendv(3) only reads.
  for (const std::string& field : fields)
    vectors.push_back({const_cast<char*>(field.data()), field.size()});
  (void)sd_journal_sendv(vectors.data(), static_cast<int>(vectors.size()));
}

}  // namespace

bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status{};
  return stream != nullptr && ::fstat(STDERR_FILENO, &status) == 0 &&
         std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) == stream;
}

std::string journal_loss(size_t messages) {
  return counted(messages, "message") + (messages == 1 ? " is" : " are") +
         " missing here: the journal took none for a time";
}

JournalWriter::Message journal_message(std::string_view identifier, int priority,
                                       std::string_view text) {
  return {fmt::format("MESSAGE={}", text), fmt::format("PRIORITY={}", priority),
          fmt::format("SYSLOG_IDENTIFIER={}", identifier)};
}

std::unique_ptr<JournalWriter> open_journal(const char* thread, std::string_view identifier) {
  return std::make_unique<JournalWriter>(
      thread, send_to_journal, [identifier = std::string(identifier)](size_t lost) {
        return journal_message(identifier, LOG_WARNING, journal_loss(lost));
      });
}

}  // namespace rdtd
