// The policy file that `rdtctl assign --unit` writes: one for each unit, with one rule.
#pragma once

#include <string>
#include <string_view>

namespace rdtd {

// "00-assign-redis.service.toml": files are sorted by name and the first rule that matches decides,
// so it precedes ordinary files. All bytes that are not part of an ordinary unit name are escaped
// as systemd-escape(1) does.
[[nodiscard]] std::string unit_rule_file(std::string_view unit);

[[nodiscard]] std::string unit_rule_text(const std::string& group, const std::string& unit);

}  // namespace rdtd
