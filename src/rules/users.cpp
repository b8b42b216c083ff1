#include "rdtd/rules/users.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/rules/condition.hpp"

namespace rdtd {

namespace {

// Each name once, with the first place that names it.
struct Named {
  std::vector<UserName> names;
  std::vector<Location> places;
};

Named names_of(const Policy& policy) {
  Named out;
  std::set<UserName> seen;
  for (const Rule& rule : policy.rules)
    for (const Condition& condition : rule.conditions) {
      if (!is_identity(condition.kind)) continue;
      using enum UserName::Kind;
      const auto kind = condition.kind == ConditionKind::user ? user : user_group;
      for (const Located<std::string>& name : condition.patterns) {
        if (parse_unsigned<uint32_t>(name.value)) continue;
        if (!seen.emplace(kind, name.value).second) continue;
        out.names.push_back({kind, name.value});
        out.places.push_back(name.where);
      }
    }
  return out;
}

std::optional<uint32_t> known(const std::map<std::string, uint32_t>& ids, const std::string& name) {
  const auto found = ids.find(name);
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

Users look_up_users(const Policy& policy, const UserDatabase& database, const Users& before,
                    std::vector<Diagnostic>& warnings) {
  Users out;
  const Named named = names_of(policy);
  if (named.names.empty()) return out;
  const std::vector<UserAnswer> answers = database(named.names);
  for (size_t i = 0; i < answers.size(); i++) {
    const auto& [kind, name] = named.names[i];
    const bool user = kind == UserName::Kind::user;
    const UserAnswer& answer = answers[i];
    const auto id = answer ? *answer : known(user ? before.users : before.groups, name);
    if (id) (user ? out.users : out.groups)[name] = *id;
    if (!answer) out.unanswered = true;
    if (answer && id) continue;
    std::string text =
        !answer ? fmt::format("{}; {}", answer.error().text(),
                              id ? "it keeps the number that it had"
                                 : "nothing matches it until there is an answer")
                : fmt::format("there is no {} '{}' here: nothing matches it until the next reload",
                              user ? "user" : "user group", name);
    warnings.push_back({Severity::warning, named.places[i], std::move(text), {}});
  }
  return out;
}

}  // namespace rdtd
