#include "shadowed_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cgroup_components.hpp"
#include "rdtd/base/glob.hpp"

namespace rdtd {

namespace {

constexpr size_t most_comparisons = 10'000'000;  // of patterns: some tenths of a second

// Whether the pattern matches every text that a condition of this kind can be about.
bool matches_any(ConditionKind kind, std::string_view pattern) {
  switch (kind) {
    case ConditionKind::exe: return pattern == "**" || pattern == "/**";
    // "/" is the ancestor of every cgroup.
    case ConditionKind::cgroup: return pattern == "/" || pattern == "**" || pattern == "/**";
    case ConditionKind::user:
    case ConditionKind::user_group: return false;
    default: return !pattern.empty() && pattern.find_first_not_of('*') == std::string_view::npos;
  }
}

// The slice that systemd puts a slice, a session or a user's manager into; empty of other units,
// whose slice is a setting.
std::string slice_above(std::string_view unit) {
  constexpr std::string_view slice = ".slice", manager = "user@", service = ".service";
  if (unit.starts_with("session-") && unit.ends_with(".scope")) return "user.slice";
  if (unit.starts_with(manager) && unit.ends_with(service))
    return fmt::format("user-{}.slice",
                       unit.substr(manager.size(), unit.size() - manager.size() - service.size()));
  return unit.ends_with(slice) ? parent_of_slice(unit) : "";
}

using Pattern = uint32_t;  // a distinct pattern of a kind, numbered
constexpr Pattern any = 0;

// The conditions of a rule; without those that hold for every process.
struct Conditions {
  std::array<std::vector<Pattern>, condition_kinds.size()> patterns;  // sorted; `any` stands alone
  [[nodiscard]] bool none() const {
    return std::ranges::all_of(patterns, &std::vector<Pattern>::empty);
  }
};

class Search {
 public:
  explicit Search(std::span<const Rule> rules) {
    for (const Rule& rule : rules) all_.push_back(conditions_of(rule));
    find_ancestors();
    find_slices(ConditionKind::unit);
    find_slices(ConditionKind::user_unit);
    uses_.resize(names_.size() + condition_kinds.size());
    for (const Conditions& conditions : all_)
      for_each(conditions, [&](size_t kind, Pattern pattern) { uses_[slot(kind, pattern)]++; });
    by_anchor_.resize(uses_.size());
  }

  // The first rule before this one that matches everything that it matches. Called for each rule in
  // order.
  std::optional<size_t> find(size_t rule) {
    std::optional<size_t> found = matches_all_;
    const Conditions& conditions = all_[rule];
    for (size_t kind = 0; kind < condition_kinds.size(); kind++) {
      const std::vector<Pattern>& patterns = conditions.patterns[kind];
      if (patterns.empty()) continue;
      look_among(by_anchor_[slot(kind, any)], rule, found);
      // A rule that matches all has each of the patterns, or one above it: the rarest one leads to
      // the fewest rules.
      if (patterns.front() != any)
        for_each_above(rarest(patterns), [&](Pattern pattern) {
          look_among(by_anchor_[slot(kind, pattern)], rule, found);
        });
    }
    add(rule);
    return found;
  }

 private:
  Conditions conditions_of(const Rule& rule) {
    Conditions out;
    for (const Condition& condition : rule.conditions) {
      const auto kind = static_cast<size_t>(condition.kind);
      std::vector<Pattern>& patterns = out.patterns[kind];
      const bool holds_for_any = std::ranges::any_of(condition.patterns, [&](const auto& pattern) {
        return matches_any(condition.kind, pattern.value);
      });
      // Every process has a name and a cgroup, but not all have a unit or an executable.
      if (holds_for_any &&
          (condition.kind == ConditionKind::name || condition.kind == ConditionKind::cgroup))
        continue;
      if (holds_for_any) {
        patterns = {any};
        continue;
      }
      for (const auto& pattern : condition.patterns) {
        const auto next = static_cast<Pattern>(names_.size() + 1);
        const std::string name = fmt::format("{} {}", kind, pattern.value);
        patterns.push_back(names_.emplace(name, next).first->second);
      }
      std::ranges::sort(patterns);
      patterns.erase(std::ranges::unique(patterns).begin(), patterns.end());
    }
    return out;
  }

