// Rules and a process that is only described: a condition may hold, fail, or depend on a value that
// nobody gave.
#include <fmt/format.h>

#include <algorithm>

#include "failed_condition.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/container.hpp"
#include "rdtd/rules/explain.hpp"

namespace rdtd {

namespace {

struct Verdict {
  bool holds = false;
  std::optional<ConditionKind> needs = {};  // whether it holds depends on this value
};

bool may_be_slice(const CompiledPattern& pattern) {
  return pattern.text.ends_with(".slice") || (!pattern.literal && !has_unit_type(pattern.text));
}

// The facts that a description gives. Units without a cgroup and users have no fact.
ProcessFacts facts_of(const ProcessDescription& process) {
  const auto value = [&](ConditionKind kind) {
    const auto found = process.values.find(kind);
    return found == process.values.end() ? std::nullopt : std::optional(found->second);
  };
  ProcessFacts facts;
  facts.name = value(ConditionKind::name);
  facts.exe = value(ConditionKind::exe);
  facts.cgroup = value(ConditionKind::cgroup);
  facts.cmdline = value(ConditionKind::cmdline);
  facts.thread = value(ConditionKind::thread);
  if (const auto pod = value(ConditionKind::pod), container = value(ConditionKind::container);
      pod || container)
    facts.container = ContainerNames{pod.value_or(""), container.value_or("")};
  return facts;
}

class Described {
 public:
  explicit Described(const ProcessDescription& process)
      : process_(process), facts_(facts_of(process)), subject_(facts_) {
    if (!facts_.cgroup || container_of_cgroup(*facts_.cgroup) != ContainerIds{}) return;
    in_no_container_ = true;
    if (!facts_.container) facts_.container.emplace();
  }

  Verdict test(const CompiledCondition& condition) {
    Verdict verdict;
    for (const CompiledPattern& pattern : condition.patterns) {
      const Verdict one = test(condition.kind, pattern);
      if (one.holds) return one;
      if (one.needs) verdict = one;
    }
    return verdict;
  }

  // Of a condition that does not hold.
  std::string why_not(const CompiledCondition& condition) {
    const ConditionKind kind = condition.kind;
    const bool has_fact = !is_identity(kind) && (!is_unit(kind) || facts_.cgroup);
    if (has_fact) return failure(condition, subject_, true);
    const std::string any = wanted_texts(condition, " or ");
    if (is_identity(kind) && process_.knows_users && is_nobody(condition))
      return fmt::format("there is no {} {} here",
                         kind == ConditionKind::user ? "user" : "user group", names(condition));
    if (const std::string* value = find(kind))
      return fmt::format("{} is '{}', not {}", to_string(kind), *value, any);
    return fmt::format("unit '{}' has no {}, rule requires {}",
                       process_.values.at(ConditionKind::unit), to_string(kind), any);
  }

 private:
  static bool is_unit(ConditionKind kind) {
    return kind == ConditionKind::unit || kind == ConditionKind::user_unit;
  }
  static bool is_nobody(const CompiledCondition& condition) {
    return std::ranges::none_of(
        condition.patterns, [](const CompiledPattern& pattern) { return pattern.id.has_value(); });
  }
  static std::string names(const CompiledCondition& condition) {
    std::vector<std::string> out;
    for (const CompiledPattern& pattern : condition.patterns)
      out.push_back(fmt::format("'{}'", pattern.text));
    return join(out, " or ");
  }
  [[nodiscard]] const std::string* find(ConditionKind kind) const {
    const auto found = process_.values.find(kind);
    return found == process_.values.end() ? nullptr : &found->second;
  }

  Verdict test(ConditionKind kind, const CompiledPattern& pattern) {
    if (is_identity(kind)) return test_identity(kind, pattern);
    if (is_unit(kind) && !facts_.cgroup) return test_unit(kind, pattern);
    if (kind == ConditionKind::vm)
      return facts_.cgroup ? Verdict{holds(kind, pattern, subject_)}
                           : Verdict{false, ConditionKind::cgroup};
    if (fact_of(kind) == Fact::container && find(kind) == nullptr && in_no_container_)
      return {false};
    // Without a thread, a `thread` condition does not hold; it needs nothing.
    if (kind != ConditionKind::thread && find(kind) == nullptr && !is_unit(kind))
      return {false, kind};
    return {holds(kind, pattern, subject_)};
  }

  // A name and a number can be compared only if the number of the name is known.
  Verdict test_identity(ConditionKind kind, const CompiledPattern& pattern) const {
    if (process_.knows_users && !pattern.id) return {false};
    const std::string* value = find(kind);
    if (value == nullptr) return {false, kind};
    if (*value == pattern.text) return {true};
    const auto id = process_.ids.find(kind);
    const bool has_id = id != process_.ids.end();
    if (has_id && pattern.id) return {id->second == *pattern.id};
    return has_id == pattern.id.has_value() ? Verdict{false} : Verdict{false, kind};
  }

  // Units without their cgroup: the slices above them are not known.
  Verdict test_unit(ConditionKind kind, const CompiledPattern& pattern) const {
    const std::string* value = find(kind);
    const std::string* unit = find(ConditionKind::unit);
    if (value == nullptr) {
      // Only processes below user@UID.service have units of a user's manager.
      const bool no_user_units = kind == ConditionKind::user_unit && unit != nullptr &&
                                 !unit->ends_with(".slice") && !unit->starts_with("user@");
      if (no_user_units) return {false};
      return {false, kind};
    }
    if (pattern.literal ? pattern.text == *value : glob_match(pattern.text, *value)) return {true};
    if (may_be_slice(pattern)) return {false, ConditionKind::cgroup};
    return {false};
  }

  const ProcessDescription& process_;
  ProcessFacts facts_;
  Subject subject_;
  bool in_no_container_ = false;
};

RuleTrial try_rule(const RuleSet& rules, size_t index, Described& process) {
  RuleTrial trial{index, true, {}};
  for (const CompiledCondition condition : rules.conditions_of(rules.rules()[index])) {
    const Verdict verdict = process.test(condition);
    if (verdict.holds) continue;
    trial.matched = false;
    // A condition that fails decides, whatever is not known of the others.
    if (!verdict.needs) return {index, false, process.why_not(condition)};
    if (!trial.needs) trial.needs = verdict.needs;
  }
  return trial;
}

}  // namespace

std::vector<RuleTrial> explain(const RuleSet& rules, const ProcessDescription& process) {
  Described described(process);
  std::vector<RuleTrial> trials;
  for (size_t i = 0; i < rules.rules().size(); i++) {
    trials.push_back(try_rule(rules, i, described));
    if (trials.back().matched) break;
  }
  return trials;
}

}  // namespace rdtd
