#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include "jobs.hpp"
#include "rdtd/base/unique_fd.hpp"

namespace rdtd::bench {

namespace {

void write_line(int log, std::string_view event) {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::string line = fmt::format("{}{:09} {}\n", now.tv_sec, now.tv_nsec, event);
  (void)!::write(log, line.data(), line.size());
}

// The socket of NOTIFY_SOCKET, of sd_notify(3); its name is in no file system.
UniqueFd open_notify_socket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const std::string name = fmt::format("rdtd-bench/{}", ::getpid());
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) < 0) return {};
  (void)::setenv("NOTIFY_SOCKET", ("@" + name).c_str(), 1);
  return fd;
}

}  // namespace

int supervise(Arguments arguments) {
  if (arguments.size() < 3) return 64;
  const UniqueFd log(::open(arguments[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  const UniqueFd notified = open_notify_socket();
  if (!log || !notified) return 1;
  sigset_t signals;
  (void)::sigemptyset(&signals);
  for (const int signal : {SIGHUP, SIGTERM, SIGCHLD}) (void)::sigaddset(&signals, signal);
  (void)::sigprocmask(SIG_BLOCK, &signals, nullptr);
  const UniqueFd signalled(::signalfd(-1, &signals, SFD_CLOEXEC));
  // As in the unit: it decides how often the daemon wakes up.
  (void)::setenv("WATCHDOG_USEC", "30000000", 1);
  const pid_t child = ::vfork();
  if (child == 0) {
    (void)::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
    ::execv(arguments[2], &arguments[2]);
    ::_exit(127);
  }
  if (child < 0) return 1;
  write_line(log.get(), fmt::format("start {}", child));
  while (true) {
    std::array<pollfd, 2> waiting{{{.fd = notified.get(), .events = POLLIN, .revents = 0},
                                   {.fd = signalled.get(), .events = POLLIN, .revents = 0}}};
    (void)::poll(waiting.data(), waiting.size(), -1);
    if (waiting[0].revents != 0) {
      std::array<char, 1024> text;
      const ssize_t n = ::recv(notified.get(), text.data(), text.size(), 0);
      for (ssize_t i = 0; i < n; i++)
        if (text[static_cast<size_t>(i)] == '\n') text[static_cast<size_t>(i)] = ' ';
      if (n > 0) write_line(log.get(), {text.data(), static_cast<size_t>(n)});
    }
    signalfd_siginfo signal{};
    if (waiting[1].revents == 0 || ::read(signalled.get(), &signal, sizeof signal) < 0) continue;
    if (signal.ssi_signo == SIGCHLD) {
      // It comes when the child is stopped, too.
      int status = 0;
      if (::waitpid(child, &status, WNOHANG) != child) continue;
      write_line(log.get(), fmt::format("end {}", status));
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (signal.ssi_signo == SIGHUP) write_line(log.get(), "reload");
    (void)::kill(child, static_cast<int>(signal.ssi_signo));
  }
}

}  // namespace rdtd::bench