  // A cgroup includes those below it: of each path the nearest one above it that is a pattern too.
  void find_ancestors() {
    constexpr size_t deepest = 32;  // what lies below has no ancestor: or many '/' would take long
    above_.assign(names_.size() + 1, any);
    const std::string kind = fmt::format("{} ", static_cast<size_t>(ConditionKind::cgroup));
    for (const auto& [name, pattern] : names_) {
      if (!name.starts_with(kind) || has_wildcard(name)) continue;
      size_t at = kind.size();
      for (size_t depth = 0; depth < deepest; depth++) {
        at = name.find('/', at + 1);
        if (at == std::string::npos) break;
        const auto found = names_.find(name.substr(0, at));
        if (found != names_.end()) above_[pattern] = found->second;
      }
    }
  }

  // A slice includes those whose names begin with its own.
  void find_slices(ConditionKind of) {
    constexpr size_t deepest = 32;
    const std::string kind = fmt::format("{} ", static_cast<size_t>(of));
    for (const auto& [name, pattern] : names_) {
      if (!name.starts_with(kind) || has_wildcard(name)) continue;
      std::string unit = name.substr(kind.size());
      for (size_t depth = 0; depth < deepest && above_[pattern] == any; depth++) {
        unit = slice_above(unit);
        const auto found = names_.find(kind + unit);
        if (unit.empty()) break;
        if (found != names_.end()) above_[pattern] = found->second;
      }
    }
  }

  // A pattern, and then those that match all that it matches.
  void for_each_above(Pattern pattern, const auto& visit) const {
    for (; pattern != any; pattern = above_[pattern]) visit(pattern);
  }

  static void for_each(const Conditions& conditions, const auto& visit) {
    for (size_t kind = 0; kind < condition_kinds.size(); kind++)
      for (const Pattern pattern : conditions.patterns[kind]) visit(kind, pattern);
  }

  // Index into by_anchor_; `any` of each kind comes first.
  static size_t slot(size_t kind, Pattern pattern) {
    return pattern == any ? kind : condition_kinds.size() + pattern - 1;
  }

  [[nodiscard]] Pattern rarest(const std::vector<Pattern>& patterns) const {
    return *std::ranges::min_element(patterns, {}, [&](Pattern pattern) {
      size_t rules = 0;
      for_each_above(pattern, [&](Pattern one) { rules += by_anchor_[slot(0, one)].size(); });
      return rules;
    });
  }

  // Whether whatever matches `later` matches `earlier` too.
  bool covers(const Conditions& earlier, const Conditions& later) {
    for (size_t kind = 0; kind < condition_kinds.size(); kind++) {
      const std::vector<Pattern>& mine = earlier.patterns[kind];
      const std::vector<Pattern>& theirs = later.patterns[kind];
      comparisons_++;
      if (mine.empty()) continue;
      if (theirs.empty()) return false;
      if (mine.front() == any) continue;
      comparisons_ += mine.size();
      if (std::ranges::includes(mine, theirs)) continue;
      if (!has_ancestors(static_cast<ConditionKind>(kind)) || !are_below(mine, theirs))
        return false;
    }
    return true;
  }

  static bool has_ancestors(ConditionKind kind) {
    return kind == ConditionKind::cgroup || kind == ConditionKind::unit ||
           kind == ConditionKind::user_unit;
  }

  // Whether each of these cgroups or units is one of those, or below one.
  bool are_below(const std::vector<Pattern>& those, const std::vector<Pattern>& these) {
    return std::ranges::all_of(these, [&](Pattern pattern) {
      bool found = false;
      for_each_above(pattern, [&](Pattern one) {
        comparisons_++;
        found = found || std::ranges::binary_search(those, one);
      });
      return found;
    });
  }

  void look_among(const std::vector<size_t>& rules, size_t later, std::optional<size_t>& found) {
    for (const size_t rule : rules) {
      if ((found && rule >= *found) || comparisons_ > most_comparisons) return;
      if (covers(all_[rule], all_[later])) found = rule;
    }
  }

  // Under each pattern of the condition whose patterns are the rarest.
  void add(size_t rule) {
    const Conditions& conditions = all_[rule];
    if (conditions.none()) {
      if (!matches_all_) matches_all_ = rule;
      return;
    }
    const auto commonest = [&](size_t kind) {
      size_t most = 0;
      for (const Pattern pattern : conditions.patterns[kind])
        most = std::max(most, uses_[slot(kind, pattern)]);
      return most == 0 ? SIZE_MAX : most;
    };
    size_t anchor = 0;
    for (size_t kind = 1; kind < condition_kinds.size(); kind++)
      if (commonest(kind) < commonest(anchor)) anchor = kind;
    for (const Pattern pattern : conditions.patterns[anchor])
      by_anchor_[slot(anchor, pattern)].push_back(rule);
  }

