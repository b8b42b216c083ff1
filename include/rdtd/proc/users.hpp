// The system's user database, asked by name.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace rdtd {

// Nothing where there is no such user, or no answer.
[[nodiscard]] std::optional<uid_t> find_user(const std::string& name);
[[nodiscard]] std::optional<gid_t> find_user_group(const std::string& name);

}  // namespace rdtd
