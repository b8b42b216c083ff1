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

// Why no process can be in the unit, as check says it of the rule, and what was meant, behind
// `action` ("assign"); empty if one can.
[[nodiscard]] std::string why_unit_never(const std::string& unit, std::string_view action);

}  // namespace rdtd
