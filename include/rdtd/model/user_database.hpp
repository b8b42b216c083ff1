// UserDatabase: the question that the names of users in a policy require, as a value, so that tests
// can replace the system's user database.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/base/error.hpp"

namespace rdtd {

struct UserName {
  enum class Kind { user, user_group };
  Kind kind;
  std::string name;
  auto operator<=>(const UserName&) const = default;
};

// Its uid or gid. Nothing if there is no such user or group; an error if the database does not
// answer.
using UserAnswer = Result<std::optional<uint32_t>>;

// The answers to all names, in their order.
using UserDatabase = std::function<std::vector<UserAnswer>(const std::vector<UserName>&)>;

}  // namespace rdtd
