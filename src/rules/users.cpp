#include "rdtd/rules/users.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/rules/condition.hpp"

namespace rdtd {

Users look_up_users(const Policy& policy,
                    const std::function<std::optional<uid_t>(const std::string&)>& find_user,
                    const std::function<std::optional<gid_t>(const std::string&)>& find_user_group,
                    std::vector<Diagnostic>& warnings) {
  Users out;
  std::set<std::pair<ConditionKind, std::string>> seen;
  const auto look_up = [&](ConditionKind kind, const Located<std::string>& name) {
    if (parse_unsigned<uint32_t>(name.value) || !seen.emplace(kind, name.value).second) return;
    const bool user = kind == ConditionKind::user;
    if (const auto id = user ? find_user(name.value) : find_user_group(name.value))
      (user ? out.users : out.groups)[name.value] = *id;
    else
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
