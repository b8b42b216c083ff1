#include "names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "rdtd/base/text.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

namespace {

// Names that resctrl itself uses in its root.
constexpr auto reserved_names = std::to_array<std::string_view>(
    {"info", "mon_groups", "mon_data", "schemata", "tasks", "cpus", "cpus_list", "mode", "size",
     "ctrl_hw_id", "mon_hw_id", "mon_features", "mba_MBps_event", "mbm_L3_assignments",
     "mbm_MB_assignments"});

std::string shortened(std::string_view name) {
  if (name.size() <= longest_name) return std::string(name);
  return std::string(name.substr(0, longest_name)) + "...";
}

struct NameProblem {
  std::string why;
  std::string hint;
};

std::optional<NameProblem> problem_of(std::string_view kind, std::string_view name) {
  if (auto problem = name_problem(name)) return NameProblem{std::move(*problem), {}};
  const bool in_root = kind == "group" || kind == "pseudo_lock";
  const bool reserved = in_root ? std::ranges::find(reserved_names, name) != reserved_names.end()
                                : kind == "monitoring group" && name == "mon_groups";
  if (reserved) return NameProblem{"resctrl uses that name itself", {}};
  if (in_root && name == leave_group)
    return NameProblem{"in a rule it means that processes stay where they are", {}};
  if (kind == "pseudo_lock" && name == "default") return NameProblem{"resctrl's root has it", {}};
  if (in_root && name == "root") return NameProblem{{}, "the resctrl root is [group.default]"};
  return std::nullopt;
}

std::string text_of(const NameProblem& problem, std::string_view kind, std::string_view name) {
  return fmt::format("'{}' cannot be the name of a {}{}{}", shortened(name), kind,
                     problem.why.empty() ? "" : ": ", problem.why);
}

}  // namespace

std::optional<std::string> name_problem(std::string_view name) {
  if (name.empty()) return "a name has at least one character";
  if (name.starts_with('.')) return "a name does not begin with a dot";
  if (name.find_first_not_of(name_characters) != std::string_view::npos)
    return "a name consists of letters, digits, '.', '_' and '-'";
  if (name.size() > longest_name)
    return fmt::format("a name has at most {} characters", longest_name);
  return std::nullopt;
}

std::optional<std::string> group_name_problem(std::string_view name) {
  const auto problem = problem_of("group", name);
  if (!problem) return std::nullopt;
  return text_of(*problem, "group", name) + (problem->hint.empty() ? "" : "; " + problem->hint);
}

std::optional<std::string> lease_name_problem(std::string_view name) {
  const auto problem = problem_of("lease", name);
  return problem ? std::optional(text_of(*problem, "lease", name)) : std::nullopt;
}

void check_name(const FileReader& in, std::string_view kind, const Located<std::string>& located) {
  const std::string_view name = located.value;
  if (auto problem = problem_of(kind, name))
    return in.error(located.where, text_of(*problem, kind, name), std::move(problem->hint));
  if (kind == "group" && lower(name) == "default" && name != "default")
    in.warning(located.where, fmt::format("[group.{}] is not the default group", name),
               "the resctrl root is [group.default]");
  // pqos and goresctrl number the classes; the first is the root.
  if (kind == "group" && is_one_of(lower(name), {"cos0", "clos0"}))
    in.warning(located.where, fmt::format("[group.{}] is not class 0 of the processor", name),
               "class 0 is [group.default]");
}

std::string table_title(std::string_view kind, std::string_view name) {
  return fmt::format("[{}.{}]", kind, shortened(name));
}

}  // namespace rdtd
