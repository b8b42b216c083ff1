// Jobs: what changes the state in force, one after the other, each to its end. A job is a coroutine
// that reads from top to bottom; where it waits, the loop goes on. Whatever way it ends, the next
// one begins. The stage of the running job is known, and one that stands is a problem.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rdtd/daemon/resctrl_lock.hpp"
#include "rdtd/daemon/system.hpp"
#include "rdtd/daemon/task.hpp"

namespace rdtd {

class Problems;

// The part of a job that is running, or that it waits for.
enum class Stage { work, lock, classifier, processes };
[[nodiscard]] std::string_view to_string(Stage stage);

class Jobs {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // A stage that takes longer is a problem that status shows; a look at all processes, if it stops
  // for longer.
  static constexpr std::chrono::seconds overdue{10}, processes_overdue{60};
  // Nothing has happened in the running job for so long, and nothing that it waits for is at work.
  static constexpr std::chrono::seconds stands{30};

  Jobs(const System& system, Problems& problems)
      : system_(system), problems_(problems), lock_(system, problems) {}

  // Begins the job now, or once those before it have ended. `name` is for people: "reload".
  void add(std::string_view name, std::function<Task<>()> job);

  struct Running {
    std::string_view name;
    Stage stage = Stage::work;
    Time stage_since{};
    uint64_t since = 0;  // CLOCK_REALTIME, microseconds
  };
  [[nodiscard]] const std::optional<Running>& running() const { return running_; }

  // For the running job, with co_await: waits until it has the right to change resctrl.
  [[nodiscard]] auto lock() { return LockAwaiter{*this, {}}; }
  // The same: calls `begin` with a callback, and waits until that is called with a T.
  template <class T>
  [[nodiscard]] auto result(Stage stage, std::function<void(std::function<void(T)>)> begin) {
    return ResultAwaiter<T>{*this, stage, std::move(begin), {}};
  }

  // The loop: tries the lock again, and looks how the running job gets on. True if a problem has
  // come or gone.
  bool step();
  [[nodiscard]] Time next_due() const;
  // A look at all processes was at work.
  void swept() {
    if (running_ && running_->stage == Stage::processes) progress();
  }
  // The running job will never end: what it waits for is not at work. Only a fault of rdtd's own
  // can cause that.
  [[nodiscard]] bool stuck() const { return running_ && system_.now() - moved_ > stands; }

 private:
  struct LockAwaiter {
    Jobs& jobs;
    std::optional<ResctrlLock::Right> right;
    [[nodiscard]] bool await_ready();
    void await_suspend(std::coroutine_handle<> job);
    ResctrlLock::Right await_resume();
  };
  template <class T>
  struct ResultAwaiter {
    Jobs& jobs;
    Stage stage;
    std::function<void(std::function<void(T)>)> begin;
    std::optional<T> value;
    bool waits = false;
    [[nodiscard]] bool await_ready() const { return false; }
    bool await_suspend(std::coroutine_handle<> job) {
      jobs.enter(stage);
      begin([this, job](T result) {
        value.emplace(std::move(result));
        if (waits) jobs.go_on(job);
      });
      waits = !value;
      return waits;
    }
    T await_resume() {
      jobs.enter(Stage::work);
      return std::move(*value);
    }
  };
  struct Waiting {
    std::string_view name;
    std::function<Task<>()> job;
  };
  void progress() { moved_ = system_.now(); }
  void enter(Stage stage);
  void go_on(std::coroutine_handle<> job);
  void begin_next();
  void end();
  [[nodiscard]] std::optional<ResctrlLock::Right> take_right();
  void try_lock();
  bool note_overdue();
  [[nodiscard]] Time overdue_at() const;

  const System& system_;
  Problems& problems_;
  ResctrlLock lock_;
  std::deque<Waiting> waiting_;
  std::optional<Running> running_;
  std::function<Task<>()> job_;  // what the running coroutine was made of, which it refers to
  std::optional<Task<>> task_;
  LockAwaiter* awaits_lock_ = nullptr;
  std::coroutine_handle<> locked_;  // goes on with the lock
  Time moved_{};                    // when the running job was last seen to move
  bool resuming_ = false;
  bool cleared_ = false;  // the problem of the lock has gone; step has to say so
};

}  // namespace rdtd
