// The daemon's log: lines on standard error, with systemd's priority prefix where that is the journal.
#pragma once

#include <string>

namespace rdtd {

void open_log();
// "debug", "info", "warning" or "error".
void set_log_level(const std::string& level);

}  // namespace rdtd
