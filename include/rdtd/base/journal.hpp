// Whether a program's standard error is the journal.
#pragma once

namespace rdtd {

// JOURNAL_STREAM names the journal's device and inode (systemd.exec(5)), and is inherited by
// programs whose standard error is something else.
[[nodiscard]] bool stderr_is_journal();

}  // namespace rdtd
