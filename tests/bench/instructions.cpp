// instructions OPERATION COUNT: carries an operation of the hot path out COUNT times, for
// callgrind, which counts the instructions in `measured`. Without arguments: lists the operations.
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>

#include "event_number.hpp"
#include "rdtd/plan/plan.hpp"
#include "rdtd/policy/parse.hpp"
#include "rdtd/proc/event.hpp"
#include "rdtd/rules/rule_set.hpp"
#include "unit/proc_events.hpp"
#include "unit/support.hpp"

// By this name, callgrind knows what to count.
extern "C" [[gnu::noinline]] void measured(const std::function<void()>& operation, unsigned count) {
  for (unsigned i = 0; i < count; i++) operation();
}

namespace rdtd {
namespace {

volatile size_t result;  // so that no work is left out

std::function<void()> decode() {
  auto datagram = test::message(event_number::exec, 4242, 4242);
  return [datagram = std::move(datagram)] {
    std::span<const std::byte> rest(datagram);
    result = static_cast<size_t>(next_event(rest)->pid);
  };
}

std::function<void()> match(const char* condition, unsigned rules, ProcessFacts facts) {
  std::string text = "[group.a]\n";
  for (unsigned i = 0; i < rules; i++)
    text += fmt::format("[[rule]]\ngroup = \"a\"\n{} = \"service-{}{}\"\n", condition, i,
                        std::string_view(condition) == "unit" ? ".service" : "");
  const auto set = std::make_shared<RuleSet>(test::parse(text).policy, Users{});
  return [set, facts = std::move(facts)] { result = set->match(facts).rule; };
}

ProcessFacts process(const std::string& name) {
  ProcessFacts out;
  out.name = name;
  out.cgroup = "/system.slice/" + name + ".service";
  return out;
}

std::function<void()> plan(unsigned groups) {
  std::string text;
  for (unsigned i = 0; i < groups; i++)
    text +=
        fmt::format("[group.g{}]\nl3 = \"2 ways\"\nmb = \"50%\"\nexclusive = {}\n", i, i % 2 == 0);
  const auto policy = std::make_shared<ParsedPolicy>(test::parse(text));
  const Capabilities machine = test::machine(20, 2);
  return [policy, machine, now = test::untouched(machine)] {
    result = make_plan(policy->policy, machine, now)->changes.size();
  };
}

std::map<std::string, std::function<std::function<void()>()>> operations() {
  return {
      {"decode", decode},
      {"match-name-10", [] { return match("name", 10, process("service-7")); }},
      {"match-name-10000", [] { return match("name", 10'000, process("service-7777")); }},
      {"match-none-10000", [] { return match("name", 10'000, process("other")); }},
      {"match-unit-10", [] { return match("unit", 10, process("service-7")); }},
      {"match-unit-10000", [] { return match("unit", 10'000, process("service-7777")); }},
      {"plan-8", [] { return plan(8); }},
  };
}

}  // namespace
}  // namespace rdtd

int main(int argc, char** argv) {
  const auto operations = rdtd::operations();
  if (argc == 1)
    for (const auto& [name, make] : operations) fmt::print("{}\n", name);
  if (argc == 1) return EXIT_SUCCESS;
  const auto operation = operations.find(argv[1]);
  unsigned count = 0;
  if (argc != 3 || operation == operations.end() ||
      std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), count).ec != std::errc{})
    return 64;
  const std::function<void()> once = operation->second();
  once();  // what is made at the first call
  measured(once, count);
  return EXIT_SUCCESS;
}
