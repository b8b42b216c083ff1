#include "rdtd/plan/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/model/systemd_unit.hpp"

namespace rdtd {

// A process that rules are tried on: its facts, and the units that follow from them.
class Subject {
 public:
  explicit Subject(const ProcessFacts& of) : facts(of) {}

  const ProcessFacts& facts;
  [[nodiscard]] const CgroupUnits& units() {
    if (!units_) units_ = units_of_cgroup(*facts.cgroup);
    return *units_;
  }

 private:
  std::optional<CgroupUnits> units_;
};

namespace {

Fact fact_of(ConditionKind kind) {
  switch (kind) {
    case ConditionKind::name:
    case ConditionKind::thread: return Fact::name;
    case ConditionKind::exe: return Fact::exe;
    case ConditionKind::cgroup:
    case ConditionKind::unit:
    case ConditionKind::user_unit: return Fact::cgroup;
    case ConditionKind::cmdline: return Fact::cmdline;
    case ConditionKind::user:
    case ConditionKind::user_group: return Fact::identity;
  }
  return Fact::name;
}

bool by_number(ConditionKind kind) {
  return kind == ConditionKind::user || kind == ConditionKind::user_group;
}

bool text_matches(const CompiledCondition::Pattern& pattern, std::string_view text) {
  return pattern.literal ? pattern.text == text : glob_match(pattern.text, text);
}

bool path_matches(const CompiledCondition::Pattern& pattern, std::string_view path) {
  return pattern.literal ? pattern.text == path : path_glob_match(pattern.text, path);
}

// Whether the pattern matches the cgroup or one of its ancestors.
bool cgroup_matches(const CompiledCondition::Pattern& pattern, std::string_view path) {
  if (!pattern.literal) return path_glob_match_ancestor(pattern.text, path);
  if (!path.starts_with(pattern.text)) return false;
  return pattern.text == "/" || path.size() == pattern.text.size() ||
         path[pattern.text.size()] == '/';
}

bool unit_matches(const CompiledCondition::Pattern& pattern,
                  std::span<const std::string_view> units) {
  return std::ranges::any_of(units,
                             [&](std::string_view unit) { return text_matches(pattern, unit); });
}

bool pattern_holds(ConditionKind kind, const CompiledCondition::Pattern& pattern,
                   Subject& subject) {
  const ProcessFacts& facts = subject.facts;
  switch (kind) {
    case ConditionKind::name: return text_matches(pattern, *facts.name);
    case ConditionKind::thread: return facts.thread && text_matches(pattern, *facts.thread);
    case ConditionKind::exe: return path_matches(pattern, *facts.exe);
    case ConditionKind::cmdline: return text_matches(pattern, *facts.cmdline);
    case ConditionKind::cgroup: return cgroup_matches(pattern, *facts.cgroup);
    case ConditionKind::unit: return unit_matches(pattern, subject.units().system);
    case ConditionKind::user_unit: return unit_matches(pattern, subject.units().user);
    case ConditionKind::user: return facts.identity->uid == pattern.id;
    case ConditionKind::user_group: return facts.identity->gid == pattern.id;
  }
  return false;
}

bool holds(const CompiledCondition& condition, Subject& subject) {
  return std::ranges::any_of(condition.patterns, [&](const auto& pattern) {
    return pattern_holds(condition.kind, pattern, subject);
  });
}

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
    case ConditionKind::user: return std::to_string(facts.identity->uid);
    case ConditionKind::user_group: return std::to_string(facts.identity->gid);
  }
  return {};
}

// A user is told of by number: "'redis' (999)".
std::string wanted_text(ConditionKind kind, const CompiledCondition::Pattern& pattern) {
  const std::string text = fmt::format("'{}'", pattern.text);
  if (!by_number(kind)) return text;
  if (!pattern.id) return text + " (unknown here)";
  return pattern.text == std::to_string(*pattern.id) ? text
                                                     : fmt::format("{} ({})", text, *pattern.id);
}

std::string failure(const CompiledCondition& condition, Subject& subject, bool with_values) {
  std::vector<std::string> wanted;
  for (const auto& pattern : condition.patterns)
    wanted.push_back(wanted_text(condition.kind, pattern));
  const std::string any = join(wanted, " or ");
  const std::string_view kind = to_string(condition.kind);
  if (condition.kind == ConditionKind::thread && !subject.facts.thread)
    return fmt::format("thread {} is for single threads", join(wanted, ", "));
  if (!with_values) return fmt::format("{} is not {}", kind, any);
  const std::string value = value_of(condition.kind, subject);
  const bool of_cgroup = fact_of(condition.kind) == Fact::cgroup;
  if (of_cgroup && value.empty())
    return fmt::format("cgroup '{}' has no {}, rule requires {}", *subject.facts.cgroup, kind, any);
  return fmt::format("{} is '{}', not {}", kind, value, any);
}

}  // namespace

