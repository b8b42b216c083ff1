#include "journal.hpp"

#include <fmt/format.h>
#include <syslog.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "rdtd/base/journal.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr const char* identifier = "rdtd-observer";
// Made once each with `systemd-id128 new`; they never change.
constexpr const char* episode_id = "0e5b7f3ab1c94b5a9d0f6c4f1d2a7e83";
constexpr const char* guard_step_id = "e1a948243b994ca7ba9898355d84db78";

void send(int priority, std::string_view text, std::vector<std::string> fields) {
  const std::string shown = printable_lines(text);
  if (!stderr_is_journal()) {
    (void)std::fprintf(stderr, "%s: %s\n", identifier, shown.c_str());
    return;
  }
  JournalWriter::Message message = journal_message(identifier, priority, shown);
  std::ranges::move(fields, std::back_inserter(message));
  static const std::unique_ptr<JournalWriter> writer = open_journal("observer-log", identifier);
  writer->write(std::move(message));
}

}  // namespace

void log_debug(std::string_view text) {
  if (stderr_is_journal()) send(LOG_DEBUG, text, {});
}

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
