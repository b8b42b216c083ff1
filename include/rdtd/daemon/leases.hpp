// Leases: the pieces of policy that are in force while somebody has their descriptor open, and the
// pipes that show whether somebody has. The holder has the end for reading, and every copy of it
// counts, however it came to be; rdtd has the end for writing and never writes. It puts nothing in
// force: Manager does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/base/unique_fd.hpp"
#include "rdtd/policy/search.hpp"

namespace rdtd {

class Leases {
 public:
  static constexpr size_t max_leases = 16;  // beside the guard's

  struct Lease {
    std::string name;
    std::string policy;
    uid_t uid = 0;       // of the caller that asked for it
    uint64_t since = 0;  // CLOCK_REALTIME, microseconds
  };

  Leases();

  // poll(2): readable while take_abandoned would return something.
  [[nodiscard]] int fd() const { return watched_.get(); }
  // In the order of their age.
  [[nodiscard]] const std::vector<Lease>& all() const { return all_; }
  [[nodiscard]] bool contains(const std::string& name) const;
  // As the parser reads them, after the policy files.
  [[nodiscard]] std::vector<PolicyFile> files() const;

  // Returns the holder's end. The lease lasts until the last copy of it is closed.
  [[nodiscard]] Result<UniqueFd> add(Lease lease);
  // Returns the text before.
  std::string exchange_policy(const std::string& name, std::string policy);
  // Its holder sees its own end hang up.
  void remove(const std::string& name);
  // Removes those that nobody holds any more, and returns their names.
  [[nodiscard]] std::set<std::string> take_abandoned();

 private:
  UniqueFd watched_;  // an epoll of all own ends
  std::vector<Lease> all_;
  std::vector<UniqueFd> own_ends_;  // of all_, in its order
};

}  // namespace rdtd