Users look_up_users(const Policy& policy,
                    const std::function<std::optional<uid_t>(const std::string&)>& find_user,
                    const std::function<std::optional<gid_t>(const std::string&)>& find_user_group,
                    std::vector<Diagnostic>& warnings) {
  Users users;
  for (const Rule& rule : policy.rules)
    for (const Condition& condition : rule.conditions) {
      if (!by_number(condition.kind)) continue;
      const bool user = condition.kind == ConditionKind::user;
      for (const Located<std::string>& name : condition.patterns) {
        if (parse_unsigned<uint32_t>(name.value)) continue;
        if (const auto id = user ? find_user(name.value) : find_user_group(name.value))
          (user ? users.users : users.groups)[name.value] = *id;
        else
          warnings.push_back(
              {Severity::warning,
               name.where,
               fmt::format("there is no {} '{}' here: nothing matches it until the next reload",
                           user ? "user" : "user group", name.value),
               {}});
      }
    }
  return users;
}

RuleSet::RuleSet(const Policy& policy, const Users& users) {
  for (const Rule& rule : policy.rules) {
    CompiledRule compiled;
    const std::string directory = group_directory(rule.group.value);
    const auto known = std::ranges::find(groups_, directory);
    compiled.group = static_cast<size_t>(known - groups_.begin());
    if (known == groups_.end()) groups_.push_back(directory);
    compiled.where = rule.where;
    for (const Condition& condition : rule.conditions) {
      CompiledCondition& out =
          compiled.conditions.emplace_back(CompiledCondition{condition.kind, {}});
      if (condition.kind == ConditionKind::thread) compiled.per_thread = has_thread_rules_ = true;
      const auto& names = condition.kind == ConditionKind::user ? users.users : users.groups;
      for (const Located<std::string>& pattern : condition.patterns) {
        if (!by_number(condition.kind)) {
          out.patterns.push_back({pattern.value, glob_is_literal(pattern.value), {}});
        } else if (const auto name = names.find(pattern.value); name != names.end()) {
          out.patterns.push_back({pattern.value, true, name->second});
        } else {
          out.patterns.push_back({pattern.value, true, parse_unsigned<uint32_t>(pattern.value)});
        }
      }
    }
    // The cheapest condition first: it is the anchor, and the others are not looked at where it
    // fails. A rule for single threads is found by the thread's name.
    std::ranges::stable_sort(compiled.conditions, {}, [](const CompiledCondition& c) {
      return std::pair(c.kind != ConditionKind::thread, fact_of(c.kind));
    });
    const size_t number = rules_.size();
    const CompiledCondition& anchor = compiled.conditions.front();
    if (by_number(anchor.kind)) {
      Index& numbers = indexes_[static_cast<size_t>(anchor.kind)];
      numbers.first = std::min(numbers.first, number);
      for (const auto& pattern : anchor.patterns)
        if (pattern.id)
          (anchor.kind == ConditionKind::user ? by_user_ : by_user_group_)[*pattern.id].push_back(
              number);
    } else {
      indexes_[static_cast<size_t>(anchor.kind)].add(anchor, number);
    }
    rules_.push_back(std::move(compiled));
  }
}

void RuleSet::Index::add(const CompiledCondition& condition, size_t rule) {
  first = std::min(first, rule);
  for (const auto& pattern : condition.patterns) {
    std::string_view start = glob_prefix(pattern.text);
    // "/a/**" matches "/a" too.
    const bool is_path =
        condition.kind == ConditionKind::exe || condition.kind == ConditionKind::cgroup;
    if (is_path && start.ends_with('/') && pattern.text.substr(start.size()).starts_with("**"))
      start.remove_suffix(1);
    // The path of a cgroup begins with the paths of its ancestors, which count too.
    const bool whole = pattern.literal && condition.kind != ConditionKind::cgroup;
    Postings& rules = whole ? literal[pattern.text] : prefix[start.size()][std::string(start)];
    if (rules.empty() || rules.back() != rule) rules.push_back(rule);
  }
}

void RuleSet::Index::find(std::string_view text, Candidates& out) const {
  const auto append = [&](const ByText<Postings>& map, std::string_view key) {
    if (const auto found = map.find(key); found != map.end()) out.push_back(&found->second);
  };
  append(literal, text);
  for (const auto& [length, by_prefix] : prefix) {
    if (length > text.size()) return;
    append(by_prefix, text.substr(0, length));
  }
}

