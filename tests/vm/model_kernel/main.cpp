// model-kernel: gives the same random commands to a mounted resctrl and to the model kernel of the
// unit tests, and compares every result, and every file and directory after each command.
//
//   model-kernel PATH SEED COMMANDS
//
// The mount must be fresh. Not compared: the values of counters, the order of ids in `tasks`, ids
// of processes that this program did not start, inodes, and the texts of last_cmd_status on
// kernels other than the one whose texts the model has (see model_knows_status_texts).
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "commands.hpp"
#include "fake/kernel.hpp"
#include "machine_reader.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/kernel.hpp"

namespace rdtd::fake {
namespace {

// The kernel looks once a second whether the RMIDs of removed groups can be used again.
constexpr auto limbo_time = std::chrono::milliseconds(1100);
constexpr int busy_attempts = 10;

class Comparison {
 public:
  Comparison(resctrl::Filesystem& real, Kernel& model, unsigned seed)
      : real_(real), model_(model), generator_(seed) {
    model_.resctrl.add_task(::getpid());
    model_.resctrl.writer = ::getpid();
    for (int i = 0; i < 4; i++) fork_child();
  }
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;
  ~Comparison() {
    for (const pid_t child : children_) kill_child(child);
  }

  // False after the first difference, which it prints.
  bool step() {
    const Command command = generator_.next(model_.resctrl, children_);
    history_.push_back(command.shown());
    const std::string real = perform(command, real_, real_tasks_);
    const std::string model = perform(command, model_, model_tasks_);
    change_machine(command);
    model_.resctrl.end_limbo();
    model_.calls.reset();
    return same("the result", real, model) && same_tree("");
  }

  // Both are left with the default group alone.
  void clean() {
    const auto entries = real_.list("");
    for (const auto& entry : *entries)
      if (model_.resctrl.find(entry.name) != nullptr) (void)real_.remove(entry.name);
    for (const unsigned cpu : model_.resctrl.machine.cpus)
      if (!model_.resctrl.online.contains(cpu)) set_online(cpu, true);
  }

 private:
  using Tasks = std::unique_ptr<resctrl::Tasks>;

  std::string perform(const Command& command, resctrl::Filesystem& filesystem, Tasks& tasks) {
    using Kind = Command::Kind;
    switch (command.kind) {
      case Kind::make: return make(filesystem, command.path);
      case Kind::remove: return outcome(filesystem.remove(command.path));
      case Kind::read: return contents(filesystem, command.path);
      case Kind::list: return names(filesystem, command.path);
      case Kind::write: return outcome(filesystem.write(command.path, command.text));
      case Kind::open_tasks: {
        auto opened = filesystem.open_tasks(command.path);
        if (!opened) return opened.error().text();
        tasks = *std::move(opened);
        return "done";
      }
      case Kind::add: return tasks ? fmt::format("errno {}", tasks->add(command.tid)) : "";
      default: return {};
    }
  }

  static std::string outcome(const Result<void>& result) {
    return result ? "done" : result.error().text();
  }

  static std::string make(resctrl::Filesystem& filesystem, const std::string& path) {
    auto made = filesystem.make(path);
    for (int i = 0; i < busy_attempts && !made && made.error().code == EBUSY; i++) {
      std::this_thread::sleep_for(limbo_time);
      made = filesystem.make(path);
    }
    return outcome(made);
  }

  // Changes of the machine, which is one for both.
  void change_machine(const Command& command) {
    using Kind = Command::Kind;
    if (command.kind == Kind::fork) fork_child();
    if (command.kind == Kind::kill) {
      kill_child(command.tid);
      std::erase(children_, command.tid);
      model_.resctrl.remove_task(command.tid);
    }
    if (command.kind == Kind::offline) {
      set_online(command.cpu, false);
      model_.resctrl.take_offline(command.cpu);
    }
    if (command.kind == Kind::online) {
      set_online(command.cpu, true);
      model_.resctrl.bring_online(command.cpu);
    }
  }

