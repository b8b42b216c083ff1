// RefusedParts: the groups and pseudo-locked regions that the kernel refused at a load, the I/O
// devices if it refused them, and of the default group its part of the policy. A load that takes
// what the kernel takes goes without them, and asks for each again after pauses that grow. They go
// by their directories.
#pragma once

#include <map>
#include <string>

#include "rdtd/daemon/growing_pause.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd {

class RefusedParts {
 public:
  using Time = GrowingPause::Time;

  // The kernel refuses it now. One that existed before is left as it is. With `once_more`, the
  // first refusal leaves nothing out yet. False if a plan without it cannot be had either.
  [[nodiscard]] bool add(const std::string& directory, std::string why, bool existed, Time now,
                         bool once_more);
  // Whether it is left out.
  [[nodiscard]] bool contains(const std::string& directory) const;
  // Has a plan leave them out, all but one whose pause is over. One at a time: what one that is
  // refused again makes undone may be refused too then, as long as its RMID is in limbo.
  void leave_out(Snapshot& snapshot, Time now = Time::min()) const;
  // Has nothing be done about those that are left as they are.
  void leave_alone(Snapshot& snapshot) const;
  // A plan that left these out is in force.
  void keep_only(const std::map<std::string, std::string>& left_out);

 private:
  struct Part {
    std::string why;
    GrowingPause pause;  // not begun: was refused once, and is not left out
    bool stays = false;
  };
  std::map<std::string, Part> parts_;
};

}  // namespace rdtd
