// CommandLines: reads command lines without waiting for the processes. The kernel copies a command
// line from the memory of the process (get_mm_cmdline in fs/proc/base.c), under the lock of its
// memory map. A process can hold that lock as long as it wants: one thread reads, through
// /proc/self/mem, a page of a file whose file system never answers; another one calls munmap. Pages
// in swap take their time too. So a thread of this class reads, and the caller waits a limited time
// for it. A thread that is held up is left behind and ends when the kernel answers.
//
// The processes of all users can make the caller wait for a quarter of its time, which those users
// share who do (UserShares): nobody else is kept waiting. Time in which the other thread had no
// processor does not count.
//
// DeviceHolders has it read memory maps, which take the same lock.
//
// For one calling thread. The reading thread is an ordinary one, and works at the priority of the
// calling thread while that waits for it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/proc/user_shares.hpp"

namespace rdtd::proc {

class CommandLines {
 public:
  using Clock = std::chrono::steady_clock;
  // Reads that are held up at the same time, each of another process: of ordinary users, of system
  // users, of one user but root, and of root.
  static constexpr size_t max_held_up = 16;
  static constexpr size_t max_of_system = 8;
  static constexpr size_t max_of_user = 4;
  static constexpr size_t max_of_root = 8;
  // That can read, beside those that are held up.
  static constexpr size_t threads = 3;

  // `free_time`: what a read may take without being charged.
  explicit CommandLines(std::chrono::milliseconds max_wait,
                        std::chrono::milliseconds free_time = std::chrono::milliseconds(1))
      : max_wait_(max_wait), free_time_(free_time) {}
  CommandLines(const CommandLines&) = delete;
  CommandLines& operator=(const CommandLines&) = delete;
  ~CommandLines();

  // Must own all that it uses: it may outlive this object.
  using Read = std::move_only_function<Result<std::string>()>;
  // Returns the result of `read`. Errors with `path`, after which a later call may succeed: EAGAIN,
  // the process holds the read up; EBUSY, it was not tried, since other reads of this user took too
  // much time before or no thread was ready. The time is charged to `user`.
  [[nodiscard]] Result<std::string> read(uid_t user, pid_t process, const std::string& path,
                                         Read read);
  // Whether the error says nothing about the process and its user: no thread was ready in time.
  [[nodiscard]] static bool machine_was_busy(const Error& error);

 private:
  struct Job;
  struct Reader;
  [[nodiscard]] int must_wait(uid_t user, pid_t process);
  void make_readers();
  [[nodiscard]] std::shared_ptr<Reader> ready_reader(Clock::time_point end);
  void charge(uid_t user, std::chrono::nanoseconds time);

  std::chrono::milliseconds max_wait_, free_time_;
  std::vector<std::shared_ptr<Reader>> readers_;  // that are not held up
  std::vector<std::shared_ptr<Job>> held_up_;     // each of another process
  UserShares shares_;
};

}  // namespace rdtd::proc
