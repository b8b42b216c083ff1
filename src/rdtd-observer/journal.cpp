#include "journal.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <syslog.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include <cstdio>
#include <vector>

#include "rdtd/base/journal.hpp"
#include "rdtd/base/journal_writer.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// Made once each with `systemd-id128 new`; they never change.
constexpr const char* episode_id = "0e5b7f3ab1c94b5a9d0f6c4f1d2a7e83";
constexpr const char* guard_step_id = "e1a948243b994ca7ba9898355d84db78";

// Where the journal cannot be reached there is nobody left to tell.
void send_to_journal(const JournalWriter::Message& fields) {
  std::vector<iovec> vectors;
  // sd_journal_sendv(3) only reads.
  for (const std::string& field : fields)
    vectors.push_back({const_cast<char*>(field.data()), field.size()});
  (void)sd_journal_sendv(vectors.data(), static_cast<int>(vectors.size()));
}

void send(int priority, std::string_view text, std::vector<std::string> fields) {
  const std::string shown = printable_lines(text);
  if (!stderr_is_journal()) {
    (void)std::fprintf(stderr, "rdtd-observer: %s\n", shown.c_str());
    return;
  }
  fields.push_back("MESSAGE=" + shown);
  fields.push_back(fmt::format("PRIORITY={}", priority));
  fields.emplace_back("SYSLOG_IDENTIFIER=rdtd-observer");
  static JournalWriter writer("observer-log", send_to_journal, [](size_t lost) {
    return JournalWriter::Message{"MESSAGE=" + journal_loss(lost),
                                  fmt::format("PRIORITY={}", LOG_WARNING),
                                  "SYSLOG_IDENTIFIER=rdtd-observer"};
  });
  writer.write(std::move(fields));
}

}  // namespace

void log_info(std::string_view text) { send(LOG_INFO, text, {}); }

void log_warning(std::string_view text) { send(LOG_WARNING, text, {}); }

void log_episode(std::string_view text, const std::string& domain, const std::string& taker,
                 const std::string& sufferer) {
  send(LOG_NOTICE, text,
       {fmt::format("MESSAGE_ID={}", episode_id), "RDTD_DOMAIN=" + domain, "RDTD_TAKER=" + taker,
        "RDTD_SUFFERER=" + sufferer});
}

void log_guard_step(std::string_view text, const std::string& domain, const std::string& group) {
  send(LOG_NOTICE, text,
       {fmt::format("MESSAGE_ID={}", guard_step_id), "RDTD_DOMAIN=" + domain,
        "RDTD_GROUP=" + group});
}

}  // namespace rdtd
