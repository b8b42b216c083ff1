// From any policy to any other, on random machines with other tools' groups: no step is refused,
// the end is what was planned, what does not differ is not written, and a call that fails leaves
// nothing half done.
#include "rdtd/resctrl/transaction.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fake/kernel.hpp"
#include "rdtd/plan/prepare.hpp"
#include "rdtd/resctrl/read.hpp"
#include "unit/files.hpp"
#include "unit/support.hpp"

namespace rdtd {
namespace {

constexpr int cases = 700;
constexpr unsigned seed = 20260;

using Random = std::mt19937;

unsigned below(Random& random, unsigned limit) {
  return std::uniform_int_distribution<unsigned>(0, limit - 1)(random);
}

bool one_in(Random& random, unsigned n) { return below(random, n) == 0; }

fake::Machine random_machine(Random& random) {
  fake::Machine machine = fake::xeon(1 + below(random, 2), 8 + below(random, 13));
  for (auto& [resource, control] : machine.controls) {
    control.num_closids = 3 + below(random, 4);
    if (!is_cache(resource)) continue;
    control.min_cbm_bits = one_in(random, 4) ? 2 : 1;
    if (one_in(random, 4)) control.shareable_bits = Cbm::range(control.cbm_mask.highest() - 1, 2);
    control.sparse_masks = one_in(random, 6);
  }
  if (one_in(random, 2)) {
    fake::Control hard_limit = machine.controls.at(Resource::MB);
    hard_limit.min_bandwidth = 0;
    hard_limit.bandwidth_gran = hard_limit.most = 1;
    machine.controls[Resource("MB_HLIM", false)] = hard_limit;
  }
  machine.num_rmids = one_in(random, 3) ? 6 + below(random, 6) : 64;
  if (!one_in(random, 3)) return machine;
  machine = fake::with_io_alloc(std::move(machine));
  for (auto& [resource, control] : machine.controls)
    control.num_closids = machine.controls.at(Resource::L3).num_closids;
  return machine;
}

void add_foreign_groups(Random& random, fake::Resctrl& resctrl) {
  if (one_in(random, 4) && resctrl.write("info/L3/io_alloc", "1\n"))
    (void)resctrl.write("info/L3/io_alloc_cbm",
                        fmt::format("0={}\n", to_string(Cbm::range(below(random, 4), 2))));
  for (const char* name : {"theirs", "others"}) {
    if (!one_in(random, 4) || !resctrl.make(name)) continue;
    if (one_in(random, 3)) (void)resctrl.make(std::string(name) + "/mon_groups/m");
    if (one_in(random, 2) && resctrl.make(fmt::format("mon_groups/{}", name)))
      (void)resctrl.write(fmt::format("mon_groups/{}/cpus_list", name),
                          name == std::string("theirs") ? "2\n" : "3\n");
    const unsigned first = below(random, 6), count = 2 + below(random, 3);
    for (unsigned domain = 0; domain < 2; domain++)
      (void)resctrl.write(std::string(name) + "/schemata",
                          fmt::format("L3:{}={}\n", domain, to_string(Cbm::range(first, count))));
    if (one_in(random, 2)) {
      const auto root =
          ~Cbm::range(first, count).bits & resctrl.machine.controls.at(Resource::L3).cbm_mask.bits;
      for (unsigned domain = 0; domain < 2; domain++)
        (void)resctrl.write("schemata",
                            fmt::format("L3:{}={}\n", domain, to_string(longest_run(Cbm{root}))));
      (void)resctrl.write(std::string(name) + "/mode", "exclusive\n");
    }
  }
}

std::string cpus_text(Random& random) {
  const unsigned first = 1 + below(random, 2);
  std::string out = fmt::format("cpus = \"{}-{}\"\n", first, first + below(random, 3));
  if (one_in(random, 2))
    out += fmt::format("monitor_cpus = {{ {} = {}, k = {} }}\n", one_in(random, 2) ? "m" : "n",
                       first, first + 1);
  return out;
}

std::string random_policy(Random& random) {
  std::string text;
  if (one_in(random, 5)) text += "[partition.p]\nl3 = \"30%\"\n";
  const bool partition = !text.empty();
  for (const char* name : {"a", "b", "c", "d"}) {
    if (one_in(random, 3)) continue;
    text += fmt::format("[group.{}]\n", name);
    const unsigned first = below(random, 7);
    switch (below(random, 6)) {
      case 0: text += fmt::format("l3 = \"{} ways\"\n", 1 + below(random, 5)); break;
      case 1:
        text += fmt::format("l3 = \"{} ways\"\nexclusive = true\n", 1 + below(random, 4));
        break;
      case 2:
        text += fmt::format("l3 = \"ways {}-{}\"\nexclusive = true\n", first, first + 1);
        break;
      case 3: text += fmt::format("l3 = {{ \"0\" = \"{} ways\" }}\nexclusive = true\n", 2); break;
      case 4:
        if (partition) text += "partition = \"p\"\n";
        break;
      default: break;
    }
    if (one_in(random, 3)) text += fmt::format("mb = \"{}%\"\n", 10 * (1 + below(random, 9)));
    if (one_in(random, 8))
      text += fmt::format("control.MB_HLIM = {{ \"{}\" = {} }}\n", one_in(random, 2) ? "0" : "*",
                          below(random, 2));
  }
  if (one_in(random, 3))
    text += fmt::format("[daemon]\nunsupported = \"skip\"\n[io]\nl3 = {{ \"0\" = \"{} ways\" }}\n",
                        2 + below(random, 3));
  if (one_in(random, 4)) text += "[group.theirs]\nadopt = true\nl3 = \"2 ways\"\n";
  // A CPU belongs to one group.
  if (const size_t at = text.find("[group.b]\n"); at != std::string::npos && one_in(random, 2))
    text.insert(at + 10, cpus_text(random));
  else if (const size_t c = text.find("[group.c]\n"); c != std::string::npos && one_in(random, 2))
    text.insert(c + 10, cpus_text(random));
  if (one_in(random, 3) && !text.contains("cpus ="))
    text += fmt::format("[group.default.monitor_cpus]\nm = {}\n", 1 + below(random, 3));
  for (const char* name : {"a", "b", "c", "d", "default"})
    for (const char* monitor : {"m", "n"})
      if ((text.contains(fmt::format("[group.{}]\n", name)) || name == std::string("default")) &&
          one_in(random, 6))
        text += fmt::format("[[rule]]\ngroup = \"{}\"\nname = \"x{}\"\nmonitor = \"{}\"\n", name,
                            below(random, 1000), monitor);
  return text;
}

class TransactionProperty : public Files {
 protected:
  [[nodiscard]] Ownership load_record() const {
    return std::move(*Ownership::load(*Directory::open(root_.string())));
  }
  static Machine read(const fake::Kernel& kernel, Ownership& ownership) {
    Machine machine = *resctrl::read_machine(kernel, {}, {});
    machine.snapshot.owned = ownership.owned(machine.snapshot);
    return machine;
  }
  static std::expected<Prepared, Rejected> plan(const std::string& policy, const Machine& machine) {
    return prepare(std::vector{PolicyFile{.path = "p.toml", .text = policy}}, machine);
  }
  static std::string text_of(const Snapshot& snapshot) {
    std::string out;
    for (const auto& [name, state] : snapshot.groups)
      out += fmt::format("{}: {} {} cpus {}\n", group_label(name), to_string(state.mode),
                         schemata_line(state.schemata), format_cpu_list(state.cpus));
    for (const std::string& group : snapshot.mon_groups) {
      const auto cpus = snapshot.mon_cpus.find(group);
      out += fmt::format("{}: cpus {}\n", group_label(group),
                         cpus == snapshot.mon_cpus.end() ? "" : format_cpu_list(cpus->second));
    }
    return out + "I/O: " + schemata_line(snapshot.io) + "\n";
  }
  static CpuSet those_online(CpuSet cpus, const Snapshot& now) {
    std::erase_if(cpus, [&](unsigned cpu) { return !now.online_cpus().contains(cpu); });
    return cpus;
  }
  // It keeps the CPUs that its control group has.
  static void add_foreign(const std::string& mon_group, const Snapshot& before, Snapshot& after) {
    after.mon_groups.insert(mon_group);
    const auto cpus = before.mon_cpus.find(mon_group);
    if (cpus == before.mon_cpus.end()) return;
    const CpuSet& control = after.groups.at(std::string(control_group_of(mon_group))).cpus;
    for (const unsigned cpu : cpus->second)
      if (control.contains(cpu)) after.mon_cpus[mon_group].insert(cpu);
  }
  static std::string planned_text(const Prepared& prepared, const Snapshot& before) {
    Snapshot after;
    for (const auto& [name, state] : before.groups)
      if (!before.owned.contains(name)) after.groups[name] = state;
    for (const GroupTarget& target : prepared.plan.groups) {
      GroupState& state = after.groups[target.directory] = target.state;
      state.cpus = those_online(state.cpus, before);
      // What nobody sets is as it was.
      const auto was = before.groups.find(target.directory);
      for (const auto& [resource, values] : before.groups.at("").schemata)
        for (const auto& [domain, value] : values)
          if (!parse_resource(resource.name()))
            state.schemata[resource].emplace(
                domain,
                was == before.groups.end() ? 0 : was->second.schemata.at(resource).at(domain));
      after.mon_groups.insert(target.mon_groups.begin(), target.mon_groups.end());
      for (const auto& [group, cpus] : target.mon_cpus)
        after.mon_cpus[group] = those_online(cpus, before);
    }
    // Another tool's monitoring group goes with its control group.
    for (const std::string& group : before.mon_groups)
      if (!before.owned.contains(group) &&
          after.groups.contains(std::string(control_group_of(group))))
        add_foreign(group, before, after);
    if (!before.owned.contains(std::string(io_group))) after.io = before.io;
    if (prepared.plan.io) after.io = prepared.plan.io->state.schemata;
    // A CPU of nobody else is the root's; other tools' CPUs may have been taken.
    return text_of(after);
  }
  // Applies the policy as the daemon does. False if it is not granted.
  bool apply(fake::Kernel& kernel, Ownership& ownership, const std::string& policy) {
    const Machine machine = read(kernel, ownership);
    const auto prepared = plan(policy, machine);
    if (!prepared) return false;
    resctrl::Transaction transaction(kernel, ownership, machine);
    if (!kernel.calls.hook)
      kernel.calls.hook = [&](const fake::Call&) { kernel.resctrl.end_limbo(); };
    const auto done = transaction.carry_out(prepared->plan.changes.steps);
    // A group that stays may have the highest CLOSID.
    if (!done && done.error().text().contains("for io_alloc is used")) return false;
    EXPECT_TRUE(done) << done.error().text() << "\n" << format_plan(prepared->plan);
    const auto make_mon_groups = [&] {
      std::vector<std::string> failed;
      for (const Step& step : prepared->plan.changes.mon_groups)
        if ((std::holds_alternative<WriteCpus>(step) || !kernel.resctrl.list(group_of(step))) &&
            !resctrl::Transaction(kernel, ownership, machine).carry_out({&step, 1}))
          failed.push_back(group_of(step));
      return failed;
    };
    // Those that need an RMID of a group that goes are made after it has gone.
    (void)make_mon_groups();
    const auto removed =
        resctrl::Transaction(kernel, ownership, machine).carry_out(prepared->plan.changes.removals);
    EXPECT_TRUE(removed) << removed.error().text();
    kernel.resctrl.end_limbo();
    EXPECT_EQ(make_mon_groups(), std::vector<std::string>{});
    kernel.calls.hook = nullptr;
    kernel.resctrl.end_limbo();
    return done && removed;
  }
};

// Two groups that are exclusive before and after never share a way in between.
std::string shared_exclusive_ways(const fake::Kernel& kernel,
                                  const std::vector<std::string>& exclusive) {
  std::map<std::string, Schemata> masks;
  for (const std::string& name : exclusive)
    if (const auto text = kernel.resctrl.read(name + "/schemata"))
      masks[name] = *parse_schemata(*text);
  for (const auto& [a, of_a] : masks)
    for (const auto& [b, of_b] : masks) {
      if (a >= b) continue;
      for (const auto& [domain, mask] : of_a.at(Resource::L3))
        if (Cbm{mask}.overlaps(Cbm{of_b.at(Resource::L3).at(domain)}))
          return fmt::format("{} and {} on domain {}", a, b, to_string(domain));
    }
  return "";
}

TEST_F(TransactionProperty, FromAnyPolicyToAnyOther) {
  Random random(seed);
  int applied = 0;
  for (int number = 0; number < cases; number++) {
    fs::remove(root_ / "groups");
    fake::Kernel kernel(random_machine(random));
    add_foreign_groups(random, kernel.resctrl);
    Ownership ownership = load_record();
    const std::string a = random_policy(random), b = random_policy(random);
    SCOPED_TRACE(fmt::format("seed {} case {}\n-- from:\n{}-- to:\n{}", seed, number, a, b));
    if (!apply(kernel, ownership, a)) continue;
    const Machine machine = read(kernel, ownership);
    const auto prepared = plan(b, machine);
    if (!prepared) continue;
    applied++;
    std::vector<std::string> exclusive;
    for (const GroupTarget& target : prepared->plan.groups)
      if (const auto before = machine.snapshot.groups.find(target.directory);
          target.state.mode == Mode::exclusive && before != machine.snapshot.groups.end() &&
          before->second.mode == Mode::exclusive)
        exclusive.push_back(target.directory);
    std::string shared;
    kernel.calls.reset();
    kernel.calls.hook = [&](const fake::Call&) {
      if (shared.empty()) shared = shared_exclusive_ways(kernel, exclusive);
      kernel.resctrl.end_limbo();  // RMIDs whose lines have left the cache are free at once
    };
    const bool done = apply(kernel, ownership, b);
    kernel.calls.hook = nullptr;
    if (HasFailure()) return;
    if (!done) continue;
    EXPECT_EQ(shared, "") << format_plan(prepared->plan);
    const Machine after = read(kernel, ownership);
    EXPECT_EQ(text_of(after.snapshot), planned_text(*prepared, machine.snapshot))
        << format_plan(prepared->plan);
    for (const GroupTarget& target : prepared->plan.groups) {
      const auto before = machine.snapshot.groups.find(target.directory);
      if (before == machine.snapshot.groups.end() || before->second != target.state) continue;
      const std::string prefix =
          target.directory == root_group ? "write schemata" : "write " + target.directory + "/";
      for (const std::string& change : kernel.calls.changes())
        EXPECT_FALSE(change.starts_with(prefix)) << change << "\n" << format_plan(prepared->plan);
    }
    // Planning again changes nothing.
    const auto again = plan(b, after);
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->plan.changes_nothing()) << format_plan(again->plan);
    if (HasFailure()) return;
  }
  EXPECT_GT(applied, 100);
}

TEST_F(TransactionProperty, AFailedCallLeavesNothingHalfDone) {
  Random random(seed + 1);
  for (int number = 0; number < static_cast<int>(test::random_cases(100)); number++) {
    fs::remove(root_ / "groups");
    fake::Kernel kernel(random_machine(random));
    add_foreign_groups(random, kernel.resctrl);
    Ownership ownership = load_record();
    const std::string a = random_policy(random), b = random_policy(random);
    if (!apply(kernel, ownership, a)) continue;
    const Machine machine = read(kernel, ownership);
    const auto prepared = plan(b, machine);
    if (!prepared) continue;
    const std::string record = Directory::open(root_.string())->read("groups").value_or("");
    const std::string before = text_of(machine.snapshot);
    for (size_t failing = 1;; failing++) {
      const auto when =
          one_in(random, 3) ? fake::Calls::When::after_effect : fake::Calls::When::before_effect;
      SCOPED_TRACE(fmt::format("seed {} case {} call {}\n-- from:\n{}-- to:\n{}", seed + 1, number,
                               failing, a, b));
      put("groups", record);
      Ownership own = load_record();
      fake::Kernel copy(kernel.resctrl.machine);
      copy.resctrl = kernel.resctrl;
      copy.calls.hook = [&](const fake::Call& call) {
        copy.resctrl.end_limbo();
        // mkdir(2) does not fail once the group exists.
        const bool makes = call.operation == "make";
        if (call.number == failing)
          copy.calls.fail(failing, EIO, makes ? fake::Calls::When::before_effect : when);
      };
      resctrl::Transaction transaction(copy, own, machine);
      const auto done = transaction.carry_out(prepared->plan.changes.steps);
      const size_t calls = copy.calls.count();
      copy.calls.hook = nullptr;
      copy.calls.reset();
      const Machine after = read(copy, own);
      if (failing > calls) break;  // the kernel may refuse the policy by itself
      if (done) continue;          // a call whose failure does not matter
      if (done.error().text().contains("not restored")) continue;
      EXPECT_TRUE(done.error().text().contains("everything is as it was") ||
                  done.error().text().contains("nothing was changed"))
          << done.error().text();
      EXPECT_EQ(text_of(after.snapshot), before) << done.error().text() << "\n"
                                                 << format_plan(prepared->plan);
      for (const std::string& name : own.names())
        EXPECT_TRUE(after.snapshot.groups.contains(name) ||
                    (name == io_group && !after.snapshot.io.empty()) ||
                    after.snapshot.mon_groups.contains(name))
            << name << " is recorded";
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace rdtd
