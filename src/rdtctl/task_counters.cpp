#include "task_counters.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <fstream>
#include <utility>

namespace rdtd {

namespace {

// To what an administrator allows. False if it is there already.
bool raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace

double cpu_seconds_of(std::span<const pid_t> tasks, const std::string& proc) {
  double out = 0;
  for (const pid_t task : tasks) {
    double nanoseconds = 0;
    if (std::ifstream(fmt::format("{}/{}/schedstat", proc, task)) >> nanoseconds)
      out += nanoseconds * 1e-9;
  }
  return out;
}

TaskCounters::TaskCounters(std::span<const pid_t> tasks, const PerfEvent& event) {
  for (const pid_t task : tasks) {
    auto opened = PerfEvents::open({&event, 1}, task);
    if (!opened && opened.error().code == EMFILE && raise_file_limit())
      opened = PerfEvents::open({&event, 1}, task);
    if (opened) {
      counters_.push_back(std::move(*opened));
    } else if (opened.error().code != ESRCH) {  // else it has ended
      ++refused_;
      why_ = opened.error().text();
    }
  }
}

double TaskCounters::count() const {
  double out = 0;
  for (const PerfEvents& counter : counters_)
    if (const auto counts = counter.read()) out += counts->front();
  return out;
}

std::string TaskCounters::missing() const {
  if (refused_ == 0) return "";
  return fmt::format("{} of {} tasks were not counted: {}.", refused_, refused_ + counters_.size(),
                     why_);
}

}  // namespace rdtd
