// rdtd-bench: the loads of the measurements, and the least that could do rdtd's work.
//
//   listen FILE [comm]           the bare floor: rdtd's own connector, the same filter and buffer,
//   and nothing
//                                between an exec event and a write to FILE; with comm, a look at
//                                the name of the process. Runs as it was scheduled; prints "ready"
//   start LINK COUNT GAP         COUNT programs started as LINK, GAP microseconds between two; they
//   wait. Prints
//                                "started", and ends them when its input ends
//   steady LINK COUNT GROUP      COUNT programs started as LINK one after the other, for a resctrl
//   group: each looks
//                                at its own cpu_resctrl_groups as fast as it can from its first
//                                instruction in main on. Prints the time of each until it reads the
//                                group, in microseconds, -1 where that takes more than 10 s
//   burst LINK COUNT GROUP       all at once; prints likewise. Each looks once a millisecond
//   rename THREADS               threads that rename themselves until the input ends
//   supervise LOG COMMAND...     the command as a service manager runs it: writes "NANOSECONDS
//   start PID", and each of
//                                its notifications, to LOG. SIGHUP is handed over, and written as
//                                "reload"
//   scan                         opens, reads and closes /proc/PID/comm of each process
#include <cstdio>
#include <string_view>
#include <utility>

#include "jobs.hpp"

int main(int argc, char** argv) {
  using namespace rdtd::bench;
  using Job = int (*)(Arguments);
  constexpr std::pair<std::string_view, Job> jobs[] = {
      {"listen", listen},  {"start", start},         {"wait", wait_as_child},
      {"steady", measure}, {"burst", measure},       {"look", look_as_child},
      {"rename", rename},  {"supervise", supervise}, {"scan", scan}};
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const auto& [job_name, job] : jobs)
    if (job_name == name) return job(Arguments(argv + 1, argv + argc));
  std::fputs("rdtd-bench: see the head of tests/bench/main.cpp\n", stderr);
  return 64;
}
