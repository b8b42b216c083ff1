// The parts that programs share whose standard error may be the journal.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "rdtd/base/journal_writer.hpp"

namespace rdtd {

// JOURNAL_STREAM names the journal's device and inode (systemd.exec(5)), and is inherited by
// programs whose standard error is something else.
[[nodiscard]] bool stderr_is_journal();
// The text about messages that the journal did not take: "3 messages are missing here: ...".
[[nodiscard]] std::string journal_loss(size_t messages);
// `identifier` is that of syslog; `priority` as in syslog(3). More fields may be added.
[[nodiscard]] JournalWriter::Message journal_message(std::string_view identifier, int priority,
                                                     std::string_view text);
// `thread` is the name of the thread that sends.
[[nodiscard]] std::unique_ptr<JournalWriter> open_journal(const char* thread,
                                                          std::string_view identifier);

}  // namespace rdtd
