// watch: counts what a process or a unit uses, whatever group it is in: in a monitoring group of
// its own below that group, which ends with the view.
#include <fmt/format.h>
#include <sys/types.h>

#include <csignal>
#include <memory>

#include "interruption.hpp"
#include "rdtd/proc/proc_fs.hpp"
#include "unit_processes.hpp"
#include "usage_view.hpp"
#include "watch_groups.hpp"

namespace rdtd {

int verbs::watch(const Context& context, std::optional<pid_t> pid, const std::string& unit,
                 const TopOptions& options) {
  auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  if (!monitors(context, *tree)) return Exit::no_resctrl;
  auto directory = Directory::open(context.proc);
  if (!directory) return report(directory.error());
  const proc::ProcFs processes(std::move(*directory));
  // It stays open, so that no other process can take its place.
  const auto one = pid ? processes.open(*pid) : Result<std::unique_ptr<proc::Process>>();
  const auto watched = [&]() -> Result<std::vector<pid_t>> {
    if (!pid) return processes_of_unit(context, complete_unit_name(unit));
    return one && (*one)->read_name() ? std::vector{*pid} : std::vector<pid_t>{};
  };
  const auto first = watched();
  if (!first) return report(first.error());
  if (first->empty()) {
    note("rdtctl: {}\n",
         pid ? fmt::format("there is no process {}", *pid) : no_process_in(context, unit));
    return Exit::failed;
  }
  note_interruptions();
  (void)::signal(SIGPIPE, SIG_IGN);  // who reads the table may go before the groups are removed
  WatchGroups::remove_left_behind(tree->filesystem(), processes);
  auto own = Tree::open(context.resctrl);
  if (!own) return report(own.error());
  WatchGroups groups(own->filesystem(), processes);
  bool ended = false;
  UsageView::Subject subject;
  subject.verb = "watch";
  if (!pid) subject.unit = complete_unit_name(unit);
  subject.over = [&] { return ended || interrupted(); };
  subject.groups = [&]() -> Result<std::optional<std::set<std::string>>> {
    const auto pids = watched();
    if (!pids) return std::unexpected(pids.error());
    ended = pids->empty();
    if (auto put = groups.put(*pids); !put) return std::unexpected(put.error());
    return groups.directories();
  };
  const int exit = UsageView(context, std::move(*tree), options, std::move(subject)).show();
  if (ended) note("rdtctl: no process is left to watch\n");
  return exit;
}

}  // namespace rdtd
