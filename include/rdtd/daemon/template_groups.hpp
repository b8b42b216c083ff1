// TemplateGroups: which monitoring groups the templates of the policy in force need: one for each
// value that a process has, and for a minute after the last one has gone. Decides only.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "rdtd/daemon/in_force.hpp"
#include "rdtd/daemon/table_maker.hpp"

namespace rdtd {

class TemplateGroups {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // An empty one is kept for so long: what a service or pod that starts again counts goes on.
  static constexpr std::chrono::seconds kept_empty{60};

  struct Change {
    std::shared_ptr<const InForce> in_force;  // null: nothing changed
    std::set<std::string> added;              // directories, to be made
  };
  // `wanted`: those that looks at processes found since the last call, by directory. `all`: among
  // these was a look at all processes, so that others are empty. A value of which another tool has
  // a group of that name needs none of rdtd.
  [[nodiscard]] Change update(const std::shared_ptr<const InForce>& in_force,
                              const std::set<std::string>& wanted, bool all,
                              const OthersMonitoring& others, Time now);
  // That wait for an RMID, by directory.
  [[nodiscard]] const std::set<std::string>& waiting() const { return waiting_; }

 private:
  [[nodiscard]] std::set<std::string> over(const std::set<std::string>& there,
                                           const std::set<std::string>& wanted, Time now);

  std::map<std::string, Time> empty_since_;
  std::set<std::string> waiting_;
};

}  // namespace rdtd
