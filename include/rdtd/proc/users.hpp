// The system's user database, queried by name.
#pragma once

#include <grp.h>
#include <pwd.h>
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "rdtd/base/error.hpp"
#include "rdtd/model/user_database.hpp"

namespace rdtd {

namespace proc {

using UserQuery = int (*)(const char*, passwd*, char*, size_t, passwd**);
using GroupQuery = int (*)(const char*, group*, char*, size_t, group**);

// Nothing if there is no such user or group; an error if the database does not answer. The answer
// can take long: names may come from the network.
[[nodiscard]] Result<std::optional<uid_t>> find_user(const std::string& name,
                                                     UserQuery query = ::getpwnam_r);
[[nodiscard]] Result<std::optional<gid_t>> find_user_group(const std::string& name,
                                                           GroupQuery query = ::getgrnam_r);

// Both queries, to the database of this system. One that fails is the last that is made: each may
// take as long as the database's timeout.
[[nodiscard]] UserDatabase user_database();
// The same, asked by a thread of its own, name by name. Names that it has not come to within
// `max_wait` in all have no answer. It goes on nevertheless, nobody waits for it meanwhile, and
// the users that it finds within ten minutes are answers to the next question. Answers that took
// long are not asked for again within five seconds: one load may ask several times.
[[nodiscard]] UserDatabase with_deadline(UserDatabase database, std::chrono::milliseconds max_wait);

}  // namespace proc

}  // namespace rdtd
