// Helper: runs functions that may take any time, such as a question to the network, in a thread of
// its own. The caller waits for a limited time. For one calling thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace rdtd::proc {

class Helper {
 public:
  // `name`: of the thread, at most 15 bytes.
  Helper(std::string name, std::chrono::milliseconds max_wait)
      : name_(std::move(name)), max_wait_(max_wait) {}

  // False if the function was not done in time; it goes on nevertheless, so it must own all that it
  // uses. Until it is done, no other one is begun, and the answer is false at once.
  [[nodiscard]] bool run(std::function<void()> function);
  // Whether one that was not done in time still runs.
  [[nodiscard]] bool busy() const;

 private:
  struct Call;
  std::string name_;
  std::chrono::milliseconds max_wait_;
  std::shared_ptr<Call> late_;
};

}  // namespace rdtd::proc
