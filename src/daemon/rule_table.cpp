#include "rdtd/daemon/rule_table.hpp"

#include <cerrno>
#include <utility>

namespace rdtd {

int Place::add(pid_t tid) const {
  if (mon_group == nullptr) return control_group->add(tid);
  // The kernel takes a thread into a monitoring group only from its control group: EINVAL. If the
  // monitoring group was removed, the limits hold all the same, and its error says so.
  const int first = mon_group->add(tid);
  if (first != EINVAL && !resctrl::is_absent(first)) return first;
  if (const int error = control_group->add(tid); error != 0) return error;
  return first == EINVAL ? mon_group->add(tid) : first;
}

const resctrl::Tasks* RuleTable::tasks_of(const std::string& group) const {
  const auto found = tasks.find(group);
  return found == tasks.end() ? nullptr : found->second.get();
}

bool RuleTable::is_at(size_t destination, const std::string& directory) const {
  const Place& place = places[destination];
  const std::string group(control_group_of(directory));
  if (place.own_only && tasks_of(group) == nullptr) return true;
  return directory == place.directory ||
         (group == place.directory && !mon_groups.contains(directory));
}

Result<Decision> decide(const RuleSet& rules, const proc::Process& process, ProcessFacts& facts,
                        Effort effort) {
  while (true) {
    if (facts.cmdline && facts.cmdline->size() > effort.longest_cmdline)
      return std::unexpected(Error{"compare", "the command line", E2BIG, {}});
    const Decision decision = rules.match(facts, effort.memo);
    if (decision.kind != Decision::Kind::needs_fact) return decision;
    if (auto read = process.read(decision.fact, facts); !read)
      return std::unexpected(std::move(read.error()));
  }
}

}  // namespace rdtd
