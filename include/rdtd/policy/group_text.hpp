// A group of a policy as TOML again, with some amounts of bandwidth changed: what a program writes
// into a lease that replaces a group of the files.
#pragma once

#include <map>
#include <string>

#include "rdtd/policy/policy.hpp"

namespace rdtd {

// [group.NAME] with override = true. `adopt` is left out: a lease cannot take over a group.
// `lowered`: amounts of `mb` for single domains, each a TOML value.
[[nodiscard]] std::string replacing_group_text(const Group& group,
                                               const std::map<DomainId, std::string>& lowered);

}  // namespace rdtd
