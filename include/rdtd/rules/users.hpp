// Users: the part of the user database that the rules of a policy refer to, as values.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/policy/diagnostic.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// A name that is not in it matches no process.
struct Users {
  std::map<std::string, uid_t> users;
  std::map<std::string, gid_t> groups;
  bool unanswered = false;  // the database did not answer for some names
  bool operator==(const Users&) const = default;
};

// Nothing if there is no such user or group; an error if the database does not answer.
struct UserDatabase {
  std::function<Result<std::optional<uid_t>>(const std::string&)> find_user;
  std::function<Result<std::optional<gid_t>>(const std::string&)> find_group;
};

// Looks up each distinct name in the rules' `user` and `user_group` once, since the database may be
// slow. Adds a warning for each unknown name, at the first place that names it. Once the database
// does not answer, it is not asked any more, and names keep what they were in `before`.
[[nodiscard]] Users look_up_users(const Policy& policy, const UserDatabase& database,
                                  const Users& before, std::vector<Diagnostic>& warnings);

}  // namespace rdtd
