// Ownership: the record of the control groups that rdtd made, each by its name and the inode of its
// directory: a name alone proves nothing, since another tool can remove a group and make one of the
// same name. The record is the file `groups` of a directory below /run. It outlives the daemon and
// ends with the boot, as the groups do.
//
// A name is recorded before the group is made, without an inode, and with it before anything is put
// in the group: no moment to be killed at leaves a group that nobody knows. The default group is
// recorded, as "default", while its schemata are rdtd's, and the I/O devices, as "I/O", while
// io_alloc is enabled by rdtd.
//
// Names and inodes say nothing about another mount of resctrl, whose inodes begin at the same
// number: the record also holds the time of `info` of the mount that it is about.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rdtd/base/directory.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd {

// The daemon's record of manual assignments, in the same directory.
inline constexpr const char* manual_record = "by_hand";

class Ownership {
 public:
  using Entries = std::map<std::string, std::optional<uint64_t>>;  // inode, if it is known

  // A record that does not exist is empty. Lines that cannot be understood are ignored.
  [[nodiscard]] static Result<Ownership> load(Directory directory);

  // Only one process may change the record and the groups. EWOULDBLOCK if another one has this
  // lock. It is held as long as this value lives.
  [[nodiscard]] Result<void> lock();

  // Whether the record is about this mount, as far as it says so.
  [[nodiscard]] bool is_of(const resctrl::Filesystem& filesystem) const;
  // To be called once, at the start. Forgets a record of another mount, and makes sure that this
  // one is known again. Prunes what an rdtd that was killed has left in the record: names of groups
  // that are gone or that others have made again, and names without an inode. A group of such a
  // name is rdtd's if it has no task and no CPU: rdtd puts none there before the inode is recorded.
  // Returns the others, which are another tool's.
  [[nodiscard]] std::vector<std::string> settle(const Snapshot& snapshot,
                                                resctrl::Filesystem& filesystem);
  // The groups of a snapshot that rdtd made: recorded, and still with the recorded inode. A group
  // that was recorded without an inode takes the present one, and a monitoring group that was
  // renamed is recorded under its new name.
  [[nodiscard]] std::set<std::string> owned(const Snapshot& snapshot);
  // The names in the record; whether they exist is another question.
  [[nodiscard]] std::set<std::string> names() const;
  // The same with their inodes.
  [[nodiscard]] const Entries& entries() const { return entries_; }

  // Records groups that are about to be made, the default group, or the I/O devices. An error
  // leaves the record as it was, and then nothing may be made. A record that cannot be written and
  // says all of this already is no error. A group of that name that is there, with its inode in
  // the record, keeps it: it is to be removed first.
  [[nodiscard]] Result<void> expect(std::span<const std::string> groups,
                                    const std::map<std::string, uint64_t>& inodes = {});
  // The same for a group that is made now, unless the file says so already.
  void expect_now(const std::string& group);
  // A group was made. Not written until `store`: until then the name alone identifies it.
  void made(const std::string& group, uint64_t inode);
  // The default group has what a policy leaves it, whether or not that had to be written.
  void own_default_group();
  // io_alloc is enabled by rdtd.
  void own_io();
  void forget(const std::string& group);
  // Whether the file says of the group what is known of it.
  [[nodiscard]] bool is_stored(const std::string& group) const;
  // Writes the record, if it changed. What is not written now is written by the next call.
  [[nodiscard]] Result<void> store();

 private:
  Ownership(Directory directory, Entries entries, std::optional<uint64_t> info_time)
      : directory_(std::move(directory)),
        entries_(std::move(entries)),
        written_(entries_),
        info_time_(info_time) {}
  void settle_mount(resctrl::Filesystem& filesystem);
  void follow_renames(const Snapshot& snapshot);

  Directory directory_;
  Entries entries_;                    // by directory; the inode, if it is known
  Entries written_;                    // in the file
  std::optional<uint64_t> info_time_;  // of the mount that the record is about, if that is known
  bool changed_ = false;
  UniqueFd lock_;
};

}  // namespace rdtd
