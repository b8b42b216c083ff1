// Waiting while something is measured: for a process, for an interruption, and for the end of the
// lease without which the measurement has no meaning.
#pragma once

#include <signal.h>

#include <expected>
#include <vector>

#include "bench_process.hpp"
#include "rdtd/base/unique_fd.hpp"

namespace rdtd {

enum class Ended { process, interrupted, lease, timeout };

// From its construction on, SIGINT, SIGTERM, SIGHUP and SIGQUIT end nothing but the waiting.
class WatchedRun {
 public:
  WatchedRun();
  ~WatchedRun();  // from then on they have their effect again
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

  // process: may be nullptr; lease: may hold none; timeout: -1 for none.
  [[nodiscard]] Ended wait(const bench::Process* process, const UniqueFd& lease, int timeout_ms);
  // Waits, or prints why that makes no sense; the error is the exit code.
  [[nodiscard]] std::expected<void, int> pause(double seconds, const UniqueFd& lease);
  // Why a measurement ended that should not have: prints it and returns the exit code, of an
  // interruption 128 + SIGNAL as a shell's.
  [[nodiscard]] int stopped(Ended ended) const;
  [[nodiscard]] bool interrupted() const { return signal_ != 0; }

 private:
  UniqueFd signals_;
  sigset_t before_{};
  unsigned signal_ = 0;
};

}  // namespace rdtd
