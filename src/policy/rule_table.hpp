// [[rule]]: one table as a value.
#pragma once

#include "file_reader.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// Whether there is the group that it names is not checked.
[[nodiscard]] Rule read_rule(const FileReader& in, const toml::table& table);

}  // namespace rdtd
