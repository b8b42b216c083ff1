// LoopTest: the daemon's loop over the World, in real time. The test takes its turns in the same
// loop, between the sources; the system bus is absent.
#pragma once

#include <poll.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-event.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <sstream>

#include "event_socket.hpp"
#include "rdtd/daemon/loop.hpp"
#include "running_classifier.hpp"
#include "world.hpp"

namespace rdtd::test {

class LoopTest : public World {
 protected:
  void SetUp() override {
    real_clock = true;
    World::SetUp();
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + (root_ / "bus").string()).c_str(), 1);
    open_notify_socket();
    logger_ = spdlog::default_logger();
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(log_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::move(sink)));
    spdlog::set_pattern("%l: %v");
    spdlog::set_level(spdlog::level::info);
    // As rdtd does: the loop takes these.
    ::sigemptyset(&signals_);
    for (const int signal : {SIGHUP, SIGTERM, SIGINT}) ::sigaddset(&signals_, signal);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &signals_, &signals_before_), 0);
    requests_fd_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    classifier_.run(requests_fd_.get(), std::chrono::milliseconds(1));
  }
  void TearDown() override {
    events_.hang_up();
    classifier_.end();
    const timespec now{};
    while (::sigtimedwait(&signals_, nullptr, &now) > 0) {}
    ::pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
    spdlog::set_default_logger(logger_);
    ::unsetenv("NOTIFY_SOCKET");
    ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
    World::TearDown();
  }

  // Something to do once something else holds; 20 s at most.
  struct Step {
    std::function<bool()> once;
    std::function<void()> then = [] {};
  };
  // Runs the loop through the steps, one after the other, then ends it with end_signal. Returns the
  // exit status.
  int run_loop(Loop::Sources sources, std::vector<Step> steps) {
    steps_ = std::move(steps);
    next_step_ = 0;
    deadline_ = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    sources.requests_fd = requests_fd_.get();
    sd_event* event = nullptr;
    EXPECT_GE(sd_event_default(&event), 0);
    EXPECT_GE(sd_event_add_time_relative(event, &turn_, CLOCK_MONOTONIC, 0, 1, on_turn, this), 0);
    int status = -1;
    {
      Loop loop(*manager, heartbeat_interval);
      const auto prepared = loop.prepare(std::move(sources));
      EXPECT_TRUE(prepared) << prepared.error().text();
      status = loop.run();
    }
    EXPECT_EQ(next_step_, steps_.size()) << "the loop ended before this step";
    sd_event_source_disable_unref(turn_);
    sd_event_unref(event);
    take_notifications();
    manager->connect({});
    return status;
  }
  Loop::Sources with_classifier() {
    classifier_->start(events_.connector(true), processes, manager->core().manual);
    return {.classifier = classifier_.get()};
  }
  static Loop::Sources with_changes(Connector connector) {
    Loop::Sources out;
    out.changes.emplace(std::move(connector));
    return out;
  }

  // Conditions of steps.
  [[nodiscard]] auto ready() {
    return [this] { return notified("READY=1"); };
  }
  [[nodiscard]] auto in_group(const pid_t& tid, std::string group) {
    return [this, &tid, group = std::move(group)] { return group_of(tid) == group; };
  }
  [[nodiscard]] auto logged(std::string text) {
    return [this, text = std::move(text)] { return log_.str().find(text) != std::string::npos; };
  }

  // Whether systemd was sent a message that begins with this text.
  [[nodiscard]] bool notified(std::string_view text) const {
    return std::ranges::any_of(notifications_,
                               [text](const std::string& one) { return one.starts_with(text); });
  }
  [[nodiscard]] size_t count_calls(const std::string& operation, pid_t pid = 0) const {
    const std::lock_guard lock(kernel.mutex);
    const std::string path = pid == 0 ? "" : std::to_string(pid);
    return static_cast<size_t>(std::ranges::count_if(
        processes.calls.log(),
        [&](const fake::Call& call) { return call.operation == operation && call.path == path; }));
  }

  std::chrono::milliseconds heartbeat_interval{10'000};
  int end_signal = SIGTERM;
  bool beats = true;  // the kernel answers heartbeats
  EventSocket events_;
  UniqueFd requests_fd_;
  RunningClassifier classifier_;
  std::vector<std::string> notifications_;
  std::ostringstream log_;

 private:
  void open_notify_socket() {
    notify_fd_ = UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = (root_ / "notify").string();
    ASSERT_LT(path.size(), sizeof address.sun_path);
    path.copy(address.sun_path, path.size());
    ASSERT_EQ(::bind(notify_fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  void take_notifications() {
    std::string text(4096, '\0');
    ssize_t n = 0;
    while ((n = ::recv(notify_fd_.get(), text.data(), text.size(), MSG_DONTWAIT)) > 0)
      notifications_.push_back(text.substr(0, static_cast<size_t>(n)));
  }
  static int on_turn(sd_event_source*, uint64_t, void* self) {
    static_cast<LoopTest*>(self)->turn();
    return 0;
  }
  void turn() {
    take_notifications();
    if (beats) events_.beat();
    const bool late = std::chrono::steady_clock::now() > deadline_;
    if (late) ADD_FAILURE() << "the condition of step " << next_step_ << " never held";
    if (late || next_step_ == steps_.size()) {
      ::raise(end_signal);
      return;
    }
    const Step& step = steps_[next_step_];
    if (step.once()) {
      next_step_++;
      step.then();
    }
    sd_event_source_set_time_relative(turn_, 2000);
    sd_event_source_set_enabled(turn_, SD_EVENT_ONESHOT);
  }

  sd_event_source* turn_ = nullptr;
  std::vector<Step> steps_;
  size_t next_step_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  UniqueFd notify_fd_;
  std::shared_ptr<spdlog::logger> logger_;
  sigset_t signals_{}, signals_before_{};
};

}  // namespace rdtd::test
