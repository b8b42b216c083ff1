// Processes: the proc::Processes of processes made of plain values, whose threads are tasks of a
// fake::Kernel. Test code starts, forks and ends them; the code under test sees them through the
// interface, where every call is counted and recorded, and can be made to fail.
//
//   fake::Processes processes(kernel);
//   const pid_t redis = processes.start({.exe = "/usr/bin/redis-server"});
//   processes.calls.hook = [&](const fake::Call& call) {
//     if (call.number == 3) processes.clone(redis);  // a thread begins between two calls
//   };
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fake/calls.hpp"
#include "fake/kernel.hpp"
#include "rdtd/proc/processes.hpp"

namespace rdtd::fake {

// The arguments of exec, and where the process is.
struct Program {
  std::string exe = "/usr/bin/true";  // "" for a kernel thread
  std::string name;                   // "": the last part of exe, at most 15 bytes
  std::string cmdline;                // "": exe
  std::string cgroup = "/";
  ContainerNames container;  // as far as they are known
  Identity identity;
};

struct Thread {
  pid_t tid = 0;
  std::string name;
  uint64_t serial = 0;  // never used again, unlike the tid
};

struct ProcessState {
  pid_t pid = 0;
  pid_t parent = 0;
  uint64_t start_time = 0;
  Program program;              // its name is that of the first thread
  std::vector<Thread> threads;  // the first has the pid
  bool first_ended = false;     // the first thread has ended, others have not
};

class Processes final : public proc::Processes {
 public:
  // The Kernel must outlive this.
  explicit Processes(Kernel& kernel) : kernel_(kernel) {}

  [[nodiscard]] Result<std::unique_ptr<proc::Process>> open(pid_t pid) const override;
  [[nodiscard]] Result<pid_t> process_of(pid_t tid) const override;
  [[nodiscard]] bool is_alone(pid_t pid) const override;
  [[nodiscard]] Result<std::vector<pid_t>> list() const override;

  // For test code; not counted. A tid names its thread, and any thread of a process the process.
  pid_t start(Program program = {}, pid_t parent = 0);  // in the default group
  // A new process, or a new thread of the same process, in the group of thread `tid`.
  pid_t fork(pid_t tid);
  pid_t clone(pid_t tid, std::string name = {});
  // Ends all other threads. The calling thread gets the pid, and stays in its group.
  void exec(pid_t tid, Program program);
  void rename(pid_t tid, std::string name);
  // A first thread that ends before the others stays visible until they have ended too.
  void exit_thread(pid_t tid);
  void exit(pid_t pid);
  // The process that a thread belongs to; nullptr if there is none.
  [[nodiscard]] ProcessState* find(pid_t tid);

  pid_t next_pid = 1000;         // of the next thread; set it to use a pid again
  uint64_t now = 1;              // the start time of the next process
  bool reports_groups = true;    // false: no cpu_resctrl_groups
  bool reports_children = true;  // false: no CONFIG_PROC_CHILDREN
  mutable Calls calls;

 private:
  class Opened;
  [[nodiscard]] pid_t take_pid();
  [[nodiscard]] const ProcessState* find_alive(pid_t tid, uint64_t serial) const;
  void end(pid_t pid);

  Kernel& kernel_;
  std::map<pid_t, ProcessState> processes_;
  uint64_t next_serial_ = 0;
};

}  // namespace rdtd::fake
