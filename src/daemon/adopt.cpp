// A reload that takes over groups of other tools, once: the policy on disk has them, but need not
// say adopt. Names are checked before anything is loaded, so that a typing error does not count as
// a reload that failed.
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "rdtd/base/text.hpp"
#include "rdtd/daemon/loads.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd {

namespace {

std::string no_group_text(const std::string& name, const Policy& policy) {
  if (auto problem = group_name_problem(name)) return printable(*problem);
  std::vector<std::string> known;
  for (const Group& group : policy.groups) {
    if (group.name.value == name) return {};
    known.push_back(group.name.value);
  }
  if (const auto nearest = nearest_name(name, known))
    return fmt::format("the policy has no group '{}'; did you mean '{}'?", name, *nearest);
  return fmt::format(
      "the policy has no group '{}'; add [group.{}], as 'rdtctl import' prints it for a group that "
      "exists",
      name, name);
}

// Why the policy or the machine has no such group to take over; empty if it has.
std::string why_not(const std::string& name, const Policy& policy, const Snapshot& snapshot) {
  if (name == "default") return "the default group is always there, it cannot be taken over";
  if (std::string text = no_group_text(name, policy); !text.empty()) return text;
  if (snapshot.groups.contains(name) || snapshot.unreadable.contains(name)) return {};
  return fmt::format("resctrl has no group '{}' to take over; 'rdtctl reload' creates it", name);
}

std::optional<Refusal> refuse_names(const std::vector<std::string>& names,
                                    const std::vector<PolicyFile>& files,
                                    const Snapshot& snapshot) {
  const ParsedPolicy parsed = parse_policy(files);
  if (has_errors(parsed.diagnostics)) return std::nullopt;  // the load reports them
  for (const std::string& name : names)
    if (std::string text = why_not(name, parsed.policy, snapshot); !text.empty())
      return Refusal{Refusal::Kind::no_such_group, std::move(text)};
  return std::nullopt;
}

}  // namespace

void Loads::adopt(const std::vector<std::string>& groups, Adopted done) {
  waiting_reload_.reset();
  core_.jobs.add("adopt",
                 [this, groups, done = std::move(done)] { return run_adopt(groups, done); });
}

Task<> Loads::run_adopt(std::vector<std::string> groups, Adopted done) {
  core_.state.put_off.forget_reload();
  const auto machine = core_.applier.read_machine();
  if (!machine) co_return done(std::unexpected(refusal(machine.error())));
  Applier::Request request{.files = core_.system.policy_files(), .adopt = {}};
  if (auto why = refuse_names(groups, request.files, machine->snapshot))
    co_return done(std::unexpected(std::move(*why)));
  for (const std::string& name : groups) request.adopt.insert(group_directory(name));
  const Outcome loaded = co_await reload_now(std::move(request));
  if (loaded)
    done(adopted_);
  else
    done(std::unexpected(loaded.error()));
}

}  // namespace rdtd
