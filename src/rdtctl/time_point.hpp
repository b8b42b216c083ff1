// Points in time on the command line, in the forms of systemd.time(7) that journalctl's users type.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace rdtd {

// "2026-11-26 08:30[:10]", "2026-11-26", "08:30", "now", "today", "yesterday", "-1h", "1h", "10min
// ago", "@1764144000": microseconds of CLOCK_REALTIME, local time. `now_usec`: the present. The
// error is the message's text.
[[nodiscard]] std::expected<uint64_t, std::string> parse_time(std::string_view text,
                                                              uint64_t now_usec);
// "2026-11-26 08:30:10", local time; "never" for 0.
[[nodiscard]] std::string time_text(uint64_t usec);
// Whether it is a time span with a unit, such as "1h".
[[nodiscard]] bool is_span(std::string_view text);
// Seconds: "60" of "1min", "0.5" of "500ms". Anything else as it is.
[[nodiscard]] std::string in_seconds(const std::string& word);
// "42 s", "3 min", "2 h 05 min"
[[nodiscard]] std::string span_text(uint64_t usec);

}  // namespace rdtd
