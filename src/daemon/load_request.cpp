// Prepares a request for the machine as it is now. Texts that are in force already are not read
// again: a controller that changes an amount every few seconds must not cost as much as a reload.
#include <algorithm>
#include <iterator>
#include <utility>

#include "rdtd/daemon/applier.hpp"
#include "rdtd/model/guard_status.hpp"
#include "rdtd/policy/amount_change.hpp"
#include "rdtd/rules/users.hpp"

namespace rdtd {

namespace {

// The policy of a request whose texts are in force, but for amounts of leases.
std::optional<Policy> known_policy(const Applier::Request& request, const InForce& before) {
  if (!request.adopt.empty() || before.groups.empty() || !before.missing.empty() ||
      request.files != before.files || request.leases.size() != before.leases.size())
    return std::nullopt;
  // A user may have another number now.
  if (request.leases == before.leases && request.ask_for_users &&
      before.table->rules.reads(Fact::identity))
    return std::nullopt;
  std::optional<Policy> policy = before.policy;
  for (size_t i = 0; i < request.leases.size() && policy; i++) {
    if (request.leases[i].path != before.leases[i].path) return std::nullopt;
    if (request.leases[i] != before.leases[i])
      policy = with_amounts_of(*policy, before.leases[i], request.leases[i]);
  }
  return policy;
}

}  // namespace

bool Applier::may_displace(const std::vector<PolicyFile>& leases) {
  static const std::string guard = lease_file(guard_lease_name, {}).path;
  return std::ranges::any_of(leases, [](const PolicyFile& lease) { return lease.path != guard; });
}

std::optional<Applier::Loaded> Applier::load_known(const Request& request, const Machine& machine,
                                                   const InForce& before) const {
  if (machine.capabilities != before.capabilities) return std::nullopt;
  auto policy = known_policy(request, before);
  if (!policy) return std::nullopt;
  auto prepared = prepare_known(std::move(*policy), before.text_warnings, machine);
  if (!prepared || !prepared->missing.empty() ||
      !holders_of(prepared->plan.changes.steps, machine.snapshot).empty())
    return std::nullopt;
  return Loaded{machine, std::move(*prepared), before.users, true};
}

std::expected<Applier::Loaded, Refusal> Applier::load(const Request& request,
                                                      const InForce& before) {
  auto machine = read_machine();
  if (!machine) return std::unexpected(rdtd::refusal(machine.error()));
  return load_on(std::move(*machine), request, before);
}

std::expected<Applier::Loaded, Refusal> Applier::load_on(Machine machine, const Request& request,
                                                         const InForce& before) {
  failure_.out_of_time = false;
  machine.snapshot.to_adopt = request.adopt;
  machine.snapshot.controls_before = controls_before_;
  if (!may_displace(request.leases)) machine.snapshot.places = places_;
  machine.snapshot.owned = executor_.ownership().owned(machine.snapshot);
  take_own_unread(machine.snapshot, request.fit);
  // First something is to be in force: then is the time to ask again.
  if (request.fit != Fit::whole)
    refused_.leave_out(machine.snapshot, request.fit == Fit::what_fits || before.is_nothing()
                                             ? RefusedParts::Time::min()
                                             : system_.now());
  if (auto known = load_known(request, machine, before)) return std::move(*known);
  return load_texts(request, std::move(machine), before);
}

// Groups of rdtd that nothing was granted yet: a mode that cannot be read counts as shareable, and
// CPUs as none. One whose ways nobody knows stays as it is, with its processes, and a policy goes
// without it.
void Applier::take_own_unread(Snapshot& snapshot, Fit fit) {
  for (const auto& [group, unread] : snapshot.unread) {
    if (!snapshot.owned.contains(group) || !snapshot.unreadable.contains(group)) continue;
    if (!unread.names.contains("schemata")) {
      take_half_read(snapshot, {group});
      continue;
    }
    snapshot.refused.emplace(group, unread.error.text());
    if (fit != Fit::whole)
      (void)refused_.add(group, unread.error.text(), /*existed=*/true, system_.now(), false);
  }
}

std::expected<Applier::Loaded, Refusal> Applier::load_texts(const Request& request, Machine machine,
                                                            const InForce& before) {
  std::vector<PolicyFile> files = request.files;
  std::ranges::copy(request.leases, std::back_inserter(files));
  const auto prepare_again = [&] {
    return request.fit == Fit::whole ? prepare(files, machine) : prepare_what_fits(files, machine);
  };
  auto prepared = prepare_again();
  // Another plan may undo other regions: each turn finds at least one more that is in use.
  while (prepared) {
    auto busy = holders_of(prepared->plan.changes.steps, machine.snapshot);
    if (busy.empty()) break;
    machine.snapshot.busy_locks.merge(busy);
    prepared = prepare_again();
  }
  if (!prepared) return std::unexpected(refusal(prepared.error()));
  Users users = request.ask_for_users ? look_up_users(prepared->policy, system_.users, before.users,
                                                      prepared->warnings)
                                      : before.users;
  sort_by_place(prepared->warnings);
  return Loaded{std::move(machine), std::move(*prepared), std::move(users)};
}

}  // namespace rdtd
