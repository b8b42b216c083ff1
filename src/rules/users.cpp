#include "rdtd/rules/users.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/rules/condition.hpp"

namespace rdtd {

namespace {

std::optional<uint32_t> known(const std::map<std::string, uint32_t>& ids, const std::string& name) {
  const auto found = ids.find(name);
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

Result<std::optional<uint32_t>> not_asked(ConditionKind kind, const std::string& name) {
  const char* what = kind == ConditionKind::user ? "user" : "user group";
  return std::unexpected(
      Error{"look up", fmt::format("{} '{}'", what, name), 0, "the user database does not answer"});
}

}  // namespace

Users look_up_users(const Policy& policy, const UserDatabase& database, const Users& before,
                    std::vector<Diagnostic>& warnings) {
  Users out;
  std::set<std::pair<ConditionKind, std::string>> seen;
  const auto look_up = [&](ConditionKind kind, const Located<std::string>& name) {
    if (parse_unsigned<uint32_t>(name.value) || !seen.emplace(kind, name.value).second) return;
    const bool user = kind == ConditionKind::user;
    // Each name may take as long as the database's timeout.
    const auto answer = out.unanswered ? not_asked(kind, name.value)
                        : user         ? database.find_user(name.value)
                                       : database.find_group(name.value);
    const auto id = answer ? *answer : known(user ? before.users : before.groups, name.value);
    if (id) (user ? out.users : out.groups)[name.value] = *id;
    if (!answer) out.unanswered = true;
    if (!answer)
      warnings.push_back({Severity::warning,
                          name.where,
                          fmt::format("{}; {}", answer.error().text(),
                                      id ? "it keeps the number that it had"
                                         : "nothing matches it until there is an answer"),
                          {}});
    else if (!id)
      warnings.push_back(
          {Severity::warning,
           name.where,
           fmt::format("there is no {} '{}' here: nothing matches it until the next reload",
                       user ? "user" : "user group", name.value),
           {}});
  };
  for (const Rule& rule : policy.rules)
    for (const Condition& condition : rule.conditions)
      if (is_identity(condition.kind))
        for (const Located<std::string>& name : condition.patterns) look_up(condition.kind, name);
  return out;
}

}  // namespace rdtd
