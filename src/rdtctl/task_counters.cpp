#include "task_counters.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <utility>

#include "file_limit.hpp"

namespace rdtd {

CpuSeconds cpu_seconds_of(std::span<const pid_t> tasks, const std::string& proc) {
  CpuSeconds out;
  for (const pid_t task : tasks) {
    double nanoseconds = 0;
    if (std::ifstream(fmt::format("{}/{}/schedstat", proc, task)) >> nanoseconds)
      out.emplace(task, nanoseconds * 1e-9);
  }
  return out;
}

UsedMeanwhile used_between(const CpuSeconds& before, const CpuSeconds& after) {
  UsedMeanwhile out;
  size_t stayed = 0;
  for (const auto& [task, seconds] : after) {
    const auto found = before.find(task);
    // The number of one that has ended may have gone to another.
    if (found == before.end() || found->second > seconds) continue;
    ++stayed;
    out.seconds += seconds - found->second;
  }
  out.came = after.size() - stayed;
  out.others = before.size() - stayed + out.came;
  return out;
}

TaskCounters::TaskCounters(std::span<const pid_t> tasks, const PerfEvent& event) {
  for (const pid_t task : tasks) {
    auto opened = PerfEvents::open({&event, 1}, task);
    if (!opened && opened.error().code == EMFILE && raise_file_limit())
      opened = PerfEvents::open({&event, 1}, task);
    if (opened) {
      counters_.push_back(std::move(*opened));
    } else if (opened.error().code == ESRCH) {  // it has ended
      continue;
    } else {
      ++refused_;
      why_ = opened.error().text();
    }
    ++all_;
  }
}

double TaskCounters::count() {
  double out = 0;
  for (const PerfEvents& counter : counters_) {
    if (const auto counts = counter.read()) {
      out += counts->front();
    } else {
      ++refused_;
      why_ = counts.error().text();
    }
  }
  return out;
}

std::string TaskCounters::missing() const {
  if (refused_ == 0) return "";
  return fmt::format("{} of {} tasks were not counted: {}.", refused_, all_, why_);
}

}  // namespace rdtd
