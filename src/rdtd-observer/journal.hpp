// Messages of rdtd-observer: to the journal with their fields where standard error is that, else to
// standard error.
#pragma once

#include <string>
#include <string_view>

namespace rdtd {

// To the journal only.
void log_debug(std::string_view text);
void log_info(std::string_view text);
void log_warning(std::string_view text);

// At the end of an episode; the id is in systemd/rdtd.catalog.
void log_episode(std::string_view text, const std::string& domain, const std::string& taker,
                 const std::string& sufferer);

// A step of the guard; likewise.
void log_guard_step(std::string_view text, const std::string& domain, const std::string& group);

}  // namespace rdtd
