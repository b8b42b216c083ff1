#include "rdtd/resctrl/ownership.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd {

namespace {

constexpr const char* record = "groups";
constexpr const char* lock_file = "lock";

}  // namespace

Result<Ownership> Ownership::load(Directory directory) {
  std::set<std::string> groups;
  const auto text = directory.read(record);
  if (!text && text.error().code != ENOENT) return std::unexpected(text.error());
  if (text)
    for (const std::string_view line : split(*text, '\n'))
      if (!line.empty()) groups.insert(group_directory(line));
  return Ownership(std::move(directory), std::move(groups));
}

Result<void> Ownership::lock() {
  // Whoever may read a file may lock it.
  auto file = directory_.open_file(lock_file, O_RDWR | O_CREAT, 0600);
  if (!file) return std::unexpected(file.error());
  if (::flock(file->get(), LOCK_EX | LOCK_NB) < 0) {
    if (errno == EWOULDBLOCK)
      return std::unexpected(
          Error{"lock", directory_.path_of(lock_file), errno, "another rdtd runs"});
    return errno_error("lock", directory_.path_of(lock_file));
  }
  lock_ = std::move(*file);
  return {};
}

Result<void> Ownership::add(const std::string& group) {
  if (!groups_.insert(group).second) return {};
  auto stored = store();
  if (!stored) groups_.erase(group);
  return stored;
}

Result<void> Ownership::remove(const std::string& group) {
  if (groups_.erase(group) == 0) return {};
  auto stored = store();
  if (!stored) groups_.insert(group);
  return stored;
}

Result<void> Ownership::store() const {
  std::string text;
  for (const std::string& group : groups_) text += group_label(group) + "\n";
  return directory_.replace(record, text);
}

}  // namespace rdtd