size_t RuleSet::first_rule(Fact fact, bool for_thread) const {
  switch (fact) {
    case Fact::name:
      return std::min(index(ConditionKind::name).first,
                      for_thread ? index(ConditionKind::thread).first : SIZE_MAX);
    case Fact::exe: return index(ConditionKind::exe).first;
    case Fact::cgroup:
      return std::min({index(ConditionKind::cgroup).first, index(ConditionKind::unit).first,
                       index(ConditionKind::user_unit).first});
    case Fact::cmdline: return index(ConditionKind::cmdline).first;
    case Fact::identity:
      return std::min(index(ConditionKind::user).first, index(ConditionKind::user_group).first);
  }
  return SIZE_MAX;
}

void RuleSet::find_candidates(Fact fact, Subject& subject, Candidates& out) const {
  const ProcessFacts& facts = subject.facts;
  out.clear();
  const auto by_number = [&](const auto& map, uint32_t id) {
    if (const auto found = map.find(id); found != map.end()) out.push_back(&found->second);
  };
  switch (fact) {
    case Fact::name:
      index(ConditionKind::name).find(*facts.name, out);
      if (facts.thread) index(ConditionKind::thread).find(*facts.thread, out);
      break;
    case Fact::exe: index(ConditionKind::exe).find(*facts.exe, out); break;
    case Fact::cgroup:
      index(ConditionKind::cgroup).find(*facts.cgroup, out);
      for (const std::string_view unit : subject.units().system)
        index(ConditionKind::unit).find(unit, out);
      for (const std::string_view unit : subject.units().user)
        index(ConditionKind::user_unit).find(unit, out);
      // Several slices may lead to the same rules.
      std::ranges::sort(out);
      out.erase(std::ranges::unique(out).begin(), out.end());
      break;
    case Fact::cmdline: index(ConditionKind::cmdline).find(*facts.cmdline, out); break;
    case Fact::identity:
      by_number(by_user_, facts.identity->uid);
      by_number(by_user_group_, facts.identity->gid);
      break;
  }
}

Decision RuleSet::evaluate(const CompiledRule& rule, Subject& subject) {
  for (const CompiledCondition& condition : rule.conditions) {
    const Fact fact = fact_of(condition.kind);
    if (condition.kind != ConditionKind::thread && !subject.facts.has(fact))
      return {Decision::Kind::needs_fact, 0, fact};
    if (!holds(condition, subject)) return {Decision::Kind::unmatched};
  }
  return {Decision::Kind::matched};
}

Decision RuleSet::match(const ProcessFacts& facts) const {
  Decision best{Decision::Kind::unmatched, SIZE_MAX};
  Subject subject(facts);
  Candidates candidates;
  for (const Fact fact : all_facts) {
    if (first_rule(fact, facts.thread.has_value()) >= best.rule) continue;
    if (!facts.has(fact)) return {Decision::Kind::needs_fact, 0, fact};
    find_candidates(fact, subject, candidates);
    for (const Postings* rules : candidates)
      for (const size_t rule : *rules) {
        if (rule >= best.rule) break;
        const Decision decision = evaluate(rules_[rule], subject);
        if (decision.kind == Decision::Kind::unmatched) continue;
        best = {decision.kind, rule, decision.fact};
        break;
      }
    if (best.kind == Decision::Kind::needs_fact) return best;
  }
  return best;
}

bool RuleSet::speaks_of_cgroup(const std::string& path) const {
  ProcessFacts facts;
  facts.cgroup = path;
  Subject subject(facts);
  return std::ranges::any_of(rules_, [&](const CompiledRule& rule) {
    return std::ranges::any_of(rule.conditions, [&](const CompiledCondition& condition) {
      return fact_of(condition.kind) == Fact::cgroup && holds(condition, subject);
    });
  });
}

std::vector<RuleTrial> RuleSet::explain(const ProcessFacts& facts, bool with_values) const {
  Subject subject(facts);
  std::vector<RuleTrial> trials;
  for (size_t i = 0; i < rules_.size(); i++) {
    RuleTrial trial{i, true, {}};
    for (const CompiledCondition& condition : rules_[i].conditions) {
      if (holds(condition, subject)) continue;
      trial = {i, false, failure(condition, subject, with_values)};
      break;
    }
    trials.push_back(trial);
    if (trials.back().matched) break;
  }
  return trials;
}

}  // namespace rdtd
