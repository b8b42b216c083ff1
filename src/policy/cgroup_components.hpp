// The components of a cgroup's path, as systemd makes them.
#pragma once

#include <string>
#include <string_view>

#include "pattern_finding.hpp"

namespace rdtd {

// The problem with the components of a path that begins with '/', if there is one.
[[nodiscard]] pattern::Check check_cgroup_components(std::string_view text);

// "batch.slice" of "batch-night.slice"; empty of a slice at the root.
[[nodiscard]] std::string parent_of_slice(std::string_view slice);

// "system-redis\x2dserver.slice" of "system-redis-server.slice": the slice of a template whose name
// has a '-'; empty of other slices.
[[nodiscard]] std::string slice_of_template(std::string_view slice);

// "/batch.slice/batch-night.slice" of "batch-night.slice".
[[nodiscard]] std::string path_of_slice(std::string_view slice);

}  // namespace rdtd
