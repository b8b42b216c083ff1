// Policies on the model kernel: the bytes choose a machine, other tools' groups, a policy that is
// applied, and a second one that is applied after it, with one call that fails. What must hold is
// in rdtd/plan/transition.hpp and rdtd/resctrl/transaction.hpp.
#include <algorithm>
#include <array>

#include "fake/kernel.hpp"
#include "fuzz/random_machine.hpp"
#include "fuzz/record_directory.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/footprint.hpp"
#include "rdtd/plan/prepare.hpp"
#include "rdtd/resctrl/read.hpp"
#include "rdtd/resctrl/transaction.hpp"

namespace rdtd::fuzz {
namespace {

Ownership empty_record() {
  Directory directory = record_directory();
  require(directory.replace("groups", "").has_value(), "the record is written");
  return Ownership::load(std::move(directory)).value();
}

// All that an apply may change.
struct State {
  std::map<std::string, GroupState> groups;
  std::set<std::string> mon_groups;
  std::map<std::string, CpuSet> mon_cpus;
  std::map<pid_t, std::optional<std::string>> tasks;  // their groups
  std::set<std::string> owned;
  bool operator==(const State&) const = default;
};

std::string text(const State& state) {
  std::string out;
  for (const auto& [name, group] : state.groups)
    out += group_label(name) + ": " + schemata_line(group.schemata) + " cpus " +
           format_cpu_list(group.cpus) + " " + std::string(to_string(group.mode)) +
           (state.owned.contains(name) ? " owned\n" : "\n");
  for (const std::string& group : state.mon_groups) out += group_label(group) + "\n";
  for (const auto& [group, cpus] : state.mon_cpus)
    out += group_label(group) + " cpus " + format_cpu_list(cpus) + "\n";
  for (const auto& [tid, group] : state.tasks)
    out += std::to_string(tid) + " in " + group.value_or("no group") + "\n";
  return out;
}

class Trial {
 public:
  explicit Trial(Choices& choices)
      : choices_(choices), kernel_(random_machine(choices)), ownership_(empty_record()) {}

  void run();

 private:
  struct Failure {
    size_t call = 0;  // 0: none
    fake::Calls::When when = fake::Calls::When::before_effect;
  };
  using Pair = std::pair<std::string, std::string>;
  using PairsApart = std::map<std::pair<Resource, DomainId>, std::vector<Pair>>;

  [[nodiscard]] Machine read_machine();
  [[nodiscard]] Snapshot read_snapshot();
  [[nodiscard]] State state_of(Snapshot snapshot);
  void inject(Failure failure);
  void apply(const Policy& policy, Failure failure);
  void make_mon_groups(const Machine& machine, const std::vector<Step>& steps);
  void check_failure(const Error& error, const State& before);
  void check_end(const Policy& policy, const Capabilities& capabilities, const Plan& plan);
  void check_unchanged(const Machine& before, const Plan& plan) const;
  [[nodiscard]] PairsApart pairs_apart(const Machine& before, const Plan& plan) const;
  void check_apart(const PairsApart& pairs);
  [[nodiscard]] std::string history() const { return log_ + join(kernel_.calls.changes(), "\n"); }

