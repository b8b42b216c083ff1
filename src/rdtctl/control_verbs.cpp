// The verbs that put a policy in force, and processes in groups.
#include <fmt/format.h>

#include <algorithm>

#include "groups.hpp"
#include "rdtd/base/glob.hpp"
#include "verb_table.hpp"

namespace rdtd {

// "; 'web' is a group: rdtctl run -g web -- COMMAND ..." of the command "web true".
static std::string group_of_command(const Context& context,
                                    const std::vector<std::string>& command) {
  const std::string& first = command.front();
  if (command.size() < 2) return {};
  const std::vector<std::string> known = policy_groups(context);
  if (!is_group(context, first) && std::ranges::find(known, first) == known.end()) return {};
  return fmt::format("; '{0}' is a group: rdtctl run -g {0} -- COMMAND ...", first);
}

void VerbTable::add_control() {
  add_live("apply", "Put the policy files in force, and print the changes", "rdtctl apply",
           [&] { return verbs::apply(context_); });
  add_live("reload", "Reload the policy; if it is invalid, keep the current one and fail",
           "rdtctl reload", [&] { return verbs::reload(context_); });
  CLI::App& adopt =
      add_live("adopt", "Reload the policy, taking over groups of it that rdtd did not create",
               "rdtctl adopt redis", [&] { return verbs::adopt(context_, given_.groups); });
  auto* groups = adopt.add_option("GROUP", given_.groups, "Groups that the policy has");
  refuse_empty(*groups->required());
  add_live("reset", "Remove every group that rdtd created", "rdtctl reset",
           [&] { return verbs::reset(context_); });
}

void VerbTable::add_assignment() {
  add_run();
  CLI::App& verb = add_live(
      "assign", "Move running processes to a group until they exec or end, or a unit permanently",
      "rdtctl assign -g batch 4711", [&] { return assign(); });
  add_group_option(verb, "A group of the policy in force");
  refuse_empty(
      *verb.add_option("--unit", given_.unit, "Write a rule file for this systemd unit, and reload")
           ->type_name("UNIT"));
  verb.add_flag("--runtime", given_.runtime, "With --unit: until the next boot");
  verb.add_flag("--force", given_.force, "Also the service manager, and kernel threads");
  allow_process_ids(*verb.add_option("PID", given_.pids, "The processes"));
}

int VerbTable::assign() {
  if (given_.pids.empty() == given_.unit.empty())
    throw UsageError{given_.unit.empty() ? "assign requires PID or --unit UNIT"
                                         : "assign takes either PID or --unit UNIT, not both"};
  if (given_.runtime && given_.unit.empty()) throw UsageError{"--runtime requires --unit UNIT"};
  if (has_wildcard(given_.unit))
    throw UsageError{"--unit takes the name of one unit here, not a pattern: write a rule for it"};
  return given_.unit.empty()
             ? verbs::assign(context_, given_.group, given_.pids, given_.force)
             : verbs::assign_unit(context_, given_.group, given_.unit, given_.runtime);
}

void VerbTable::add_amounts(CLI::App& verb, LeaseGroup& group, const std::string& description) {
  for (const Resource resource : {Resource::L2, Resource::L3, Resource::MB, Resource::SMBA}) {
    auto* amount =
        verb.add_option("--" + resource_key(resource), group.amounts[resource],
                        fmt::format("{}, with this much {}", description, to_string(resource)));
    refuse_empty(*amount->type_name("AMOUNT"));
    allow_amounts(*amount, is_cache(resource));
  }
}

void VerbTable::add_run() {
  CLI::App& run = add("run", "Run a command in a group from its first instruction on",
                      "rdtctl run -g batch -- tar -czf backup.tar.gz /srv", {});
  refuse_empty(
      *run.add_option("-g,--group", given_.group, "The group; 'default' is that of the root")
           ->type_name("GROUP"));
  add_amounts(run, given_.lease, "Make a group for the command");
  run.add_flag("--exclusive", given_.lease.exclusive,
               "Give that group ways that no other group has");
  run.add_option_function<std::string>(
         "-c,--cpus",
         [&](const std::string& list) {
           const auto cpus = parse_cpu_list(list);
           if (!cpus || cpus->empty())
             throw UsageError{
                 fmt::format("invalid LIST '{}' of --cpus: use numbers such as 0-3,8", list)};
           given_.cpus = *cpus;
         },
         "Run the command on these CPUs only")
      ->type_name("LIST");
  auto* wait =
      run.add_option("--wait", given_.wait, "With an amount: wait so long for a CLOSID or RMID");
  allow_seconds(*wait->type_name("SECONDS"), 0, 1e9);
  // From its first word on, the command's options are its own.
  run.prefix_command()->fallthrough(false);
  run.callback([&] {
    check_live("run");
    const std::vector<std::string> command = command_of(run, command_);
    if (command.empty()) throw UsageError{"run requires COMMAND"};
    std::erase_if(given_.lease.amounts, [](const auto& amount) { return amount.second.empty(); });
    const bool own = !given_.lease.amounts.empty() || given_.lease.exclusive;
    if (given_.lease.exclusive && given_.lease.amounts.empty() && given_.group.empty())
      throw UsageError{"--exclusive requires an amount, such as --l3 \"2 ways\""};
    if (own == !given_.group.empty())
      throw UsageError{own ? "run takes either --group or the amounts of a group of its own"
                           : "run requires --group GROUP, or an amount such as --l3 \"2 ways\"" +
                                 group_of_command(context_, command)};
    if (!own && given_.wait > 0)
      throw UsageError{"--wait requires an amount, such as --l3 \"2 ways\""};
    exit_ = own ? verbs::run_leased(given_.lease, given_.cpus, given_.wait, command)
                : verbs::run(context_, given_.group, given_.cpus, command);
  });
}

}  // namespace rdtd
