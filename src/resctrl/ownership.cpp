#include "rdtd/resctrl/ownership.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd {

namespace {

constexpr const char* record = "groups";
constexpr const char* lock_file = "lock";
constexpr std::string_view mount_line = "this mount ";

// The label of the I/O devices is also that of a monitoring group 'O' in a group 'I'; no group can
// have the name of their directory.
std::string name_in_record(const std::string& group) {
  return group == io_group ? group : group_label(group);
}

}  // namespace

// A line each: NAME, then INODE if it is known. Before them "this mount TIME": groups of rdtd have
// no blanks in their names.
Result<Ownership> Ownership::load(Directory directory) {
  Entries entries;
  std::optional<uint64_t> info_time;
  const auto text = directory.read(record);
  if (!text && text.error().code != ENOENT) return std::unexpected(text.error());
  if (text)
    for (const std::string_view line : split(*text, '\n')) {
      const auto words = split(line, ' ');
      if (words.size() == 3 && line.starts_with(mount_line))
        info_time = parse_unsigned<uint64_t>(words[2]);
      const auto inode = words.size() == 2 ? parse_unsigned<uint64_t>(words[1]) : std::nullopt;
      if (words[0].empty() || words.size() > 2 || (words.size() == 2 && !inode)) continue;
      const std::string group = group_directory(words[0]);
      if (name_in_record(group) == words[0]) entries[group] = inode;
    }
  return Ownership(std::move(directory), std::move(entries), info_time);
}

Result<void> Ownership::lock() {
  // Any user who may read a file may lock it: only root may read this one.
  auto file = directory_.open_file(lock_file, O_RDWR | O_CREAT, 0600);
  if (!file && file.error().code == EROFS)
    // If there is none either, the reason is that it cannot be made.
    if (auto readable = directory_.open_file(lock_file, O_RDONLY)) file = std::move(readable);
  if (!file) return std::unexpected(file.error());
  if (::flock(file->get(), LOCK_EX | LOCK_NB) < 0) {
    if (errno == EWOULDBLOCK)
      return std::unexpected(
          Error{"lock", directory_.path_of(lock_file), errno, "another rdtd is running"});
    return errno_error("lock", directory_.path_of(lock_file));
  }
  lock_ = std::move(*file);
  return {};
}

namespace {

// Nobody has put anything in it. What cannot be read may be another tool's.
bool is_unused(const resctrl::Filesystem& filesystem, const std::string& group) {
  return std::ranges::all_of(std::array{"tasks", "cpus_list"}, [&](const char* file) {
    const auto text = filesystem.read(resctrl::file_of(group, file));
    return text && trim(*text).empty();
  });
}

}  // namespace

// A time that cannot be read now does not make all groups those of others.
bool Ownership::is_of(const resctrl::Filesystem& filesystem) const {
  if (!info_time_) return true;
  const auto now = filesystem.info_time();
  return !now || *now == *info_time_;
}

void Ownership::settle_mount(resctrl::Filesystem& filesystem) {
  if (!is_of(filesystem)) {
    entries_.clear();
    info_time_.reset();
    changed_ = true;
  }
  if (info_time_) return;
  const auto now = filesystem.info_time();
  if (!now || !filesystem.set_info_time(*now)) return;
  info_time_ = *now;
  changed_ = true;
}

// Anybody may rename a monitoring group into another control group. It stays rdtd's, so that its
// RMID comes back.
void Ownership::follow_renames(const Snapshot& snapshot) {
  std::map<uint64_t, std::string> missing;
  for (const auto& [group, inode] : entries_)
    if (inode && is_mon_group(group) && !snapshot.is_unlisted(group)) {
      const auto now = snapshot.inodes.find(group);
      if (now == snapshot.inodes.end() || now->second != *inode) missing.emplace(*inode, group);
    }
  if (missing.empty()) return;
  std::map<std::string, uint64_t> found;
  for (const std::string& group : snapshot.mon_groups) {
    const auto now = snapshot.inodes.find(group);
    if (now == snapshot.inodes.end()) continue;
    const auto renamed = missing.find(now->second);
    if (renamed == missing.end()) continue;
    // Before any is recorded: one may have the name that another had.
    forget(renamed->second);
    found.emplace(group, now->second);
  }
  for (const auto& [group, inode] : found) made(group, inode);
}

