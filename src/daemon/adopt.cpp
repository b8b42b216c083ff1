// A reload that takes over groups of other tools, once: the policy on disk has them, but need not
// say adopt. Names are checked before anything is loaded, so that a typing error does not count as
// a reload that failed.
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "rdtd/base/text.hpp"
#include "rdtd/daemon/manager.hpp"
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

void Manager::adopt(const std::vector<std::string>& groups, Adopted done) {
  waiting_reload_.reset();
  begin([this, groups, done = std::move(done)] {
    const auto refuse = [&](Refusal why) {
      done(std::unexpected(std::move(why)));
      finished();
    };
    const auto machine = applier_.read_machine();
    if (!machine) return refuse(refusal(machine.error()));
    std::vector<PolicyFile> files = system_.policy_files();
    if (auto why = refuse_names(groups, files, machine->snapshot)) return refuse(std::move(*why));
    Applier::Request request{.files = std::move(files), .adopt = {}};
    for (const std::string& name : groups) request.adopt.insert(group_directory(name));
    reload_now(std::move(request), [this, done](const std::expected<void, Refusal>& loaded) {
      done(loaded ? std::expected<std::vector<std::string>, Refusal>(adopted_)
                  : std::unexpected(loaded.error()));
    });
  });
}

}  // namespace rdtd
