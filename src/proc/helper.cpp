#include "rdtd/proc/helper.hpp"

#include <sys/prctl.h>

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace rdtd::proc {

struct Helper::Call {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
};

bool Helper::busy() const {
  if (!late_) return false;
  const std::lock_guard lock(late_->mutex);
  return !late_->done;
}

bool Helper::run(std::function<void()> function) {
  if (busy()) return false;
  const auto call = std::make_shared<Call>();
  try {
    std::thread([call, name = name_, function = std::move(function)] {
      (void)::prctl(PR_SET_NAME, name.c_str());
      function();
      const std::lock_guard lock(call->mutex);
      call->done = true;
      call->ended.notify_one();
    }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  std::unique_lock lock(call->mutex);
  if (call->ended.wait_for(lock, max_wait_, [&] { return call->done; })) return true;
  late_ = call;
  return false;
}

}  // namespace rdtd::proc