std::vector<std::string> Ownership::settle(const Snapshot& snapshot,
                                           resctrl::Filesystem& filesystem) {
  settle_mount(filesystem);
  follow_renames(snapshot);
  std::vector<std::string> left;
  for (const auto& [group, inode] : Entries(entries_)) {
    const auto now = snapshot.inodes.find(group);
    const bool exists = now != snapshot.inodes.end();
    if (group == root_group || group == io_group || (exists && inode == now->second)) continue;
    // A name alone cannot be settled later: meanwhile another tool may make a group of that name.
    if (!exists && inode && snapshot.is_unlisted(group)) continue;
    const bool unknown = exists && !inode;
    if (unknown && is_unused(filesystem, group)) {
      made(group, now->second);
      continue;
    }
    if (unknown) left.push_back(group);
    forget(group);
  }
  (void)store();
  return left;
}

std::set<std::string> Ownership::owned(const Snapshot& snapshot) {
  std::set<std::string> out;
  follow_renames(snapshot);
  // If another tool disabled io_alloc, the program that enables it again owns it.
  if (snapshot.io.empty()) forget(std::string(io_group));
  for (auto& [group, inode] : entries_) {
    if (group == root_group || group == io_group) {
      out.insert(group);
      continue;
    }
    const auto now = snapshot.inodes.find(group);
    if (now == snapshot.inodes.end()) continue;
    if (!inode) made(group, now->second);
    if (inode == now->second) out.insert(group);
  }
  return out;
}

std::set<std::string> Ownership::names() const {
  std::set<std::string> out;
  for (const auto& [group, inode] : entries_) out.insert(group);
  return out;
}

Result<void> Ownership::expect(std::span<const std::string> groups,
                               const std::map<std::string, uint64_t>& inodes) {
  const Entries before = entries_;
  for (const std::string& group : groups) {
    const auto known = entries_.find(group);
    if (group == root_group && known != entries_.end()) continue;
    changed_ = true;
    const auto now = inodes.find(group);
    if (known != entries_.end() && now != inodes.end() && known->second == now->second) continue;
    // A group of that name is about to be made, so an inode from an earlier one is out of date.
    entries_[group] = std::nullopt;
  }
  // Of these two, the name is all there is to record.
  const auto is_written = [&](const std::string& group) {
    return (group == root_group || group == io_group) && written_.contains(group);
  };
  auto stored = store();
  if (stored || std::ranges::all_of(groups, is_written)) return {};
  entries_ = before;
  return stored;
}

void Ownership::expect_now(const std::string& group) {
  const auto written = written_.find(group);
  if (written != written_.end() && !written->second) return;
  (void)expect(std::array{group});
}

void Ownership::made(const std::string& group, uint64_t inode) {
  entries_[group] = inode;
  changed_ = true;
}

void Ownership::own_default_group() {
  if (entries_.try_emplace(std::string(root_group)).second) changed_ = true;
}

void Ownership::own_io() {
  if (entries_.try_emplace(std::string(io_group)).second) changed_ = true;
}

void Ownership::forget(const std::string& group) {
  if (entries_.erase(group) > 0) changed_ = true;
}

bool Ownership::is_stored(const std::string& group) const {
  const auto known = entries_.find(group), written = written_.find(group);
  return known == entries_.end() ? written == written_.end()
                                 : written != written_.end() && written->second == known->second;
}

namespace {

// Somebody removed the directory and made it again.
bool is_replaced(const Directory& directory) {
  struct stat opened{}, now{};
  return ::fstat(directory.fd(), &opened) == 0 && ::stat(directory.path().c_str(), &now) == 0 &&
         (opened.st_dev != now.st_dev || opened.st_ino != now.st_ino);
}

// The file is not as it was written. One that cannot be read is taken to be.
bool is_lost(const Directory& directory, const std::string& written) {
  const auto text = directory.read(record);
  return text ? *text != written : text.error().code == ENOENT && !written.empty();
}

}  // namespace

// Without the record, the next start would take every group for another tool's. Only who keeps the
// record follows: a path below a directory of others may lead anywhere by now.
Result<void> Ownership::store() {
  if (lock_ && is_replaced(directory_)) {
    auto opened = Directory::open(directory_.path());
    if (!opened) return std::unexpected(opened.error());
    std::swap(directory_, *opened);
    // Nobody sees a lock in the old one.
    if (auto locked = lock(); !locked) {
      std::swap(directory_, *opened);
      return locked;
    }
  }
  std::string text;
  if (info_time_) text += fmt::format("{}{}\n", mount_line, *info_time_);
  for (const auto& [group, inode] : entries_)
    text += inode ? fmt::format("{} {}\n", name_in_record(group), *inode)
                  : fmt::format("{}\n", name_in_record(group));
  if (!changed_ && !is_lost(directory_, text)) return {};
  auto stored = directory_.replace(record, text);
  if (!stored) return stored;
  changed_ = false;
  written_ = entries_;
  return {};
}

}  // namespace rdtd
