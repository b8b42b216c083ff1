// StandIns: what groups of the policy are taken to have where their files cannot be read: what they
// were granted, so that nothing is done about it, and about everything else what always is. It
// changes the machine as it was read, and nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "rdtd/daemon/in_force.hpp"

namespace rdtd {

class StandIns {
 public:
  // Not of groups that have been made again since the last reading.
  void fill(Machine& machine, const InForce& in_force);

 private:
  // At the last reading.
  std::map<std::string, uint64_t> inodes_;
  std::map<std::string, CpuSet> mon_cpus_;
};

}  // namespace rdtd
