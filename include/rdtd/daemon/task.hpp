// Task: a coroutine of the loop thread that another one waits for with co_await. It begins when it
// is awaited, and the one that awaits it goes on when it ends. Bind temporaries to names before
// co_await: old compilers destroy some of them twice.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace rdtd {

template <class T>
class Task;

namespace task {

class PromiseBase {
 public:
  struct Continue {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      return ended.promise().waiting;
    }
    void await_resume() const noexcept {}
  };
  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] Continue final_suspend() const noexcept { return {}; }
  [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }

  std::coroutine_handle<> waiting = std::noop_coroutine();
};

template <class T>
class Promise final : public PromiseBase {
 public:
  Task<T> get_return_object();
  template <class Value>
  void return_value(Value&& value) {
    result.emplace(std::forward<Value>(value));
  }
  T take() { return std::move(*result); }

  std::optional<T> result;
};

template <>
class Promise<void> final : public PromiseBase {
 public:
  Task<void> get_return_object();
  void return_void() const {}
  void take() const {}
};

}  // namespace task

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = task::Promise<T>;

  explicit Task(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}
  Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  ~Task() {
    if (coroutine_) coroutine_.destroy();
  }

  // For the one that nobody awaits.
  void begin() { coroutine_.resume(); }
  [[nodiscard]] bool done() const { return coroutine_.done(); }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept {
    coroutine_.promise().waiting = waiting;
    return coroutine_;
  }
  T await_resume() { return coroutine_.promise().take(); }

 private:
  std::coroutine_handle<promise_type> coroutine_;
};

namespace task {

template <class T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise>::from_promise(*this));
}

inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise>::from_promise(*this));
}

}  // namespace task

}  // namespace rdtd
