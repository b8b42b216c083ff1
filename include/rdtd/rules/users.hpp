// Users: the part of the user database that the rules of a policy refer to, as values.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/policy/diagnostic.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// A name that is not in it matches no process.
struct Users {
  std::map<std::string, uid_t> users;
  std::map<std::string, gid_t> groups;
};

// Looks up each distinct name in the rules' `user` and `user_group` once, since the database may be
// slow. Adds a warning for each unknown name, at the first place that names it.
[[nodiscard]] Users look_up_users(
    const Policy& policy, const std::function<std::optional<uid_t>(const std::string&)>& find_user,
    const std::function<std::optional<gid_t>(const std::string&)>& find_user_group,
    std::vector<Diagnostic>& warnings);

}  // namespace rdtd
