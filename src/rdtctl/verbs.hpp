// The verbs, each in the file of its name; verb_table.cpp has their options. A verb prints data on
// standard output and notes on standard error, and returns rdtctl's exit status.
#pragma once

#include <sys/types.h>

#include <climits>
#include <optional>
#include <string>
#include <vector>

#include "context.hpp"
#include "lease_text.hpp"
#include "rdtd/rules/explain.hpp"
#include "workload.hpp"

namespace rdtd::verbs {

int adopt(const Context& context, const std::vector<std::string>& groups);
int apply(const Context& context);
// `force`: also the service manager and kernel threads.
int assign(const Context& context, const std::string& group, const std::vector<pid_t>& pids,
           bool force);
int assign_unit(const Context& context, const std::string& group, const std::string& unit,
                bool runtime);
struct BenchOptions {
  std::string group, noise_group, html;
  std::string pseudo_lock;
  LeaseGroup lease;  // amounts: a group of its own
  size_t rounds = 9;
  unsigned streams = 0;
  std::vector<std::string> noise_commands;  // for the shell
  Workload workload;
};
int bench(const Context& context, BenchOptions options);
// Of each domain, measured for so long.
int ceiling(const Context& context, double seconds);
int cat_config(const Context& context);
int check(const Context& context, const std::vector<std::string>& files);  // none: the machine's
// After a load: its warnings, which the daemon only logs. For root, who can read all files.
void check_loaded(const Context& context);
int completion(const std::string& shell);
int doctor(const Context& context);
// `file`: in /etc/rdtd; "": the only one there.
int edit(const Context& context, const std::string& file);
int events(const Context& context, size_t most);  // 0: until interrupted
int explain(const Context& context, std::optional<pid_t> pid,
            const std::string& unit);  // one of the two
int explain_guard(const Context& context);
int explain_described(const Context& context, ProcessDescription process);
// Where samples come from, and of which time.
struct RecordingSource {
  std::string file;          // "": what rdtd-observer keeps
  std::string since, until;  // "": without a limit
  bool has_group = false;    // the verb takes -g
};
struct BlameOptions {
  RecordingSource source;
  std::string group;  // "" for all
};
int blame(const Context& context, const BlameOptions& options);
struct HistoryOptions {
  RecordingSource source;
  std::string group, html;  // group: "" for all
};
int history(const Context& context, const HistoryOptions& options);
// Prints what the guard of the policy files would have done.
int replay(const Context& context, const RecordingSource& source);
int import(const Context& context);
int import_from(const std::string& path);  // "-": standard input
struct InitOptions {
  std::vector<std::string> protect;  // units; none: they are asked for
  bool yes = false;
};
int init(const Context& context, const InitOptions& options);
int info(const Context& context);
int layout(const Context& context);
int list(const Context& context, bool only_names);
int metrics(const Context& context, const std::string& file);  // "": standard output
// `files`: a policy of their own; none: the machine's.
int plan(const Context& context, const std::vector<std::string>& files, bool detailed_exitcode,
         bool unified);
// Prints the grants of a plan, and its changes.
void print_planned(const Context& context, const Planned& planned);
struct RecordOptions {
  std::string file;
  double seconds = 0;  // 0: until interrupted
  double interval = 1;
  std::vector<std::string> command;  // is recorded until it ends; empty: none
};
int record(const Context& context, const RecordOptions& options);
int reload(const Context& context);
int reset(const Context& context);
// `cpus`: where the command may run; empty: anywhere.
int run(const Context& context, const std::string& group, const CpuSet& cpus,
        std::vector<std::string> command);
// The command gets a group of its own, whose name is chosen here.
// `wait_seconds`: how long it waits for a free CLOSID or RMID.
int run_leased(LeaseGroup group, const CpuSet& cpus, double wait_seconds,
               std::vector<std::string> command);
int show(const Context& context, const std::string& group, bool measure,
         bool is_verb);  // is_verb: there is a verb of the name
int snapshot(const Context& context, const std::string& directory);
int status(const Context& context, bool rules, bool verify);

struct SuggestOptions {
  std::string group;
  bool bandwidth = false;            // instead of ways
  unsigned from = 1, to = UINT_MAX;  // ways
  double seconds = 2;                // each measurement of running tasks
  unsigned repeats = 9;              // of each amount
  Workload workload;                 // none: the tasks that run in the group
  bool traffic = false;              // instead of the workload's number
  std::optional<double> max_loss;    // percent
  bool lower_is_better = false;      // the number of a metric
  std::string html;
};
int suggest(const Context& context, SuggestOptions options);

struct TopOptions {
  double interval = 2;  // seconds
  std::string sort = "occupancy";
  bool domains = false;
  unsigned tables = 0;  // to print one after the other; 0: a screen on a terminal, else one
  std::string play;     // a file of `record` instead of this machine; empty: none
};
int top(const Context& context, const TopOptions& options);
int watch(const Context& context, std::optional<pid_t> pid, const std::string& unit,
          const TopOptions& options);  // one of the two

[[nodiscard]] std::vector<std::string> top_columns();
[[nodiscard]] std::vector<std::string> completion_shells();

}  // namespace rdtd::verbs