  Choices& choices_;
  fake::Kernel kernel_;
  Ownership ownership_;
  std::string log_;      // of what was applied
  bool failed_ = false;  // the call that was to fail was made
};

Machine Trial::read_machine() {
  auto machine = resctrl::read_machine(kernel_, {}, kernel_.resctrl.machine.cpus);
  require(machine.has_value(), "the model kernel is read", log_);
  machine->snapshot.owned = ownership_.owned(machine->snapshot);
  return std::move(*machine);
}

Snapshot Trial::read_snapshot() {
  auto snapshot = resctrl::read_snapshot(kernel_);
  require(snapshot.has_value(), "the groups of the model kernel are read", log_);
  snapshot->owned = ownership_.owned(*snapshot);
  return std::move(*snapshot);
}

State Trial::state_of(Snapshot snapshot) {
  State out{std::move(snapshot.groups),
            std::move(snapshot.mon_groups),
            std::move(snapshot.mon_cpus),
            {},
            std::move(snapshot.owned)};
  for (const auto& [tid, task] : kernel_.resctrl.tasks)
    out.tasks[tid] = kernel_.resctrl.group_of(tid);
  return out;
}

// A mkdir(2) that fails has made nothing: a group that is there then is another tool's.
void Trial::inject(Failure failure) {
  kernel_.calls.fail_if(
      [this, failure](const fake::Call& call) {
        const bool fails =
            call.number == failure.call &&
            (call.operation != "make" || failure.when == fake::Calls::When::before_effect);
        failed_ |= fails;
        return fails;
      },
      EIO, failure.when);
}

// Whether each mask of a cache, with CDP that of code and that of data, has a way before and after.
bool keeps_a_way(const Schemata& before, const Schemata& after, Resource cache, DomainId domain) {
  return std::ranges::all_of(resources_of_cache(cache), [&](Resource part) {
    const auto mask = [&](const Schemata& schemata) {
      const auto values = schemata.find(part);
      const bool known = values != schemata.end() && values->second.contains(domain);
      return known ? Cbm{values->second.at(domain)} : Cbm{UINT32_MAX};
    };
    return mask(before).overlaps(mask(after));
  });
}

// Groups that exist before and after, and that share no way of a cache then. A mask whose old and
// new ways have nothing in common may have to share some in between.
Trial::PairsApart Trial::pairs_apart(const Machine& before, const Plan& plan) const {
  std::map<std::string, std::pair<Schemata, Schemata>> lasting;
  for (const auto& [name, group] : before.snapshot.groups)
    if (!before.snapshot.owned.contains(name)) lasting[name] = {group.schemata, group.schemata};
  for (const GroupTarget& target : plan.groups)
    if (const auto found = before.snapshot.groups.find(target.directory);
        found != before.snapshot.groups.end())
      lasting[target.directory] = {found->second.schemata, target.state.schemata};
  PairsApart out;
  for (const auto& [resource, info] : before.capabilities.caches)
    for (const auto& [domain, bytes] : info.way_bytes)
      for (auto a = lasting.begin(); a != lasting.end(); a++)
        for (auto b = std::next(a); b != lasting.end(); b++) {
          const auto share = [&](const Schemata& x, const Schemata& y) {
            return footprint(x, resource, domain).overlaps(footprint(y, resource, domain));
          };
          const auto& [a_before, a_after] = a->second;
          const auto& [b_before, b_after] = b->second;
          if (!share(a_before, b_before) && !share(a_after, b_after) &&
              keeps_a_way(a_before, a_after, resource, domain) &&
              keeps_a_way(b_before, b_after, resource, domain))
            out[{resource, domain}].emplace_back(a->first, b->first);
        }
  return out;
}

void Trial::check_apart(const PairsApart& pairs) {
  const auto ways = [&](const std::string& group, Resource resource, DomainId domain) {
    Cbm out;
    const fake::Group* found = kernel_.resctrl.find(group);
    for (const Resource part : resources_of_cache(resource))
      if (const auto values = kernel_.resctrl.values.find(part);
          found != nullptr && values != kernel_.resctrl.values.end())
        out = out | Cbm{values->second.at(domain).at(found->closid)};
    return out;
  };
  for (const auto& [place, groups] : pairs)
    for (const auto& [a, b] : groups)
      require(!ways(a, place.first, place.second).overlaps(ways(b, place.first, place.second)),
              "groups that share no way before and after never share one in between",
              [&] { return group_label(a) + " and " + group_label(b) + " share\n" + history(); });
}

// A group that stays as it is may only leave the exclusive mode for the time of a mkdir(2).
void Trial::check_unchanged(const Machine& before, const Plan& plan) const {
  for (const GroupTarget& target : plan.groups) {
    const auto found = before.snapshot.groups.find(target.directory);
    if (found == before.snapshot.groups.end() || found->second != target.state) continue;
    for (const char* file : {"schemata", "cpus_list"}) {
      const std::string write = "write " + resctrl::file_of(target.directory, file) + " ";
      const auto changes = kernel_.calls.changes();
      require(std::ranges::none_of(changes, [&](const auto& c) { return c.starts_with(write); }),
              "a group that does not change is not written", write + "\n" + history());
    }
  }
}

void Trial::check_failure(const Error& error, const State& before) {
  const auto details = [&] { return error.text() + "\n" + history(); };
  // Only one call fails, so that nothing is in the way of the undo.
  require(error.text().ends_with("everything is as it was)"), "an undo is complete", details);
  const State now = state_of(read_snapshot());
  require(now == before, "everything is as it was",
          [&] { return details() + "\nbefore:\n" + text(before) + "now:\n" + text(now); });
}

void Trial::check_end(const Policy& policy, const Capabilities& capabilities, const Plan& plan) {
  const Snapshot snapshot = read_snapshot();
  const auto different = differences(plan.groups, plan.locks, plan.io, snapshot);
  require(different.empty(), "the end state is that of the plan", [&] {
    return different.front().group + ": " + different.front().text + "\n" + history();
  });
  const auto again = make_plan(policy, capabilities, snapshot);
  require(again && again->changes_nothing(), "a policy that was applied changes nothing", [&] {
    return (again ? format_plan(*again) : format_diagnostics(again.error(), {})) + "\n" + history();
  });
}

// As the daemon does: what fails for lack of an RMID is made once there is one.
void Trial::make_mon_groups(const Machine& machine, const std::vector<Step>& steps) {
  for (const Step& step : steps)
    if (std::holds_alternative<WriteCpus>(step) || !kernel_.resctrl.list(group_of(step)))
      (void)resctrl::Transaction(kernel_, ownership_, machine).carry_out({&step, 1});
}

void Trial::apply(const Policy& policy, Failure failure) {
  const Machine machine = read_machine();
  const State before = state_of(machine.snapshot);
  const auto plan = make_plan(policy, machine.capabilities, machine.snapshot);
  if (!plan) return;
  log_ += text(before) + format_plan(*plan) + "\n";
  const PairsApart pairs = pairs_apart(machine, *plan);
  kernel_.calls.reset();
  failed_ = false;
  if (failure.call != 0) inject(failure);
  kernel_.calls.hook = [&](const fake::Call&) {
    kernel_.resctrl.end_limbo();  // no file shows which RMIDs are in limbo, so no plan can know
    if (failure.call == 0) check_apart(pairs);
  };
  resctrl::Transaction transaction(kernel_, ownership_, machine);
  const auto done = transaction.carry_out(plan->changes.steps);
  kernel_.calls.hook = {};
  if (!done) {
    require(failed_, "no step is refused", [&] { return done.error().text() + "\n" + history(); });
    return check_failure(done.error(), before);
  }
  check_unchanged(machine, *plan);
  kernel_.calls.reset();
  make_mon_groups(machine, plan->changes.mon_groups);
  const auto removed =
      resctrl::Transaction(kernel_, ownership_, machine).carry_out(plan->changes.removals);
  require(removed.has_value(), "no removal is refused", [&] { return history(); });
  kernel_.resctrl.end_limbo();
  make_mon_groups(machine, plan->changes.mon_groups);
  check_end(policy, machine.capabilities, *plan);
  log_ += "done\n";
}

void Trial::run() {
  for (unsigned number = choices_.below(3); number > 0; number--)
    make_foreign_group(choices_, kernel_.resctrl, number);
  const Policy first = random_policy(choices_, kernel_.resctrl.machine);
  const Policy second = random_policy(choices_, kernel_.resctrl.machine);
  const size_t call = choices_.below(64);
  const auto when =
      choices_.one_in(2) ? fake::Calls::When::after_effect : fake::Calls::When::before_effect;
  const unsigned offline = choices_.below(8);
  apply(first, {});
  pid_t tid = 100;
  for (const fake::Group& group : kernel_.resctrl.groups) {
    const auto add_task = [&] {
      kernel_.resctrl.add_task(tid);
      (void)kernel_.resctrl.write(resctrl::file_of(group.name, "tasks"), std::to_string(tid));
      return std::to_string(tid++);
    };
    (void)add_task();
    for (const fake::MonGroup& mon : group.mon_groups)
      (void)kernel_.resctrl.write(mon_group_directory(group.name, mon.name) + "/tasks", add_task());
  }
  if (offline != 0 && kernel_.resctrl.online.contains(offline))
    kernel_.resctrl.take_offline(offline);
  apply(second, {call, when});
  apply(second, {});
}

}  // namespace
}  // namespace rdtd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rdtd::fuzz::Choices choices(data, size);
  rdtd::fuzz::Trial(choices).run();
  return 0;
}
