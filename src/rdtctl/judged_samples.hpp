// JudgedSamples: in how many samples the traffic was counted, without which nobody is blamed and
// the guard takes no step. That nothing was found says nothing about the others.
#pragma once

#include <cstddef>
#include <string>

#include "rdtd/observer/reader.hpp"

namespace rdtd {

class JudgedSamples {
 public:
  // `group`: the label of the one that matters; "": any.
  explicit JudgedSamples(std::string group) : group_(std::move(group)) {}
  void add(const observe::Sample& sample);
  // A single number of traffic shows no rate.
  [[nodiscard]] size_t count() const { return had_rate_ ? counted_ : 0; }
  // "NONE from ... to ..., in 60 samples.", or "UNSEEN from ... to ...: ..." with the reason.
  [[nodiscard]] std::string text(const std::string& none, const std::string& unseen,
                                 const ReadRecording& read) const;

 private:
  std::string group_;
  size_t counted_ = 0;  // samples of the period with a number
  bool had_number_ = false, had_rate_ = false;
};

}  // namespace rdtd
