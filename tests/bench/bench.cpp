// rdtd-bench: how long a process is outside its group after exec, with rdtd and with the least that
// could do it.
//
//   rdtd-bench listen GROUP             the bare floor: rdtd's own connector, the same filter and
//   buffer, and nothing between
//                                       an exec event and a write to the group's tasks
//   rdtd-bench steady LINK COUNT GROUP  COUNT children started as LINK one after the other; prints
//   each one's latency rdtd-bench burst LINK COUNT GROUP   all at once; prints likewise
//
// A child looks at its own cpu_resctrl_groups as fast as it can from its first instruction in main
// on; its latency is the time until it reads the group, in microseconds, -1 where that takes more
// than 10 s.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/proc/connector.hpp"
#include "rdtd/resctrl/tree.hpp"

namespace {

constexpr double patience = 10e6;  // microseconds

double now_usec() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

int listen(const std::string& group) {
  const auto tree = rdtd::Tree::open("/sys/fs/resctrl");
  const auto tasks = tree ? tree->filesystem().open_tasks(group) : std::unexpected(tree.error());
  auto connector = rdtd::Connector::open(rdtd::Connector::Events::exec, 8 << 20, true);
  if (!tasks || !connector || !connector->subscribe(std::chrono::seconds(2))) return 1;
  const sched_param first{1};
  if (::sched_setscheduler(0, SCHED_FIFO, &first) < 0) return 1;
  std::vector<rdtd::ProcEvent> events;
  while (true) {
    events.clear();
    (void)connector->receive(events);
    for (const rdtd::ProcEvent& event : events)
      if (event.kind == rdtd::ProcEvent::Kind::exec) (void)(*tasks)->add(event.pid);
  }
}

int child(const std::string& group, int result_fd, size_t index, bool polite) {
  const double begin = now_usec();
  const std::string wanted = "res:" + group + "\n";
  std::array<char, 512> text{};
  const int fd = ::open("/proc/self/cpu_resctrl_groups", O_RDONLY | O_CLOEXEC);
  double latency = -1;
  while (now_usec() - begin < patience) {
    const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
    if (n > 0 && std::string_view(text.data(), static_cast<size_t>(n)).starts_with(wanted)) {
      latency = now_usec() - begin;
      break;
    }
    // In a burst thousands look at once; they must not keep each other, and the listener, from
    // running.
    if (polite) ::usleep(1000);
  }
  return ::pwrite(result_fd, &latency, sizeof latency,
                  static_cast<off_t>(index * sizeof latency)) == sizeof latency
             ? 0
             : 1;
}

int measure(const char* link, size_t count, const char* group, bool burst) {
  const int results = ::memfd_create("results", 0);  // inherited
  for (size_t i = 0; i < count; i++) {
    const std::string fd = std::to_string(results), index = std::to_string(i);
    const pid_t pid = ::vfork();
    if (pid == 0) {
      ::execl(link, link, "child", group, fd.c_str(), index.c_str(), burst ? "polite" : "eager",
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

}  // namespace

int main(int argc, char** argv) {
  const std::string_view job = argc > 1 ? argv[1] : "";
  if (job == "listen" && argc == 3) return listen(argv[2]);
  if (job == "child" && argc == 6)
    return child(argv[2], std::atoi(argv[3]), std::strtoul(argv[4], nullptr, 10),
                 std::strcmp(argv[5], "polite") == 0);
  if ((job == "steady" || job == "burst") && argc == 5)
    return measure(argv[2], std::strtoul(argv[3], nullptr, 10), argv[4], job == "burst");
  fmt::print(stderr, "rdtd-bench: see the head of tests/bench/bench.cpp\n");
  return 64;
}
