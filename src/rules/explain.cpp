#include "rdtd/rules/explain.hpp"

#include <fmt/format.h>

#include <span>

#include "failed_condition.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

std::string value_of(ConditionKind kind, Subject& subject) {
  const ProcessFacts& facts = subject.facts;
  const auto unit = [](std::span<const std::string_view> units) {
    return std::string(units.empty() ? "" : units.back());
  };
  switch (kind) {
    case ConditionKind::name: return *facts.name;
    case ConditionKind::thread: return facts.thread.value_or("");
    case ConditionKind::exe: return *facts.exe;
    case ConditionKind::cmdline: return *facts.cmdline;
    case ConditionKind::cgroup: return *facts.cgroup;
    case ConditionKind::unit: return unit(subject.units().system);
    case ConditionKind::user_unit: return unit(subject.units().user);
    case ConditionKind::vm: return subject.vm();
    case ConditionKind::pod: return facts.container->pod;
    case ConditionKind::container: return facts.container->container;
    case ConditionKind::user: return std::to_string(facts.identity->responsible());
    case ConditionKind::user_group: return std::to_string(facts.identity->gid);
  }
  return {};
}

// A user is shown with the number: "'redis' (999)".
std::string wanted_text(ConditionKind kind, const CompiledPattern& pattern) {
  const std::string text = fmt::format("'{}'", pattern.text);
  if (!is_identity(kind)) return text;
  if (!pattern.id) return text + " (unknown here)";
  return pattern.text == std::to_string(*pattern.id) ? text
                                                     : fmt::format("{} ({})", text, *pattern.id);
}

}  // namespace

// It is repeated for each rule, and its process chooses its length.
std::string shortened(std::string value) {
  constexpr size_t longest = 256;
  if (value.size() <= longest) return value;
  size_t end = 0;
  const std::string_view text = value;
  for (size_t next = 0; next <= longest;
       next += std::max<size_t>(1, first_character(text.substr(next)).length))
    end = next;
  return value.substr(0, end) + "...";
}

std::string wanted_texts(const CompiledCondition& condition, const char* separator) {
  std::vector<std::string> wanted;
  for (const auto& pattern : condition.patterns)
    wanted.push_back(wanted_text(condition.kind, pattern));
  return join(wanted, separator);
}

std::string failure(const CompiledCondition& condition, Subject& subject, bool with_patterns) {
  const std::string any = wanted_texts(condition, " or ");
  const std::string_view kind = to_string(condition.kind);
  if (condition.kind == ConditionKind::thread && !subject.facts.thread)
    return with_patterns
               ? fmt::format("thread {} is for single threads", wanted_texts(condition, ", "))
               : "the rule is for single threads";
  const std::string value = shortened(value_of(condition.kind, subject));
  const Fact fact = fact_of(condition.kind);
  const bool of_cgroup = fact == Fact::cgroup || fact == Fact::container;
  if (of_cgroup && value.empty())
    return fmt::format("cgroup '{}' has no {}{}", subject.facts.cgroup.value_or(""), kind,
                       fact == Fact::container ? " whose name is known" : "") +
           (with_patterns ? ", rule requires " + any : "");
  return fmt::format("{} is '{}'", kind, value) +
         (with_patterns ? ", not " + any : ", which does not match");
}

std::vector<RuleTrial> explain(const RuleSet& rules, const ProcessFacts& facts,
                               bool with_patterns) {
  Subject subject(facts);
  std::vector<RuleTrial> trials;
  for (size_t i = 0; i < rules.rules().size(); i++) {
    RuleTrial trial{i, true, {}};
    for (const CompiledCondition condition : rules.conditions_of(rules.rules()[i])) {
      if (holds(condition, subject)) continue;
      trial = {i, false, failure(condition, subject, with_patterns)};
      break;
    }
    trials.push_back(trial);
    if (trials.back().matched) break;
  }
  return trials;
}

}  // namespace rdtd
