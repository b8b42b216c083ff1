// Patterns of the names that container runtimes, Kubernetes and libvirt give.
#pragma once

#include <string_view>

#include "pattern_finding.hpp"

namespace rdtd {

// The problem with a pattern of `container`, `pod` or `vm`, if there is one.
[[nodiscard]] pattern::Check check_container(std::string_view text);
[[nodiscard]] pattern::Check check_pod(std::string_view text);
[[nodiscard]] pattern::Check check_vm(std::string_view text);

}  // namespace rdtd
