#include "rdtd/proc/users.hpp"

#include <cerrno>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "rdtd/proc/helper.hpp"

namespace rdtd::proc {

namespace {

// The members of a group are part of its entry: some have thousands.
constexpr size_t max_buffer = 16 << 20;

// Looks up a name. `Entry` is passwd or group, `id` its number.
template <class Entry, class Query, class Id>
Result<std::optional<Id>> find(const char* kind, const std::string& name, Query query,
                               Id Entry::* id) {
  Entry entry{};
  Entry* found = nullptr;
  std::vector<char> buffer(4096);
  int code = 0;
  while (true) {
    code = query(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (code == ERANGE && buffer.size() < max_buffer)
      buffer.resize(buffer.size() * 4);
    else if (code != EINTR)
      break;
  }
  if (code == 0 && found != nullptr) return entry.*id;
  // Each of these means "not found" in some database: getpwnam(3).
  if (code == 0 || code == ENOENT || code == ESRCH || code == EBADF || code == EPERM)
    return std::nullopt;
  return std::unexpected(Error{"look up", std::string(kind) + " '" + name + "'", code, {}});
}

// The answer that a helper finds; the helper may outlive the question.
template <class Id>
Result<std::optional<Id>> ask(
    Helper& helper, const std::function<Result<std::optional<Id>>(const std::string&)>& query,
    const char* kind, const std::string& name) {
  const auto answer = std::make_shared<Result<std::optional<Id>>>();
  if (helper.run([answer, query, name] { *answer = query(name); })) return std::move(*answer);
  return std::unexpected(Error{"look up", std::string(kind) + " '" + name + "'", 0,
                               "the user database does not answer"});
}

}  // namespace

Result<std::optional<uid_t>> find_user(const std::string& name, UserQuery query) {
  return find("user", name, query, &passwd::pw_uid);
}

Result<std::optional<gid_t>> find_user_group(const std::string& name, GroupQuery query) {
  return find("user group", name, query, &group::gr_gid);
}

UserDatabase user_database() {
  return {[](const std::string& name) { return find_user(name); },
          [](const std::string& name) { return find_user_group(name); }};
}

UserDatabase with_deadline(UserDatabase database, std::chrono::milliseconds max_wait) {
  const auto helper = std::make_shared<Helper>("rdtd-users", max_wait);
  return {[helper, query = std::move(database.find_user)](const std::string& name) {
            return ask<uid_t>(*helper, query, "user", name);
          },
          [helper, query = std::move(database.find_group)](const std::string& name) {
            return ask<gid_t>(*helper, query, "user group", name);
          }};
}

}  // namespace rdtd::proc
