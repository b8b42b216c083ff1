// Signals that end a verb which has something to finish.
#pragma once

namespace rdtd {

// From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT only end what sleeps or waits, and interrupted()
// is true. One that is ignored, as SIGHUP under nohup, stays so.
void note_interruptions();
[[nodiscard]] bool interrupted();
// The exit status of what such a signal ended, 128 + SIGNAL as a shell's; else `status`.
[[nodiscard]] int status_after(int status);
// The end of a child ends what sleeps too.
void note_child_ends();

}  // namespace rdtd
