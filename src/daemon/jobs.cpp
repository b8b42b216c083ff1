#include "rdtd/daemon/jobs.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <utility>

#include "rdtd/daemon/problems.hpp"

namespace rdtd {

std::string_view to_string(Stage stage) {
  constexpr std::array names = {"reading, planning and applying", "waiting for the lock of resctrl",
                                "waiting for the classifier", "examining all processes"};
  return names.at(static_cast<size_t>(stage));
}

void Jobs::add(std::string_view name, std::function<Task<>()> job) {
  waiting_.push_back({name, std::move(job)});
  if (!running_) begin_next();
}

// Returns once the job that is running, if there is one, waits for something.
void Jobs::begin_next() {
  if (resuming_) return;
  resuming_ = true;
  while (!waiting_.empty() && !running_) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    progress();
    running_ =
        Running{.name = next.name, .stage_since = system_.now(), .since = system_.realtime_usec()};
    job_ = std::move(next.job);
    task_.emplace(job_());
    task_->begin();
    if (task_->done()) end();
  }
  resuming_ = false;
}

void Jobs::go_on(std::coroutine_handle<> job) {
  progress();
  resuming_ = true;
  job.resume();
  resuming_ = false;
  if (!task_->done()) return;
  end();
  begin_next();
}

void Jobs::end() {
  task_.reset();
  job_ = nullptr;
  running_.reset();
  problems_.clear(Problems::job);
}

void Jobs::enter(Stage stage) {
  running_->stage = stage;
  running_->stage_since = moved_ = system_.now();
  problems_.clear(Problems::job);
}

bool Jobs::LockAwaiter::await_ready() {
  right = jobs.take_right();
  return right.has_value();
}

void Jobs::LockAwaiter::await_suspend(std::coroutine_handle<> job) {
  jobs.enter(Stage::lock);
  jobs.awaits_lock_ = this;
  jobs.locked_ = job;
}

ResctrlLock::Right Jobs::LockAwaiter::await_resume() {
  jobs.enter(Stage::work);
  return std::move(*right);
}

std::optional<ResctrlLock::Right> Jobs::take_right() {
  const bool was_held = !problems_.public_text(Problems::lock).empty();
  auto right = lock_.try_take();
  cleared_ = cleared_ || (was_held && problems_.public_text(Problems::lock).empty());
  return right;
}

void Jobs::try_lock() {
  progress();
  auto right = take_right();
  if (!right) return;
  std::exchange(awaits_lock_, nullptr)->right = std::move(right);
  go_on(std::exchange(locked_, {}));
}

Jobs::Time Jobs::overdue_at() const {
  return running_->stage == Stage::processes ? moved_ + processes_overdue
                                             : running_->stage_since + overdue;
}

// True if it became a problem now.
bool Jobs::note_overdue() {
  if (!running_ || system_.now() < overdue_at()) return false;
  const auto limit = running_->stage == Stage::processes ? processes_overdue : overdue;
  const bool is_new = problems_.set(
      Problems::job, fmt::format("a change does not go on: {}, {} for more than {} s",
                                 running_->name, to_string(running_->stage), limit.count()));
  if (is_new) spdlog::warn("{}", problems_.public_text(Problems::job));
  return is_new;
}

bool Jobs::step() {
  const bool problem_gone =
      lock_.next_recheck() <= system_.now() && awaits_lock_ == nullptr && lock_.recheck();
  if (awaits_lock_ != nullptr && lock_.next_try() <= system_.now()) try_lock();
  const bool changed = problem_gone || std::exchange(cleared_, false);
  return note_overdue() || changed;
}

Jobs::Time Jobs::next_due() const {
  const Time lock = awaits_lock_ != nullptr ? lock_.next_try() : lock_.next_recheck();
  const bool known = !problems_.public_text(Problems::job).empty();
  if (cleared_) return Time::min();
  if (!running_) return lock;
  return std::min(
      {lock, known ? Time::max() : overdue_at(), stuck() ? Time::max() : moved_ + stands});
}

}  // namespace rdtd
