#include "rdtd/proc/command_lines.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <semaphore>
#include <system_error>
#include <thread>
#include <utility>

#include "rdtd/base/inheriting_mutex.hpp"
#include "rdtd/base/quota.hpp"

namespace rdtd::proc {

namespace {

constexpr const char* no_thread = "there can be no more threads";
constexpr const char* no_processor = "the machine is busy";

// Users of a kind share places that others cannot take.
size_t places_of_kind(uid_t user) {
  if (user == 0) return CommandLines::max_of_root;
  return is_ordinary_user(user) ? CommandLines::max_held_up : CommandLines::max_of_system;
}

bool are_of_one_kind(uid_t one, uid_t other) {
  return (one == 0) == (other == 0) && is_ordinary_user(one) == is_ordinary_user(other);
}

}  // namespace

struct CommandLines::Job {
  enum class State { waiting, reading, done, withdrawn, abandoned, ended };

  uid_t user = 0;
  pid_t process = 0;
  Read read;
  Result<std::string> answer;
  Clock::time_point begin, end;  // of the read
  std::atomic<State> state = State::waiting;

  [[nodiscard]] bool change(State from, State to) {
    return state.compare_exchange_strong(from, to);
  }
};

// A thread that reads, and who waits for it, share this. An ordinary thread might find no
// processor, so it works at the priority of who waits: it holds one of two mutexes while it reads,
// which the other one then waits for, and takes the second one before it releases the first.
struct CommandLines::Reader {
  std::binary_semaphore ready{0};       // to take a job
  std::counting_semaphore<> wanted{0};  // a job, or the end
  std::array<InheritingMutex, 2> turns;
  size_t turn = 0;  // of who waits
  std::shared_ptr<Job> job;
  std::atomic<bool> stop = false;

  void run() {
    (void)::prctl(PR_SET_NAME, "rdtd-cmdline");
    size_t mine = 0;
    turns[mine].lock();
    ready.release();
    while (true) {
      wanted.acquire();
      if (stop) break;
      std::shared_ptr<Job> now = std::exchange(job, nullptr);
      now->begin = Clock::now();
      if (!now->change(Job::State::waiting, Job::State::reading)) {
        ready.release();
        continue;
      }
      now->answer = now->read();
      now->read = nullptr;  // closes what it holds
      now->end = Clock::now();
      if (!now->change(Job::State::reading, Job::State::done)) {
        now->state = Job::State::ended;
        break;
      }
      now.reset();  // who waits has it too, and frees it
      const size_t other = 1 - mine;
      turns[other].lock();
      ready.release();
      turns[std::exchange(mine, other)].unlock();
    }
    turns[mine].unlock();
  }
};

CommandLines::~CommandLines() {
  for (const auto& reader : readers_) {
    reader->stop = true;
    reader->wanted.release();
  }
}

// Why a read must not be tried now: EAGAIN, EBUSY; or 0. Root, system users and ordinary users have
// places of their own. The last half of those that users share is for one process of each.
int CommandLines::must_wait(uid_t user, pid_t process) {
  std::erase_if(held_up_, [](const auto& job) { return job->state == Job::State::ended; });
  size_t of_user = 0, of_kind = 0;
  for (const auto& job : held_up_) {
    if (job->process == process) return EAGAIN;
    if (job->user == user) of_user++;
    if (are_of_one_kind(job->user, user)) of_kind++;
  }
  const size_t places = places_of_kind(user);
  const bool many =
      of_kind >= places ||
      (user != 0 && (of_user >= max_of_user || (of_kind >= places / 2 && of_user > 0)));
  return many || shares_.exhausted(user, Clock::now()) ? EBUSY : 0;
}

void CommandLines::make_readers() {
  while (readers_.size() < threads) {
    auto reader = std::make_shared<Reader>();
    try {
      std::thread([reader] { reader->run(); }).detach();
    } catch (const std::system_error&) {
      return;
    }
    readers_.push_back(std::move(reader));
  }
}

// One that is ready, or null. A thread that has just been made, or that has found no processor for
// its last job, is not ready before it has found one: the others are there for this time.
std::shared_ptr<CommandLines::Reader> CommandLines::ready_reader(Clock::time_point end) {
  const bool first = readers_.empty();
  make_readers();
  for (const auto& reader : readers_)
    if (first ? reader->ready.try_acquire_until(end) : reader->ready.try_acquire()) return reader;
  return nullptr;
}

// Users who are charged at the same time divide the time that comes back.
void CommandLines::charge(uid_t user, std::chrono::nanoseconds time) {
  if (time <= free_time_) return;
  const auto now = Clock::now();
  shares_.charge(user, time - free_time_, now);
  shares_.charge(user, (time - free_time_) * (shares_.debtors(now) - 1), now);
}

bool CommandLines::machine_was_busy(const Error& error) {
  return error.code == EBUSY && (error.detail == no_thread || error.detail == no_processor);
}

Result<std::string> CommandLines::read(uid_t user, pid_t process, const std::string& path,
                                       Read read) {
  const auto later = [&](const char* why, int code = EBUSY) {
    return std::unexpected(Error{"read", path, code, why});
  };
  const auto held_up = [&] { return later("the process holds it up", EAGAIN); };
  const auto end = Clock::now() + max_wait_;
  const int waits = must_wait(user, process);
  if (waits == EAGAIN) return held_up();
  if (waits != 0) return later("such reads were held up");
  const std::shared_ptr<Reader> reader = ready_reader(end);
  if (readers_.empty()) return later(no_thread);
  if (!reader) return later(no_processor);
  const auto job = std::make_shared<Job>();
  job->user = user;
  job->process = process;
  job->read = std::move(read);
  reader->job = job;
  reader->wanted.release();
  if (InheritingMutex& turn = reader->turns[reader->turn]; turn.lock_until(end)) turn.unlock();
  // The thread has found no processor. It must not begin now.
  if (job->change(Job::State::waiting, Job::State::withdrawn)) return later(no_processor);
  if (job->change(Job::State::reading, Job::State::abandoned)) {
    charge(user, Clock::now() - job->begin);
    held_up_.push_back(job);
    std::erase(readers_, reader);
    make_readers();  // so that they are ready for the next read
    return held_up();
  }
  reader->turn = 1 - reader->turn;
  charge(user, job->end - job->begin);
  return std::move(job->answer);
}

}  // namespace rdtd::proc
