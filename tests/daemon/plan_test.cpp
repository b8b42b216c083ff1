// `plan` says what the next reload does, in every state that others, the kernel and a policy before
// can leave: the steps that it shows are the writes of the reload, or its refusal is the reload's.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>

#include "rdtd/base/text.hpp"
#include "rdtd/model/footprint.hpp"
#include "unit/support.hpp"
#include "world.hpp"

namespace rdtd {
namespace {

class PlanTest : public test::World {
 protected:
  unsigned below(unsigned end) { return static_cast<unsigned>(engine() % end); }

  std::string random_group(const std::string& name) {
    std::string out = "[group." + name + "]\n";
    switch (below(6)) {
      case 0: out += fmt::format("l3 = \"{} ways\"\nexclusive = true\n", 1 + below(6)); break;
      case 1: out += fmt::format("l3 = \"{}%\"\n", 5 + below(60)); break;
      case 2: out += fmt::format("l3 = {{ \"0\" = \"{} ways\" }}\n", 1 + below(8)); break;
      case 3: out += fmt::format("l3 = \"1..{} ways\"\n", 1 + below(9)); break;
      case 4: out += fmt::format("l3 = \"0x{:x}\"\n", 3U << below(18)); break;
      default: break;
    }
    if (below(3) == 0) out += fmt::format("mb = \"{}%\"\n", 10 * (1 + below(10)));
    return out;
  }
  std::string random_policy() {
    std::string out;
    if (below(4) == 0) out += "[daemon]\ndrift = \"report\"\n";
    if (below(4) == 0) out += "[partition.p]\nl3 = \"4 ways\"\n[group.in_p]\npartition = \"p\"\n";
    for (const char* name : {"one", "two", "three"})
      if (below(3) != 0) {
        out += random_group(name);
        if (below(5) == 0) out += "adopt = true\n";
        if (below(3) == 0)
          out += fmt::format("[[rule]]\ngroup = \"{}\"\nname = \"x\"\nmonitor = \"m\"\n", name);
      }
    return out;
  }
  void write(const std::string& file, const std::string& text) {
    (void)kernel.resctrl.write(file, text + "\n");
  }
  // Returns what was done.
  std::string change() {
    static constexpr const char* groups[] = {"one", "two", "three", "theirs"};
    const std::string group = groups[below(4)];
    switch (below(9)) {
      case 0: (void)kernel.resctrl.make(group); return "make " + group;
      case 1: (void)kernel.resctrl.remove(group); return "remove " + group;
      case 2: {
        const std::string line = fmt::format("L3:{}={:x}", below(2), 7U << below(17));
        write(group + "/schemata", line);
        return group + " " + line;
      }
      case 3: write(group + "/mode", "shareable"); return group + " shareable";
      case 4: write(group + "/mode", "exclusive"); return group + " exclusive";
      case 5: write("schemata", "L3:0=fff00;1=fffff"); return "default narrower";
      case 6:
        for (const unsigned cpu : {2U, 3U})
          if (kernel.resctrl.online.contains(cpu)) kernel.resctrl.take_offline(cpu);
        return "domain 1 offline";
      case 7:
        for (const unsigned cpu : {2U, 3U})
          if (!kernel.resctrl.online.contains(cpu)) kernel.resctrl.bring_online(cpu);
        return "domain 1 online";
      default: (void)kernel.resctrl.make("one/mon_groups/m"); return "make one/m";
    }
  }
  static std::string words(std::string_view file, const std::string& group) {
    return fmt::format("{} {}", file, group_label(group));
  }
  // What the plan shows: "schemata one".
  [[nodiscard]] static std::set<std::string> shown(const PlanSummary& plan) {
    std::set<std::string> out;
    for (const PlannedStep& step : plan.steps)
      if (step.kind != "adopt") out.insert(step.kind + " " + step.group);
    return out;
  }
  // What the reload did. The modes of groups that it leaves as they are can change for a moment.
  [[nodiscard]] std::set<std::string> done() const {
    std::set<std::string> out;
    for (const fake::Call& call : kernel.calls.log()) {
      const size_t slash = call.path.rfind('/');
      const std::string group = slash == std::string::npos ? "" : call.path.substr(0, slash);
      const std::string file = call.path.substr(slash == std::string::npos ? 0 : slash + 1);
      if (call.operation == "make") out.insert(words("create", call.path));
      if (call.operation == "remove") out.insert(words("remove", call.path));
      if (call.operation == "write" && file != "tasks") out.insert(words(file, group));
    }
    return out;
  }
  void plan_and_reload() {
    const auto plan = manager->answers().plan();
    kernel.calls.reset();
    const std::string refusal = reload(policy);
    EXPECT_EQ(plan ? "" : plan.error().text, refusal);
    if (plan) {
      EXPECT_EQ(shown(*plan), done());
    }
    if (plan) (plan->steps.empty() ? same : changed)++;
  }

  std::mt19937 engine;
  unsigned changed = 0, same = 0;
};

TEST_F(PlanTest, IsTheNextReload) {
  const unsigned cases = test::random_cases(400) / test::stride(4);
  for (unsigned seed = 0; seed < cases && !HasFailure(); seed++) {
    engine.seed(seed);
    kernel.resctrl = fake::Resctrl(kernel.resctrl.machine);
    start();
    policy = random_policy();
    std::string trace = fmt::format("seed {}\n{}", seed, policy);
    (void)load();
    for (unsigned step = 0; step < 6 && !HasFailure(); step++) {
      switch (below(4)) {
        case 0:
          policy = random_policy();
          trace += "\n--\n" + policy;
          break;
        case 1:
          start();
          (void)load();
          trace += "started again\n";
          break;
        default: trace += change() + "\n";
      }
      SCOPED_TRACE(trace);
      plan_and_reload();
    }
  }
  // Neither is rare: else this would show little.
  EXPECT_GT(changed, cases);
  EXPECT_GT(same, cases);
}

}  // namespace
}  // namespace rdtd
