#include "rdtd/proc/users.hpp"

#include <grp.h>
#include <pwd.h>

#include <array>

namespace rdtd {

std::optional<uid_t> find_user(const std::string& name) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> buffer;
  if (::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr)
    return std::nullopt;
  return entry.pw_uid;
}

std::optional<gid_t> find_user_group(const std::string& name) {
  group entry{};
  group* found = nullptr;
  std::array<char, 65536> buffer;
  if (::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr)
    return std::nullopt;
  return entry.gr_gid;
}

}  // namespace rdtd
