// Patterns of paths: of executables and of cgroups.
#pragma once

#include <string>
#include <string_view>

#include "pattern_finding.hpp"

namespace rdtd {

// The problem with a pattern of `exe` or `cgroup`, if there is one.
[[nodiscard]] pattern::Check check_exe(std::string_view text);
[[nodiscard]] pattern::Check check_cgroup(std::string_view text);

// "machine-qemu\x2d1\x2dweb.scope" of "machine-qemu-1-web.scope"; empty of what is no such scope,
// or is written so.
[[nodiscard]] std::string escaped_scope(std::string_view component);

}  // namespace rdtd
