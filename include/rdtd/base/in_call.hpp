// InCall: counts a call that may wait in the kernel, for as long as it takes. Another thread can
// see by the count whether one is under way.
#pragma once

#include <atomic>

namespace rdtd {

class InCall {
 public:
  explicit InCall(std::atomic<int>& calls) : calls_(calls) { calls_++; }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;
  ~InCall() { calls_--; }

 private:
  std::atomic<int>& calls_;
};

}  // namespace rdtd
