// What programs whose standard error may be the journal share.
#pragma once

#include <cstddef>
#include <string>

namespace rdtd {

// JOURNAL_STREAM names the journal's device and inode (systemd.exec(5)), and is inherited by
// programs whose standard error is something else.
[[nodiscard]] bool stderr_is_journal();
// What is said of messages that the journal did not take: "3 messages are missing here: ...".
[[nodiscard]] std::string journal_loss(size_t messages);

}  // namespace rdtd
