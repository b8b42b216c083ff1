#include "fake/processes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rdtd::fake {

namespace {

constexpr size_t longest_name = 15;

std::string path_of(pid_t pid, const char* file = "") {
  return fmt::format("/proc/{}{}", pid, file);
}

Program completed(Program program) {
  if (program.name.empty()) program.name = program.exe.substr(program.exe.rfind('/') + 1);
  program.name = program.name.substr(0, longest_name);
  if (program.cmdline.empty()) program.cmdline = program.exe;
  return program;
}

const Thread* find_thread(const ProcessState& process, pid_t tid) {
  const auto thread = std::ranges::find(process.threads, tid, &Thread::tid);
  return thread == process.threads.end() ? nullptr : &*thread;
}

// The process that a thread belongs to; most often that of its number.
auto find_process(auto& processes, pid_t tid) -> decltype(&processes.begin()->second) {
  if (const auto named = processes.find(tid);
      named != processes.end() && find_thread(named->second, tid) != nullptr)
    return &named->second;
  for (auto& [pid, process] : processes)
    if (find_thread(process, tid) != nullptr) return &process;
  return nullptr;
}

}  // namespace

// What open() returns: a thread by its serial number.
class Processes::Opened final : public proc::Process {
 public:
  Opened(const Processes& all, pid_t pid, uint64_t serial)
      : all_(all), pid_(pid), serial_(serial) {}

  [[nodiscard]] pid_t pid() const override { return pid_; }

  [[nodiscard]] Result<std::string> read_name() const override {
    return ask<std::string>(
        "read_name", [&](const ProcessState& process) { return find_thread(process, pid_)->name; });
  }

  [[nodiscard]] Result<uid_t> owner() const override {
    return ask<uid_t>("owner",
                      [](const ProcessState& process) { return process.program.identity.uid; });
  }

  [[nodiscard]] Result<void> read(Fact fact, ProcessFacts& facts) const override {
    static constexpr std::array names = {"name",      "exe",     "cgroup",
                                         "container", "cmdline", "identity"};
    const auto filled = ask<bool>(
        "read",
        [&](const ProcessState& process) {
          const Program& program = process.program;
          switch (fact) {
            case Fact::name: facts.name = find_thread(process, pid_)->name; break;
            case Fact::exe: facts.exe = program.exe; break;
            case Fact::cgroup: facts.cgroup = program.cgroup; break;
            case Fact::container: facts.container = program.container; break;
            case Fact::cmdline: facts.cmdline = program.cmdline; break;
            case Fact::identity:
              facts.identity = program.identity;
              if (program.identity.uid != 0) facts.identity->real_uid = program.identity.uid;
              break;
          }
          return true;
        },
        names.at(static_cast<size_t>(fact)));
    if (!filled) return std::unexpected(filled.error());
    return {};
  }

  [[nodiscard]] size_t thread_count() const override {
    const auto count = ask<size_t>(
        "thread_count", [](const ProcessState& process) { return process.threads.size(); });
    return count ? *count : proc::ended(count.error()) ? 0 : SIZE_MAX;
  }

  [[nodiscard]] Result<std::vector<pid_t>> threads() const override {
    return ask<std::vector<pid_t>>("threads", [](const ProcessState& process) {
      std::vector<pid_t> tids;
      for (const Thread& thread : process.threads) tids.push_back(thread.tid);
      return tids;
    });
  }

  [[nodiscard]] Result<std::string> read_thread_name(pid_t tid) const override {
    return ask<std::string>(
        "read_thread_name",
        [&](const ProcessState& process) -> Result<std::string> {
          const Thread* thread = find_thread(process, tid);
          if (thread == nullptr) return std::unexpected(no_thread(tid));
          return thread->name;
        },
        std::to_string(tid));
  }

  [[nodiscard]] Result<std::string> read_thread_group(pid_t tid) const override {
    return ask<std::string>(
        "read_thread_group",
        [&](const ProcessState& process) -> Result<std::string> {
          const Thread* thread = find_thread(process, tid);
          if (thread == nullptr) return std::unexpected(no_thread(tid));
          if (!all_.reports_groups)
            return std::unexpected(
                Error{"open", path_of(pid_, "/cpu_resctrl_groups"), ENOTSUP, {}});
          return all_.kernel_.resctrl.group_of(tid).value_or("");
        },
        std::to_string(tid));
  }

  [[nodiscard]] Result<proc::Status> read_status() const override {
    return ask<proc::Status>("read_status", [](const ProcessState& process) {
      return proc::Status{process.parent, process.program.identity};
    });
  }
  [[nodiscard]] Result<uint64_t> read_start_time() const override {
    return ask<uint64_t>("read_start_time",
                         [](const ProcessState& process) { return process.start_time; });
  }

  // All are those of the first thread.
  [[nodiscard]] Result<std::vector<pid_t>> children(std::span<const pid_t> threads) const override {
    return ask<std::vector<pid_t>>("children", [&](const ProcessState& process) {
      std::vector<pid_t> pids;
      if (!all_.reports_children || std::ranges::find(threads, pid_) == threads.end()) return pids;
      for (const auto& [pid, other] : all_.processes_)
        if (other.parent == process.pid) pids.push_back(pid);
      return pids;
    });
  }

 private:
  [[nodiscard]] Error no_thread(pid_t tid) const {
    return {"open", fmt::format("/proc/{}/task/{}", pid_, tid), ENOENT, {}};
  }

