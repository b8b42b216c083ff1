#include "rdtd/rules/rule_set.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/model/virtual_machine.hpp"

namespace rdtd {

namespace {

uint32_t size_of(const auto& array) { return static_cast<uint32_t>(array.size()); }

// A virtual machine's name stands for those that its scope may have.
std::vector<std::string> texts_of(const Condition& condition) {
  std::vector<std::string> texts;
  for (const Located<std::string>& pattern : condition.patterns) {
    texts.push_back(pattern.value);
    if (condition.kind != ConditionKind::vm) continue;
    if (const auto name = glob_only_match(pattern.value))
      for (std::string& in_scope : vm_names_in_scope(*name)) texts.push_back(std::move(in_scope));
  }
  return texts;
}

CompiledPattern compiled(ConditionKind kind, const std::string& text, const Users& users) {
  CompiledPattern out{text};
  if (is_identity(kind)) {
    const auto& names = kind == ConditionKind::user ? users.users : users.groups;
    const auto name = names.find(text);
    out.id = name != names.end() ? name->second : parse_unsigned<uint32_t>(text);
    out.literal = true;
  } else if (auto only = glob_only_match(text)) {
    out.text = std::move(*only);
    out.literal = true;
  }
  return out;
}

}  // namespace

RuleSet::RuleSet(const Policy& policy, const Users& users) {
  std::map<Destination, uint32_t> destinations;
  rules_.reserve(policy.rules.size());
  for (const Rule& rule : policy.rules) {
    CompiledRule compiled{.where = rule.where, .leaves = rule.leaves()};
    if (!compiled.leaves) {
      const Destination destination{group_directory(rule.group.value),
                                    rule.monitor ? rule.monitor->value : "", rule.stands_in};
      const auto [known, is_new] = destinations.emplace(destination, size_of(destinations_));
      if (is_new) destinations_.push_back(destination);
      compiled.destination = known->second;
    }
    compiled.per_thread = std::ranges::any_of(rule.conditions, [](const Condition& condition) {
      return condition.kind == ConditionKind::thread;
    });
    has_thread_rules_ |= compiled.per_thread;
    compiled.conditions = compile(rule.conditions, users);
    add_anchor(conditions_[compiled.conditions.begin], size_of(rules_));
    rules_.push_back(std::move(compiled));
  }
  conditions_.shrink_to_fit();
  patterns_.shrink_to_fit();
  cgroups_ = CgroupPatterns(about_cgroups(), patterns_);
  for (Anchors& anchors : anchors_) {
    anchors.texts.sort();
    anchors.ids.sort();
  }
}

Stretch RuleSet::compile(const std::vector<Condition>& conditions, const Users& users) {
  const Stretch out{size_of(conditions_), size_of(conditions)};
  for (const Condition& condition : conditions)
    conditions_.push_back({condition.kind, compile_patterns(condition, users)});
  // The cheapest condition first: it is the anchor, and the others are not evaluated if it fails.
  // A rule for single threads is found by the thread's name.
  std::ranges::stable_sort(out.of(conditions_), {}, [](const StoredCondition& condition) {
    return std::pair(condition.kind != ConditionKind::thread, fact_of(condition.kind));
  });
  return out;
}

Stretch RuleSet::compile_patterns(const Condition& condition, const Users& users) {
  Stretch out{size_of(patterns_), 0};
  for (const std::string& text : texts_of(condition)) {
    CompiledPattern& pattern = patterns_.emplace_back(compiled(condition.kind, text, users));
    if (condition.kind == ConditionKind::cmdline) pattern.number = cmdline_patterns_++;
    out.size++;
  }
  return out;
}

CgroupPatterns::Indexes RuleSet::about_cgroups() const {
  CgroupPatterns::Indexes out;
  for (const auto& [kind, patterns] : conditions_)
    for (uint32_t at = 0; at < patterns.size && fact_of(kind) == Fact::cgroup; at++)
      out.emplace_back(kind, patterns.begin + at);
  return out;
}

void RuleSet::add_anchor(const StoredCondition& condition, uint32_t rule) {
  Anchors& anchors = anchors_[static_cast<size_t>(condition.kind)];
  anchors.first = std::min<size_t>(anchors.first, rule);
  for (const CompiledPattern& pattern : condition.patterns.of(patterns_)) {
    if (!is_identity(condition.kind))
      anchors.texts.add(condition.kind, pattern, rule);
    else if (pattern.id)
      anchors.ids.add(*pattern.id, rule);
  }
}

size_t RuleSet::first_rule(Fact fact, bool for_thread) const {
  const auto first = [&](ConditionKind kind) { return anchors(kind).first; };
  switch (fact) {
    case Fact::name:
      return std::min(first(ConditionKind::name),
                      for_thread ? first(ConditionKind::thread) : SIZE_MAX);
    case Fact::exe: return first(ConditionKind::exe);
    case Fact::cgroup:
      return std::min({first(ConditionKind::cgroup), first(ConditionKind::unit),
                       first(ConditionKind::user_unit), first(ConditionKind::vm)});
    case Fact::container:
      return std::min(first(ConditionKind::pod), first(ConditionKind::container));
    case Fact::cmdline: return first(ConditionKind::cmdline);
    case Fact::identity:
      return std::min(first(ConditionKind::user), first(ConditionKind::user_group));
  }
  return SIZE_MAX;
}

void RuleSet::find_candidates(Fact fact, Subject& subject, Candidates& out) const {
  const ProcessFacts& facts = subject.facts;
  out.clear();
  const auto by_text = [&](ConditionKind kind, std::string_view text) {
    anchors(kind).texts.find(text, out);
  };
  const auto by_id = [&](ConditionKind kind, uint32_t id) {
    out.push_back(anchors(kind).ids.find(id));
  };
  switch (fact) {
    case Fact::name:
      by_text(ConditionKind::name, *facts.name);
      if (facts.thread) by_text(ConditionKind::thread, *facts.thread);
      break;
    case Fact::exe: by_text(ConditionKind::exe, *facts.exe); break;
    case Fact::cgroup:
      by_text(ConditionKind::cgroup, *facts.cgroup);
      if (anchors(ConditionKind::unit).first != SIZE_MAX)
        for (const std::string_view unit : subject.units().system)
          by_text(ConditionKind::unit, unit);
      if (anchors(ConditionKind::user_unit).first != SIZE_MAX)
        for (const std::string_view unit : subject.units().user)
          by_text(ConditionKind::user_unit, unit);
      if (anchors(ConditionKind::vm).first != SIZE_MAX && !subject.vm().empty())
        by_text(ConditionKind::vm, subject.vm());
      remove_duplicates(out);
      break;
    case Fact::container:
      by_text(ConditionKind::pod, facts.container->pod);
      by_text(ConditionKind::container, facts.container->container);
      break;
    case Fact::cmdline: by_text(ConditionKind::cmdline, *facts.cmdline); break;
    case Fact::identity:
      by_id(ConditionKind::user, facts.identity->responsible());
      by_id(ConditionKind::user_group, facts.identity->gid);
      break;
  }
}

Decision RuleSet::evaluate(const CompiledRule& rule, Subject& subject) const {
  for (const CompiledCondition condition : conditions_of(rule)) {
    const Fact fact = fact_of(condition.kind);
    if (!subject.facts.has(fact)) return {Decision::Kind::needs_fact, 0, fact};
    if (!holds(condition, subject)) return {Decision::Kind::unmatched};
  }
  return {Decision::Kind::matched};
}

Decision RuleSet::match(const ProcessFacts& facts, MatchMemo* memo) const {
  Subject subject(facts);
  if (memo != nullptr && facts.cgroup && facts.cgroup->size() >= MatchMemo::min_cgroup)
    subject.cgroup_answers = &memo->cgroups.answers(identity_, *facts.cgroup, cgroups_.size());
  if (memo != nullptr && facts.cmdline && facts.cmdline->size() >= MatchMemo::min_cmdline)
    subject.cmdline_answers = &memo->cmdlines.answers(identity_, *facts.cmdline, cmdline_patterns_);
  Decision best{Decision::Kind::unmatched, SIZE_MAX};
  Candidates candidates;
  for (const Fact fact : all_facts) {
    if (first_rule(fact, facts.thread.has_value()) >= best.rule) continue;
    if (!facts.has(fact)) return {Decision::Kind::needs_fact, 0, fact};
    find_candidates(fact, subject, candidates);
    for (const std::span<const Posting> rules : candidates)
      for (const auto [hash, rule] : rules) {
        if (rule >= best.rule) break;
        const Decision decision = evaluate(rules_[rule], subject);
        if (decision.kind == Decision::Kind::unmatched) continue;
        best = {decision.kind, rule, decision.fact};
        break;
      }
    if (best.kind == Decision::Kind::needs_fact) return best;
  }
  if (best.kind == Decision::Kind::matched && rules_[best.rule].leaves)
    best.kind = Decision::Kind::left;
  return best;
}

bool RuleSet::reads(Fact fact) const {
  return std::ranges::any_of(conditions_, [&](const StoredCondition& condition) {
    return fact_of(condition.kind) == fact;
  });
}

bool RuleSet::decides_as(const RuleSet& other) const {
  const auto decision = [](const CompiledRule& rule) {
    return std::tie(rule.destination, rule.leaves, rule.conditions, rule.per_thread);
  };
  return destinations_ == other.destinations_ && conditions_ == other.conditions_ &&
         patterns_ == other.patterns_ &&
         std::ranges::equal(rules_, other.rules_, {}, decision, decision);
}

}  // namespace rdtd