  std::unordered_map<std::string, Pattern> names_;
  std::vector<Pattern> above_;                  // by pattern of a cgroup or unit: the next above
  std::vector<Conditions> all_;                 // by rule
  std::vector<size_t> uses_;                    // how many conditions have a pattern, by slot
  std::vector<std::vector<size_t>> by_anchor_;  // rules, ascending, by slot
  std::optional<size_t> matches_all_;           // the first rule that every process matches
  size_t comparisons_ = 0;
};

bool has_condition(const Rule& rule, ConditionKind kind) {
  return std::ranges::find(rule.conditions, kind, &Condition::kind) != rule.conditions.end();
}

// Whether the rule is for services of the system's manager, which are in system.slice unless their
// units say otherwise.
bool is_of_services(const Rule& rule) {
  return std::ranges::any_of(rule.conditions, [](const Condition& condition) {
    return condition.kind == ConditionKind::unit &&
           std::ranges::all_of(condition.patterns, [](const Located<std::string>& pattern) {
             return pattern.value.ends_with(".service") && !pattern.value.starts_with("user@");
           });
  });
}

// Where what a rule is about most often lies.
struct UsualPlace {
  std::string_view slice, what;
  bool (*is_about)(const Rule& rule);
};
constexpr std::array usual_places = {
    UsualPlace{"system.slice", "services", is_of_services},
    UsualPlace{"machine.slice", "virtual machines",
               [](const Rule& rule) { return has_condition(rule, ConditionKind::vm); }},
    UsualPlace{"kubepods.slice", "pods",
               [](const Rule& rule) { return has_condition(rule, ConditionKind::pod); }},
    UsualPlace{"user.slice", "units of users' managers",
               [](const Rule& rule) { return has_condition(rule, ConditionKind::user_unit); }},
};

// Whether the rule is for all that is in the slice.
bool is_of_slice(const Rule& rule, std::string_view slice) {
  if (rule.conditions.size() != 1) return false;
  const Condition& condition = rule.conditions.front();
  return std::ranges::any_of(condition.patterns, [&](const Located<std::string>& pattern) {
    std::string_view text = pattern.value;
    if (condition.kind == ConditionKind::unit) return text == slice;
    if (condition.kind != ConditionKind::cgroup || !text.starts_with('/')) return false;
    text.remove_prefix(1);
    if (!text.starts_with(slice)) return false;
    text.remove_prefix(slice.size());
    return text.empty() || text == "/*" || text == "/**";
  });
}

// The rules for all of a slice that come first.
class Slices {
 public:
  void add(const Rule& rule) {
    for (size_t i = 0; i < usual_places.size(); i++)
      if (first_[i] == nullptr && is_of_slice(rule, usual_places[i].slice)) first_[i] = &rule;
  }
  // Why a rule after them probably never decides; "" if it may.
  [[nodiscard]] std::string shadow(const Rule& rule) const {
    for (size_t i = 0; i < usual_places.size(); i++)
      if (const auto& [slice, what, is_about] = usual_places[i]; first_[i] && is_about(rule))
        return fmt::format("most {} are in {}, and the rule at {} comes first", what, slice,
                           first_[i]->where.text());
    return {};
  }

 private:
  std::array<const Rule*, usual_places.size()> first_{};
};

}  // namespace

void warn_of_shadowed_rules(std::span<const Rule> rules, std::vector<Diagnostic>& diagnostics) {
  Search search(rules);
  Slices slices;
  for (size_t i = 0; i < rules.size(); i++) {
    const std::string shadow = slices.shadow(rules[i]);
    slices.add(rules[i]);
    if (const auto earlier = search.find(i))
      diagnostics.push_back(
          {Severity::warning, rules[i].where,
           fmt::format("this rule never decides: the rule at {} matches everything that it matches",
                       rules[*earlier].where.text()),
           "remove it, or move it before the other"});
    else if (!shadow.empty())
      diagnostics.push_back({Severity::warning, rules[i].where,
                             "this rule probably never decides: " + shadow,
                             "move it before the other"});
  }
}

}  // namespace rdtd
