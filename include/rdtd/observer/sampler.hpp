// Sampler: reads the counters of all groups, with the amounts that are in force, as the samples of
// a recording. It only reads resctrl. How many tasks a group has is left out: the kernel looks at
// all threads for it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "rdtd/observe/recording.hpp"
#include "rdtd/resctrl/tree.hpp"

namespace rdtd {

class Sampler {
 public:
  explicit Sampler(Tree tree) : tree_(std::move(tree)) {}
  // Of this machine. `interval`: seconds between samples.
  [[nodiscard]] observe::Header header(double interval) const;
  // Takes up what a load of a policy or another tool may have changed, and domains that are new.
  // Values that cannot be read stay as they were.
  void update(observe::Header& header) const;
  [[nodiscard]] Result<observe::Sample> sample();
  [[nodiscard]] const Tree& tree() const { return tree_; }
  // The next sample has the amounts of all groups: a recording begins with it.
  void begin_recording() { all_amounts_ = true; }

 private:
  // Schemata that cannot be read now stay as they were; nothing if that is not known.
  [[nodiscard]] std::optional<std::string> schemata_of(const std::string& group,
                                                       const std::string& label) const;
  Tree tree_;
  std::map<std::string, std::string> schemata_;  // in the last sample
  bool all_amounts_ = true;                      // in the next one
};

}  // namespace rdtd
