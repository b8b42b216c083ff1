#include "rdtd/rules/condition.hpp"

#include <algorithm>
#include <span>

#include "rdtd/base/glob.hpp"
#include "rdtd/model/virtual_machine.hpp"

namespace rdtd {

namespace {

bool text_matches(const CompiledPattern& pattern, std::string_view text) {
  return pattern.literal ? pattern.text == text : glob_match(pattern.text, text);
}

// An absent name matches nothing, not even "*".
bool matches_name(const CompiledPattern& pattern, const std::string& name) {
  return !name.empty() && text_matches(pattern, name);
}

bool path_matches(const CompiledPattern& pattern, std::string_view path) {
  return pattern.literal ? pattern.text == path : path_glob_match(pattern.text, path);
}

// Whether the pattern matches the cgroup or one of its ancestors.
bool cgroup_matches(const CompiledPattern& pattern, std::string_view path) {
  if (!pattern.literal) return path_glob_match_ancestor(pattern.text, path);
  if (!path.starts_with(pattern.text)) return false;
  return pattern.text == "/" || path.size() == pattern.text.size() ||
         path[pattern.text.size()] == '/';
}

bool unit_matches(const CompiledPattern& pattern, std::span<const std::string_view> units) {
  return std::ranges::any_of(units,
                             [&](std::string_view unit) { return text_matches(pattern, unit); });
}

bool compare(ConditionKind kind, const CompiledPattern& pattern, Subject& subject) {
  const ProcessFacts& facts = subject.facts;
  switch (kind) {
    case ConditionKind::name: return text_matches(pattern, *facts.name);
    case ConditionKind::thread: return facts.thread && text_matches(pattern, *facts.thread);
    case ConditionKind::exe: return path_matches(pattern, *facts.exe);
    case ConditionKind::cmdline: return text_matches(pattern, *facts.cmdline);
    case ConditionKind::cgroup: return cgroup_matches(pattern, *facts.cgroup);
    case ConditionKind::unit: return unit_matches(pattern, subject.units().system);
    case ConditionKind::user_unit: return unit_matches(pattern, subject.units().user);
    case ConditionKind::vm: return matches_name(pattern, subject.vm());
    case ConditionKind::pod: return matches_name(pattern, facts.container->pod);
    case ConditionKind::container: return matches_name(pattern, facts.container->container);
    case ConditionKind::user: return facts.identity->responsible() == pattern.id;
    case ConditionKind::user_group: return facts.identity->gid == pattern.id;
  }
  return false;
}

}  // namespace

Fact fact_of(ConditionKind kind) {
  switch (kind) {
    case ConditionKind::name:
    case ConditionKind::thread: return Fact::name;
    case ConditionKind::exe: return Fact::exe;
    case ConditionKind::cgroup:
    case ConditionKind::unit:
    case ConditionKind::user_unit:
    case ConditionKind::vm: return Fact::cgroup;
    case ConditionKind::pod:
    case ConditionKind::container: return Fact::container;
    case ConditionKind::cmdline: return Fact::cmdline;
    case ConditionKind::user:
    case ConditionKind::user_group: return Fact::identity;
  }
  return Fact::name;
}

bool is_identity(ConditionKind kind) { return fact_of(kind) == Fact::identity; }

const CgroupUnits& Subject::units() {
  if (!units_) units_ = units_of_cgroup(*facts.cgroup);
  return *units_;
}

const std::string& Subject::vm() {
  if (!vm_) vm_ = vm_of_cgroup(*facts.cgroup).value_or("");
  return *vm_;
}

bool holds(ConditionKind kind, const CompiledPattern& pattern, Subject& subject) {
  using Answer = PatternMemo::Answer;
  const Fact fact = fact_of(kind);
  PatternMemo::Answers* const answers = fact == Fact::cgroup    ? subject.cgroup_answers
                                        : fact == Fact::cmdline ? subject.cmdline_answers
                                                                : nullptr;
  if (answers == nullptr) return compare(kind, pattern, subject);
  Answer& answer = (*answers)[pattern.number];
  if (answer == Answer::unknown)
    answer = compare(kind, pattern, subject) ? Answer::yes : Answer::no;
  return answer == Answer::yes;
}

bool holds(const CompiledCondition& condition, Subject& subject) {
  return std::ranges::any_of(condition.patterns, [&](const CompiledPattern& pattern) {
    return holds(condition.kind, pattern, subject);
  });
}

}  // namespace rdtd
