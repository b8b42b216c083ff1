// UserDatabase: the queries that the names of users in a policy require, as values, so that tests
// can replace the system's user database.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "rdtd/base/error.hpp"

namespace rdtd {

// Nothing if there is no such user or group; an error if the database does not answer.
struct UserDatabase {
  std::function<Result<std::optional<uid_t>>(const std::string&)> find_user;
  std::function<Result<std::optional<gid_t>>(const std::string&)> find_group;
};

}  // namespace rdtd
