#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "jobs.hpp"

namespace rdtd::bench {

namespace {

constexpr double patience = 10e6;  // microseconds

double now_usec() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

void wait_for_end_of_input() {
  std::array<char, 64> ignored;
  while (::read(STDIN_FILENO, ignored.data(), ignored.size()) > 0) continue;
}

}  // namespace

int start(Arguments arguments) {
  if (arguments.size() != 4) return 64;
  char* const link = arguments[1];
  const unsigned long count = std::strtoul(arguments[2], nullptr, 10);
  const unsigned long gap = std::strtoul(arguments[3], nullptr, 10);
  // The children's end of a pipe, which closes with this process.
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) < 0) return 1;
  (void)::fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  const std::string fd = std::to_string(ends[0]);
  double next = now_usec();
  for (unsigned long i = 0; i < count; i++) {
    if (gap > 0) {
      next += static_cast<double>(gap);
      if (const double left = next - now_usec(); left > 0) ::usleep(static_cast<useconds_t>(left));
    }
    const pid_t pid = ::vfork();
    if (pid == 0) {
      ::execl(link, link, "wait", fd.c_str(), nullptr);
      ::_exit(127);
    }
    if (pid < 0) return 1;
  }
  fmt::print("started\n");
  (void)std::fflush(stdout);
  wait_for_end_of_input();
  (void)::close(ends[1]);
  while (::wait(nullptr) > 0) continue;
  return 0;
}

int wait_as_child(Arguments arguments) {
  if (arguments.size() != 2) return 64;
  char ignored;
  return ::read(std::atoi(arguments[1]), &ignored, 1) == 0 ? 0 : 1;
}

int look_as_child(Arguments arguments) {
  if (arguments.size() != 5) return 64;
  const double begin = now_usec();
  const std::string wanted = std::string("res:") + arguments[1] + "\n";
  const int result_fd = std::atoi(arguments[2]);
  const size_t index = std::strtoul(arguments[3], nullptr, 10);
  // In a burst thousands look at once; they must not keep each other, and the listener, from
  // running.
  const bool polite = std::strcmp(arguments[4], "polite") == 0;
  std::array<char, 512> text{};
  const int fd = ::open("/proc/self/cpu_resctrl_groups", O_RDONLY | O_CLOEXEC);
  double latency = -1;
  while (now_usec() - begin < patience) {
    const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
    if (n > 0 && std::string_view(text.data(), static_cast<size_t>(n)).starts_with(wanted)) {
      latency = now_usec() - begin;
      break;
    }
    if (polite) ::usleep(1000);
  }
  const auto place = static_cast<off_t>(index * sizeof latency);
  return ::pwrite(result_fd, &latency, sizeof latency, place) == sizeof latency ? 0 : 1;
}

int measure(Arguments arguments) {
  if (arguments.size() != 4) return 64;
  const bool burst = std::strcmp(arguments[0], "burst") == 0;
  char *const link = arguments[1], *const group = arguments[3];
  const size_t count = std::strtoul(arguments[2], nullptr, 10);
  const int results = ::memfd_create("results", 0);  // inherited
  const std::string fd = std::to_string(results);
  for (size_t i = 0; i < count; i++) {
    const std::string index = std::to_string(i);
    const pid_t pid = ::vfork();
    if (pid == 0) {
      ::execl(link, link, "look", group, fd.c_str(), index.c_str(), burst ? "polite" : "eager",
              nullptr);
      ::_exit(127);
    }
    if (pid < 0) return 1;
    if (!burst) (void)::waitpid(pid, nullptr, 0);
  }
  while (::wait(nullptr) > 0) continue;
  for (size_t i = 0; i < count; i++) {
    double latency = -1;
    (void)::pread(results, &latency, sizeof latency, static_cast<off_t>(i * sizeof latency));
    fmt::print("{:.1f}\n", latency);
  }
  return 0;
}

int rename(Arguments arguments) {
  if (arguments.size() != 2) return 64;
  std::atomic<bool> ended = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(arguments[1]); i++)
    threads.emplace_back([&] {
      while (!ended)
        for (const char* name : {"one", "two"}) (void)::prctl(PR_SET_NAME, name);
    });
  wait_for_end_of_input();
  ended = true;
  for (std::thread& thread : threads) thread.join();
  return 0;
}

}  // namespace rdtd::bench
