// DeviceHolders: who has the device of a pseudo-locked region open. The kernel lets a region be
// removed while its device is open, and then never frees it: the ways stay locked until the next
// boot, and no other region can be locked there (pseudo_lock_dev_release in
// arch/x86/kernel/cpu/resctrl/pseudo_lock.c). So rdtd asks here before it undoes a region.
//
// The kernel states nowhere how often a device is open: this looks at the descriptors and the
// memory maps of all processes. A process can hold up who reads its memory map (command_lines.hpp),
// so other threads look, and the caller waits a limited time for them. One that does so counts as
// a holder if its ids permit it to open the device, else not. Those that could not open it, but may
// have it from another process, are looked at last, and those of each user for a limited time: of a
// processor for descriptors and long reads of `status`, by the clock on the wall for maps. A read
// of maps that got no processor is tried again, a limited number of times in a search. Not seen:
// what there was no time for, a descriptor in a message that nobody has received, that of a thread
// with a descriptor table of its own, and a map of a node that somebody made elsewhere (mknod) and
// closed.
//
// For one calling thread.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace rdtd::proc {

class DeviceHolders {
 public:
  static constexpr std::chrono::milliseconds default_wait{500};
  // Of a command, beside which nothing waits.
  static constexpr std::chrono::milliseconds command_wait{10'000};

  // For the descriptors of the processes of a user who could not open the device; three times as
  // long for their maps. The caller waits longer.
  static constexpr std::chrono::milliseconds default_of_user{200};

  // `proc`, `devices`: /proc and /sys/class/pseudo_lock.
  DeviceHolders(std::string proc, std::string devices,
                std::chrono::milliseconds max_wait = default_wait,
                std::chrono::milliseconds of_user = default_of_user)
      : proc_(std::move(proc)),
        devices_(std::move(devices)),
        max_wait_(max_wait),
        of_user_(of_user) {}

  // Nothing if nobody has the device open. Else why it must be taken for open: "process 812 (app)
  // has /dev/pseudo_lock/NAME open", or that this is not known yet.
  [[nodiscard]] std::optional<std::string> find(const std::string& name);

 private:
  // Longer than the daemon waits between two attempts.
  static constexpr std::chrono::seconds fresh{10};
  // In which a load asks again.
  static constexpr std::chrono::seconds same_load{1};
  struct Search;
  struct Maps;
  [[nodiscard]] std::shared_ptr<Search> known(const std::string& name);
  [[nodiscard]] std::optional<std::string> answer_of(const Search& search);
  std::string proc_, devices_;
  std::chrono::milliseconds max_wait_, of_user_;
  std::shared_ptr<Search> running_;                       // one that took too long
  std::map<std::string, std::shared_ptr<Search>> known_;  // such ones that are done, by device
  std::shared_ptr<Maps> maps_;                            // for one search at a time
  unsigned last_holder_ = 0;  // the process that is looked at first; 0: none
};

}  // namespace rdtd::proc
