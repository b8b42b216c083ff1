// Users: the part of the user database that the rules of a policy refer to, as values.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "rdtd/model/user_database.hpp"
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

// Looks up each distinct name in the rules' `user` and `user_group` once, all in one question,
// since the database may be slow. Adds a warning for each unknown name, at the first place that
// names it. Names without an answer keep the numbers that they have in `before`.
[[nodiscard]] Users look_up_users(const Policy& policy, const UserDatabase& database,
                                  const Users& before, std::vector<Diagnostic>& warnings);

}  // namespace rdtd
