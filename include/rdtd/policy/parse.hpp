// From the text of policy files to a Policy; all errors are reported in one run.
#pragma once

#include <chrono>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/policy/diagnostic.hpp"
#include "rdtd/policy/policy.hpp"
#include "rdtd/policy/search.hpp"

namespace rdtd {

struct ParsedPolicy {
  Policy policy;                        // usable only if no diagnostic is an error
  std::vector<Diagnostic> diagnostics;  // sorted by place
};

// Reads the active files in the given order and reports the unreadable ones.
[[nodiscard]] ParsedPolicy parse_policy(std::span<const PolicyFile> files);

// The text of a lease by itself: a group that it amends has its amounts only.
[[nodiscard]] ParsedPolicy parse_lease(const PolicyFile& lease);

// "30s", "1min 30s", "2h"; a plain number is seconds (systemd.time(7)). At most 100 days. The error
// is the message's text.
[[nodiscard]] std::expected<std::chrono::microseconds, std::string> parse_duration(
    std::string_view text);

// Whether that is why.
[[nodiscard]] bool is_too_long(std::string_view error);

// How a span that parse_duration() refuses is written, if it is one number with a unit and within
// the limits: "1500ms" of "1.5s", "5s" of "5 S".
[[nodiscard]] std::optional<std::string> duration_meant(std::string_view text,
                                                        std::chrono::microseconds least,
                                                        std::chrono::microseconds most);

}  // namespace rdtd
