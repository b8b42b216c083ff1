// Ownership: the record of the control groups that rdtd made, a name a line in the file `groups` of
// its folder under /run. It outlives the daemon and goes with the boot, as the groups do. A name
// stands in it before the group is made, so that no moment to be killed at leaves a group that
// nobody knows. The default group stands in it, as "default", from the first time that its schemata
// are written.
#pragma once

#include <set>
#include <string>

#include "rdtd/base/directory.hpp"

namespace rdtd {

// Beside it, the daemon's record of what was put in those groups by hand
// (rdtd/daemon/hand_assignments.hpp).
inline constexpr const char* hand_record = "by_hand";

class Ownership {
 public:
  // A record that is not there is an empty one.
  [[nodiscard]] static Result<Ownership> load(Directory directory);

  [[nodiscard]] const std::set<std::string>& groups() const { return groups_; }
  // Only one process may change the record and the groups. EWOULDBLOCK where another has this lock;
  // it is held as long as this lives.
  [[nodiscard]] Result<void> lock();
  [[nodiscard]] Result<void> add(const std::string& group);
  [[nodiscard]] Result<void> remove(const std::string& group);

 private:
  Ownership(Directory directory, std::set<std::string> groups)
      : directory_(std::move(directory)), groups_(std::move(groups)) {}
  [[nodiscard]] Result<void> store() const;

  Directory directory_;
  std::set<std::string> groups_;
  UniqueFd lock_;
};

}  // namespace rdtd
