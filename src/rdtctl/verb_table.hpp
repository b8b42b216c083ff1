// VerbTable: the verbs of rdtctl with their options and arguments, as CLI11 parses them. Each verb
// itself is in the file of its name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "verbs.hpp"

namespace rdtd {

class VerbTable {
 public:
  // `context` is complete by the time that a verb runs.
  VerbTable(CLI::App& app, const Context& context) : app_(app), context_(context) {}

  // In the order in which --help and rdtctl(1) list the verbs.
  void add_all();
  // The words after a "--" that precedes a command; empty without it.
  void set_command(std::vector<std::string> words) { command_ = std::move(words); }
  // The action of rdtctl without a verb.
  void run_default();
  // Behind the error about an unknown verb, if it is a group: "; of the group: ...".
  [[nodiscard]] std::string hint() const;
  // Of the verb that ran.
  [[nodiscard]] int exit() const { return exit_; }

 private:
  // The arguments of the verb that is given.
  struct Arguments {
    std::string group, unit, file, directory, shell, verb;
    std::vector<std::string> files, groups;
    std::vector<pid_t> pids;
    std::optional<pid_t> pid;
    bool rules = false, verify = false, names = false, detailed_exitcode = false, unified = false,
         measure = false, runtime = false, force = false, guard = false, replay = false,
         ceiling = false;
    verbs::TopOptions top;
    unsigned events = 0;  // to print; 0: until interrupted
    verbs::SuggestOptions suggest;
    std::string ways, cpu_list;
    double wait = 0;  // seconds
    CpuSet cpus;
    LeaseGroup lease;
    ProcessDescription process;
    verbs::BenchOptions bench;
    verbs::RecordOptions record;
    verbs::HistoryOptions history;
    verbs::BlameOptions blame;
    verbs::InitOptions init;
    std::vector<std::string> noise;
  };

  void add_groups();
  void add_interval(CLI::App& verb);
  void add_explain();
  int explain();
  int assign();
  void add_suggest();
  int suggest(const CLI::App& verb);
  void add_watch();
  void add_recording();
  void add_history();
  void add_blame();
  void add_source(CLI::App& verb, verbs::RecordingSource& source);
  void add_machine();
  void add_policy();
  void add_writing();
  void add_copies();
  void add_control();
  void add_assignment();
  void add_run();
  // --l2, --l3, --mb and --smba of a group of the command's own.
  static void add_amounts(CLI::App& verb, LeaseGroup& group, const std::string& description);
  void add_bench();
  void add_bench_noise(CLI::App& bench);
  int bench(const CLI::App& verb);
  void add_others();
  void add_group_option(CLI::App& verb, const char* description);
  // A verb with the example that its help ends with.
  CLI::App& add(const char* name, const char* description, const char* example,
                const std::function<int()>& verb);
  // A verb that asks the daemon, or changes this machine.
  CLI::App& add_live(const char* name, const char* description, const char* example,
                     const std::function<int()>& verb);
  void check_live(const std::string& verb) const;
  void check_no_json(const std::string& verb, const std::string& form) const;

  CLI::App& app_;
  const Context& context_;
  std::vector<std::string> command_;
  std::string group_;  // that verbs are added to
  Arguments given_;
  int exit_ = Exit::ok;
};

}  // namespace rdtd
