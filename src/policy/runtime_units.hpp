// Names of systemd's units that container runtimes, kubelets and user managers make.
#pragma once

#include <string>
#include <string_view>

#include "pattern_finding.hpp"

namespace rdtd {

// The problem with a pattern in which a component is the name of such a unit, if there is one.
// `name`: the component, without wildcards; `text`: the whole pattern.
[[nodiscard]] pattern::Check check_runtime_unit(std::string_view text, std::string_view name);

// Of a slice of guaranteed pods, which nobody makes.
[[nodiscard]] pattern::Finding no_guaranteed_slice(std::string_view text, std::string hint);

// "redis" of "docker-redis.scope", as the runtimes name the scopes of containers; else "".
[[nodiscard]] std::string_view id_in_scope(std::string_view name);

// Of containers' IDs.
[[nodiscard]] bool is_hex(std::string_view text);
[[nodiscard]] bool is_whole_id(std::string_view id);
// For what should have a whole ID: `pattern` has a '*' behind these digits, if they are enough of
// it; else it is the name of a container.
[[nodiscard]] std::string hint_for_part_of_id(std::string_view id, std::string_view pattern);

}  // namespace rdtd
