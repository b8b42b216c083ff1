// Filesystem: the operations that rdtd performs on a mounted resctrl filesystem, and nothing else.
// resctrl::Kernel carries them out on a real mount or on a copy of one; the tests have a model
// kernel made of plain values. Paths are relative to the root of resctrl: "redis/schemata",
// "schemata" for the root's own, "" for the root directory. Source:
// Documentation/filesystems/resctrl.rst.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/base/error.hpp"

namespace rdtd::resctrl {

// Whether the errno of a failed operation says that there is no such file or group: ENOENT, and
// ENODEV of a group that was removed meanwhile. Any other error is no answer.
[[nodiscard]] inline bool is_absent(int error) { return error == ENOENT || error == ENODEV; }
[[nodiscard]] inline bool is_absent(const Error& error) { return is_absent(error.code); }

// A group's open `tasks` file. It stays that of this very group: once the group is removed, writes
// fail, even if another group of that name exists. Any thread may call it.
class Tasks {
 public:
  Tasks() = default;
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;
  virtual ~Tasks() = default;
  // Moves one thread into the group. Returns 0 or errno: ESRCH if the thread has ended, ENODEV if
  // the group was removed, ENOENT if that happened while the write waited for the kernel's lock
  // (rdtgroup_tasks_write in fs/resctrl/rdtgroup.c).
  [[nodiscard]] virtual int add(pid_t tid) const = 0;
};

// The exclusive flock(2) of the root directory, the convention among tools that change resctrl. It
// is held as long as this value lives.
class Lock {
 public:
  Lock() = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  virtual ~Lock() = default;
};

class Filesystem {
 public:
  struct Entry {
    std::string name;
    bool is_directory = false;
    uint64_t inode = 0;  // a group that is removed and made again has another one
    bool operator==(const Entry&) const = default;
  };

  Filesystem() = default;
  Filesystem(const Filesystem&) = delete;
  Filesystem& operator=(const Filesystem&) = delete;
  virtual ~Filesystem() = default;

  // mkdir(2). ENOSPC: no CLOSID or RMID is free; EBUSY: all free RMIDs are in limbo; EEXIST.
  [[nodiscard]] virtual Result<void> make(const std::string& directory) = 0;
  // rmdir(2). ENOENT: there is none.
  [[nodiscard]] virtual Result<void> remove(const std::string& directory) = 0;
  [[nodiscard]] virtual Result<std::string> read(const std::string& file) const = 0;
  // One write(2) of the whole text. The kernel carries it out as a whole or refuses it.
  [[nodiscard]] virtual Result<void> write(const std::string& file, std::string_view text) = 0;
  // Without "." and "..", sorted by name.
  [[nodiscard]] virtual Result<std::vector<Entry>> list(const std::string& directory) const = 0;
  // Never waits. EWOULDBLOCK if another process holds a lock.
  [[nodiscard]] virtual Result<std::unique_ptr<Lock>> lock() = 0;
  // Opens the `tasks` file of a group, "" for the root, for writing.
  [[nodiscard]] virtual Result<std::unique_ptr<Tasks>> open_tasks(const std::string& group) = 0;
  // When `info` was modified, in nanoseconds since 1970. Each mount has an `info` of its own, and
  // nothing is made in it later. The kernel gives an inode that it had to forget another time, but
  // keeps one that was set (kernfs_setattr in fs/kernfs/inode.c).
  [[nodiscard]] virtual Result<uint64_t> info_time() const = 0;
  [[nodiscard]] virtual Result<void> set_info_time(uint64_t nanoseconds) = 0;
  // The path of the root, for messages.
  [[nodiscard]] virtual const std::string& path() const = 0;
};

}  // namespace rdtd::resctrl