  void fork_child() {
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("cannot fork");
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true) ::pause();
    }
    children_.push_back(child);
    model_.resctrl.add_task(child, ::getpid());
  }

  static void kill_child(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  static void set_online(unsigned cpu, bool online) {
    std::ofstream file(fmt::format("/sys/devices/system/cpu/cpu{}/online", cpu));
    file << (online ? '1' : '0') << std::flush;
    if (!file) throw std::runtime_error(fmt::format("cannot change CPU {}", cpu));
  }

  [[nodiscard]] std::string contents(const resctrl::Filesystem& filesystem,
                                     const std::string& path) const {
    const auto text = filesystem.read(path);
    if (!text) return text.error().text();
    if (path.ends_with("_occupancy") || path.ends_with("_bytes")) return "a counter";
    if (path == "info/last_cmd_status" && !model_knows_status_texts()) return "a status";
    if (path != "tasks" && !path.ends_with("/tasks")) return *text;
    std::vector<uint32_t> ids;
    for (const std::string_view line : split(*text, '\n')) {
      const auto id = parse_unsigned<uint32_t>(line);
      if (id && model_.resctrl.tasks.contains(static_cast<pid_t>(*id))) ids.push_back(*id);
    }
    std::ranges::sort(ids);
    return fmt::format("{}\n", fmt::join(ids, "\n"));
  }

  static std::string names(const resctrl::Filesystem& filesystem, const std::string& path) {
    const auto entries = filesystem.list(path);
    if (!entries) return entries.error().text();
    std::string out;
    for (const auto& entry : *entries) out += entry.name + (entry.is_directory ? "/ " : " ");
    return out;
  }

  bool same_tree(const std::string& directory) {
    if (!same("the entries of /" + directory, names(real_, directory), names(model_, directory)))
      return false;
    const auto entries = model_.resctrl.list(directory);
    for (const auto& entry : *entries) {
      const std::string path = directory + (directory.empty() ? "" : "/") + entry.name;
      // Each read of a counter interrupts a CPU; single commands read some.
      if (entry.name.starts_with("mon_L3")) continue;
      if (entry.is_directory ? !same_tree(path)
                             : !same(path, contents(real_, path), contents(model_, path)))
        return false;
    }
    return true;
  }

  bool same(const std::string& subject, const std::string& real, const std::string& model) const {
    if (real == model) return true;
    fmt::print("after {} commands, {} differs\n  kernel: {}\n  model:  {}\ncommands:\n",
               history_.size(), subject, escaped(real), escaped(model));
    for (const std::string& command : history_) fmt::print("  {}\n", command);
    return false;
  }

  resctrl::Filesystem& real_;
  Kernel& model_;
  Generator generator_;
  Tasks real_tasks_;
  Tasks model_tasks_;
  std::vector<pid_t> children_;
  std::vector<std::string> history_;
};

int compare(const std::string& path, unsigned seed, unsigned commands) {
  auto real = resctrl::Kernel::open(path);
  if (!real) throw std::runtime_error(real.error().text());
  Kernel model(read_machine(**real), path);
  Comparison comparison(**real, model, seed);
  bool agree = true;
  for (unsigned i = 0; agree && i < commands; i++) agree = comparison.step();
  comparison.clean();
  if (agree) fmt::print("{} commands, no difference\n", commands);
  return agree ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace rdtd::fake

int main(int argc, char** argv) try {
  const auto number = [&](int i) { return rdtd::parse_unsigned<unsigned>(argv[i]); };
  if (argc != 4 || !number(2) || !number(3)) {
    fmt::print(stderr, "usage: model-kernel PATH SEED COMMANDS\n");
    return 64;
  }
  return rdtd::fake::compare(argv[1], *number(2), *number(3));
} catch (const std::exception& error) {
  fmt::print(stderr, "model-kernel: {}\n", error.what());
  return 70;
}
