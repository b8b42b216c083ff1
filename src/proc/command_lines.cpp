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

// A read takes some microseconds; what is no longer than this is free.
constexpr std::chrono::milliseconds free_time{1};
constexpr uid_t first_ordinary_user = 1000;  // login.defs(5)
constexpr uid_t all_users = 0;

struct Job {
  uid_t user = 0;
  CommandLines::Read read;
  std::optional<Result<std::string>> answer;
  std::optional<CommandLines::Clock::time_point> begin;  // of the read
  std::chrono::nanoseconds time{};                       // that it took
  bool abandoned = false;
};

}  // namespace

// What the threads share. Each of them keeps it alive.
struct CommandLines::Shared {
  std::mutex mutex;
  std::condition_variable wanted, answered;
  std::shared_ptr<Job> job;  // for the thread that is not held up
  std::set<uid_t> held_up;   // users, each with one read
  bool stop = false;

  void run() {
    (void)::prctl(PR_SET_NAME, "rdtd-cmdline");
    std::unique_lock lock(mutex);
    while (true) {
      wanted.wait(lock, [this] { return stop || job != nullptr; });
      if (stop) return;
      const std::shared_ptr<Job> mine = std::exchange(job, nullptr);
      const auto begin = Clock::now();
      mine->begin = begin;
      lock.unlock();
      Result<std::string> answer = mine->read();
      const auto end = Clock::now();
      mine->read = nullptr;  // closes what it holds
      lock.lock();
      mine->time = end - begin;
      if (mine->abandoned) {
        held_up.erase(mine->user);
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
  const size_t most = user < first_ordinary_user ? max_held_up + more_for_system : max_held_up;
  if (shared_->held_up.contains(user) || shared_->held_up.size() >= most) return true;
  const auto now = Clock::now();
  return of_user_.exhausted(user, now) || of_all_.exhausted(all_users, now);
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

void CommandLines::charge(uid_t user, std::chrono::nanoseconds time) {
  if (time <= free_time) return;
  const auto now = Clock::now();
  of_user_.charge(user, time - free_time, now);
  of_all_.charge(all_users, time - free_time, now);
}

Result<std::string> CommandLines::read(uid_t user, const std::string& path, Read read) {
  const auto later = [&](const char* why) {
    return std::unexpected(Error{"read", path, EAGAIN, why});
  };
  std::unique_lock lock(shared_->mutex);
  if (must_wait(user)) return later("such reads were held up");
  if (!start_thread()) return later("there can be no more threads");
  const auto job = std::make_shared<Job>();
  job->user = user;
  job->read = std::move(read);
  shared_->job = job;
  shared_->wanted.notify_one();
  const bool answered = shared_->answered.wait_until(lock, Clock::now() + max_wait_,
                                                     [&] { return job->answer.has_value(); });
  if (answered) {
    charge(user, job->time);
    return std::move(*job->answer);
  }
  // The thread has found no processor. It must not begin now.
  if (std::exchange(shared_->job, nullptr) != nullptr) return later("the machine is busy");
  charge(user, Clock::now() - *job->begin);
  job->abandoned = true;
  shared_->held_up.insert(user);
  has_thread_ = false;
  return later("the process holds it up");
}

}  // namespace rdtd::proc
