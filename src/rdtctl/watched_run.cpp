#include "watched_run.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <iterator>

#include "context.hpp"
#include "print.hpp"

namespace rdtd {

WatchedRun::WatchedRun() {
  sigset_t set;
  (void)::sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction before{};
    (void)::sigaction(number, nullptr, &before);
    // Blocked signals reach the descriptor even if they are ignored, as SIGHUP under nohup.
    if (before.sa_handler != SIG_IGN) (void)::sigaddset(&set, number);
  }
  (void)::sigprocmask(SIG_BLOCK, &set, &before_);
  signals_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

WatchedRun::~WatchedRun() { (void)::sigprocmask(SIG_SETMASK, &before_, nullptr); }

Ended WatchedRun::wait(const bench::Process* process, const UniqueFd& lease, int timeout_ms) {
  pollfd watched[] = {{process == nullptr ? -1 : process->descriptor(), POLLIN, 0},
                      {signals_.get(), POLLIN, 0},
                      {lease ? lease.get() : -1, 0, 0}};
  if (::poll(watched, std::size(watched), timeout_ms) <= 0) return Ended::timeout;
  if (watched[1].revents != 0) {
    signalfd_siginfo received{};
    if (::read(signals_.get(), &received, sizeof received) == sizeof received)
      signal_ = received.ssi_signo;
    return Ended::interrupted;
  }
  return watched[2].revents != 0 ? Ended::lease : Ended::process;
}

std::expected<void, int> WatchedRun::pause(double seconds, const UniqueFd& lease) {
  const Ended ended = wait(nullptr, lease, static_cast<int>(seconds * 1000));
  if (ended == Ended::timeout) return {};
  return std::unexpected(stopped(ended));
}

int WatchedRun::stopped(Ended ended) const {
  if (ended == Ended::interrupted) return 128 + static_cast<int>(signal_);
  note("rdtctl: the daemon has ended the lease: 'journalctl -u rdtd' shows why\n");
  return Exit::failed;
}

}  // namespace rdtd
