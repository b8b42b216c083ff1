#include "rdtd/proc/command_lines.hpp"

#include <sys/prctl.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace rdtd::proc {

namespace {

// A wait that is no longer than this is a matter of scheduling, and free.
constexpr std::chrono::milliseconds free_wait{1};
// The time until the next wait is this many times the length of the last one.
constexpr int pause_per_wait_of_user = 20;
constexpr int pause_per_wait = 3;
// Users are forgotten once they may be read again.
constexpr size_t max_users = 1024;

struct Job {
  uid_t user = 0;
  CommandLines::Read read;
  std::optional<Result<std::string>> answer;
  bool abandoned = false;
};

}  // namespace

// What the threads share. Each of them keeps it alive.
struct CommandLines::Shared {
  std::mutex mutex;
  std::condition_variable wanted, answered;
  std::shared_ptr<Job> job;      // for the thread that is not held up
  std::multiset<uid_t> held_up;  // users
  bool stop = false;

  void run() {
    (void)::prctl(PR_SET_NAME, "rdtd-cmdline");
    std::unique_lock lock(mutex);
    while (true) {
      wanted.wait(lock, [this] { return stop || job != nullptr; });
      if (stop) return;
      const std::shared_ptr<Job> mine = std::exchange(job, nullptr);
      lock.unlock();
      Result<std::string> answer = mine->read();
      mine->read = nullptr;  // closes what it holds
      lock.lock();
      if (mine->abandoned) {
        held_up.erase(held_up.find(mine->user));
        return;
      }
      mine->answer = std::move(answer);
      answered.notify_one();
    }
  }
};

CommandLines::CommandLines(std::chrono::milliseconds max_wait)
    : max_wait_(max_wait), shared_(std::make_shared<Shared>()) {}

CommandLines::~CommandLines() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->wanted.notify_one();
}

bool CommandLines::must_wait(uid_t user) const {
  if (shared_->held_up.contains(user) || shared_->held_up.size() >= max_held_up) return true;
  const auto now = Clock::now();
  const auto found = not_before_.find(user);
  return now < none_before_ || (found != not_before_.end() && now < found->second);
}

bool CommandLines::start_thread() {
  if (has_thread_) return true;
  try {
    std::thread([shared = shared_] { shared->run(); }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  return has_thread_ = true;
}

void CommandLines::charge(uid_t user, Clock::time_point begin) {
  const auto end = Clock::now();
  if (end - begin <= free_wait) return;
  if (not_before_.size() >= max_users)
    std::erase_if(not_before_, [&](const auto& entry) { return entry.second <= end; });
  not_before_[user] = end + pause_per_wait_of_user * (end - begin);
  none_before_ = end + pause_per_wait * (end - begin);
}

Result<std::string> CommandLines::read(uid_t user, const std::string& path, Read read) {
  const auto later = [&] {
    return std::unexpected(Error{"read", path, EAGAIN, "its user's processes hold up such reads"});
  };
  std::unique_lock lock(shared_->mutex);
  if (must_wait(user) || !start_thread()) return later();
  const auto job = std::make_shared<Job>();
  job->user = user;
  job->read = std::move(read);
  shared_->job = job;
  const auto begin = Clock::now();
  shared_->wanted.notify_one();
  (void)shared_->answered.wait_until(lock, begin + max_wait_,
                                     [&] { return job->answer.has_value(); });
  charge(user, begin);
  if (job->answer) return std::move(*job->answer);
  // The thread may not have begun: then it must not.
  if (std::exchange(shared_->job, nullptr) != nullptr) return later();
  job->abandoned = true;
  shared_->held_up.insert(user);
  has_thread_ = false;
  return later();
}

}  // namespace rdtd::proc