  // Counts a call and answers it, unless it is to fail or the process has ended.
  template <class T, class Question>
  Result<T> ask(const char* name, const Question& question, std::string argument = {}) const {
    const std::lock_guard guard(all_.kernel_.mutex);
    const auto failure = all_.calls.begin(name, std::to_string(pid_), std::move(argument));
    if (failure) return std::unexpected(Error{"read", path_of(pid_), failure->code, {}});
    const ProcessState* process = all_.find_alive(pid_, serial_);
    if (process == nullptr) return std::unexpected(Error{"read", path_of(pid_), ESRCH, {}});
    return question(*process);
  }

  const Processes& all_;
  pid_t pid_;
  uint64_t serial_;
};

Result<std::unique_ptr<proc::Process>> Processes::open(pid_t pid) const {
  const std::lock_guard guard(kernel_.mutex);
  const auto failure = calls.begin("open", std::to_string(pid));
  if (failure) return std::unexpected(Error{"open", path_of(pid), failure->code, {}});
  if (const ProcessState* process = find_process(processes_, pid))
    return std::make_unique<Opened>(*this, pid, find_thread(*process, pid)->serial);
  return std::unexpected(Error{"open", path_of(pid), ENOENT, {}});
}

Result<pid_t> Processes::process_of(pid_t tid) const {
  const std::lock_guard guard(kernel_.mutex);
  if (const auto failure = calls.begin("process_of", std::to_string(tid)))
    return std::unexpected(Error{"list", path_of(tid), failure->code, {}});
  if (const ProcessState* process = find_process(processes_, tid)) return process->pid;
  return std::unexpected(Error{"list", path_of(tid), ENOENT, {}});
}

bool Processes::is_alone(pid_t pid) const {
  const std::lock_guard guard(kernel_.mutex);
  if (calls.begin("is_alone", std::to_string(pid))) return false;
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return true;
  const auto is_child = [&](const auto& entry) { return entry.second.parent == pid; };
  return found->second.threads.size() == 1 &&
         !(reports_children && std::ranges::any_of(processes_, is_child));
}

Result<std::vector<pid_t>> Processes::list() const {
  const std::lock_guard guard(kernel_.mutex);
  if (const auto failure = calls.begin("list", {}))
    return std::unexpected(Error{"list", "/proc", failure->code, {}});
  std::vector<pid_t> pids;
  for (const auto& [pid, process] : processes_) pids.push_back(pid);
  return pids;
}

ProcessState* Processes::find(pid_t tid) { return find_process(processes_, tid); }

const ProcessState* Processes::find_alive(pid_t tid, uint64_t serial) const {
  const ProcessState* process = find_process(processes_, tid);
  return process != nullptr && find_thread(*process, tid)->serial == serial ? process : nullptr;
}

pid_t Processes::take_pid() {
  while (find(next_pid) != nullptr) next_pid++;
  return next_pid++;
}

pid_t Processes::start(Program program, pid_t parent) {
  const std::lock_guard guard(kernel_.mutex);
  const pid_t pid = take_pid();
  program = completed(std::move(program));
  std::vector<Thread> threads = {{pid, program.name, ++next_serial_}};
  processes_[pid] = {pid, parent, now++, std::move(program), std::move(threads)};
  kernel_.resctrl.add_task(pid);
  return pid;
}

pid_t Processes::fork(pid_t tid) {
  const std::lock_guard guard(kernel_.mutex);
  const ProcessState& parent = *find(tid);
  Program program = parent.program;
  program.name = find_thread(parent, tid)->name;
  const pid_t pid = start(std::move(program), parent.pid);
  kernel_.resctrl.add_task(pid, tid);
  return pid;
}

pid_t Processes::clone(pid_t tid, std::string name) {
  const std::lock_guard guard(kernel_.mutex);
  ProcessState& process = *find(tid);
  if (name.empty()) name = find_thread(process, tid)->name;
  const pid_t added = take_pid();
  process.threads.push_back({added, name.substr(0, longest_name), ++next_serial_});
  kernel_.resctrl.add_task(added, tid);
  return added;
}

void Processes::exec(pid_t tid, Program program) {
  const std::lock_guard guard(kernel_.mutex);
  ProcessState& process = *find(tid);
  const Task task = kernel_.resctrl.tasks.at(tid);
  for (const Thread& thread : process.threads) kernel_.resctrl.remove_task(thread.tid);
  kernel_.resctrl.tasks[process.pid] = task;
  process.program = completed(std::move(program));
  process.threads.resize(1);
  process.threads.front().name = process.program.name;
}

void Processes::rename(pid_t tid, std::string name) {
  const std::lock_guard guard(kernel_.mutex);
  std::ranges::find(find(tid)->threads, tid, &Thread::tid)->name = name.substr(0, longest_name);
}

void Processes::exit_thread(pid_t tid) {
  const std::lock_guard guard(kernel_.mutex);
  ProcessState& process = *find(tid);
  if (tid == process.pid) {
    process.first_ended = true;
  } else {
    std::erase_if(process.threads, [&](const Thread& thread) { return thread.tid == tid; });
    kernel_.resctrl.remove_task(tid);
  }
  if (process.first_ended && process.threads.size() == 1) end(process.pid);
}

void Processes::exit(pid_t pid) {
  const std::lock_guard guard(kernel_.mutex);
  end(find(pid)->pid);
}

void Processes::end(pid_t pid) {
  for (const Thread& thread : processes_.at(pid).threads) kernel_.resctrl.remove_task(thread.tid);
  processes_.erase(pid);
  // Orphans become children of init, if there is one.
  for (auto& [id, process] : processes_)
    if (process.parent == pid) process.parent = processes_.contains(1) ? 1 : 0;
}

}  // namespace rdtd::fake
