// Leases of the manager: how one comes into force, what a reload does to it, and how what it had
// put in force goes again. Each of these is a load like any other, of the files in force and the
// leases.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "rdtd/base/text.hpp"
#include "rdtd/daemon/manager.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

void Manager::lease(const std::string& name, const std::string& policy, const Caller& caller,
                    Leased done) {
  // A holder may close one and ask for the next, of the same name or with the same groups.
  leases_abandoned();
  // Each waits for a whole load, and so does everything behind it.
  if (waiting_leases_ >= Leases::max_leases)
    return done(std::unexpected(
        Refusal{Refusal::Kind::busy,
                fmt::format("{} requests for a lease wait already", Leases::max_leases)}));
  waiting_leases_++;
  begin([this, name, policy, caller, done = std::move(done)] {
    waiting_leases_--;
    if (auto why = refuse_lease(name)) {
      done(std::unexpected(std::move(*why)));
      return finished();
    }
    changes_.run([this, lease = Leases::Lease{name, policy, caller.uid, system_.realtime_usec()},
                  done] { apply_lease(lease, done); });
  });
}

std::optional<Refusal> Manager::refuse_lease(const std::string& name) const {
  using enum Refusal::Kind;
  if (auto problem = lease_name_problem(name)) return Refusal{invalid_policy, printable(*problem)};
  if (leases_.contains(name))
    return Refusal{busy, fmt::format("there is a lease '{}' already", name)};
  if (leases_.all().size() >= Leases::max_leases)
    return Refusal{
        busy, fmt::format("there are {} leases, and no more are possible", Leases::max_leases)};
  if (!wanted_files_.empty())
    return Refusal{busy,
                   "the policy files are not in force yet; 'rdtctl status' shows what is in the "
                   "way"};
  return std::nullopt;
}

// While the machine cannot have the whole policy, the lease must not displace more of it.
std::optional<Refusal> Manager::refuse_to_displace(const Applier::Request& request) {
  const auto loaded = applier_.load(request, in_force_->users);
  if (!loaded) return loaded.error();
  for (const MissingPart& part : loaded->prepared.missing)
    if (std::ranges::find(in_force_->missing, part.what, &MissingPart::what) ==
        in_force_->missing.end())
      return Refusal{Refusal::Kind::busy,
                     fmt::format("with this lease {} not in force: {}", part.what, part.reason)};
  return std::nullopt;
}

// The caller holds the lock of resctrl.
void Manager::apply_lease(Leases::Lease lease, Leased done) {
  const auto refuse = [this, name = lease.name, done](Refusal why) {
    leases_.remove(name);
    done(std::unexpected(std::move(why)));
    finished();
  };
  auto held = leases_.add(lease);
  if (!held) return refuse(refusal(held.error()));
  Applier::Request request{
      .fit = in_force_->missing.empty() ? Applier::Fit::whole : Applier::Fit::what_fits,
      .files = in_force_->files,
      .leases = leases_.files()};
  if (request.fit == Applier::Fit::what_fits)
    if (auto why = refuse_to_displace(request)) return refuse(std::move(*why));
  const auto descriptor = std::make_shared<UniqueFd>(std::move(*held));
  apply_now(std::move(request),
            [this, lease, descriptor, refuse, done](const std::expected<void, Refusal>& applied) {
              if (!applied) return refuse(applied.error());
              spdlog::info("lease '{}' of user {}: {}", lease.name, lease.uid, summary_);
              observer_.groups_changed();
              observer_.state_changed();
              done(std::move(*descriptor));
              finished();
            });
}

// Adds to a load the leases that still fit. The others end once it has succeeded: the policy files
// do not wait for them.
std::expected<Manager::LeasesThatEnd, Refusal> Manager::fit_leases(Applier::Request& request) {
  request.leases = leases_.files();
  if (request.leases.empty() || applier_.load(request, in_force_->users)) return LeasesThatEnd{};
  LeasesThatEnd unfit;
  const std::vector<PolicyFile> all = std::exchange(request.leases, {});
  // An error of the policy itself is reported without those that leases have with it.
  // A second try, which may succeed by then, would leave all of them out.
  if (const auto alone = applier_.load(request, in_force_->users); !alone)
    return std::unexpected(alone.error());
  for (size_t i = 0; i < all.size(); i++) {
    request.leases.push_back(all[i]);
    const auto loaded = applier_.load(request, in_force_->users);
    if (loaded) continue;
    request.leases.pop_back();
    unfit.emplace(leases_.all()[i].name, fmt::format("the policy has no place for it:\n{}",
                                                     trim(loaded.error().text_for(false))));
  }
  return unfit;
}

void Manager::lease_ended(const std::string& name, const std::string& reason) {
  spdlog::info("lease '{}' ended: {}", name, reason);
  leases_.remove(name);
  observer_.on_lease_ended(name, reason);
}

void Manager::end_all_leases(const std::string& reason) {
  const std::vector<Leases::Lease> all = leases_.all();
  for (const Leases::Lease& lease : all) lease_ended(lease.name, reason);
}

void Manager::leases_abandoned() {
  const std::set<std::string> names = leases_.take_abandoned();
  if (names.empty()) return;
  ended_in_force_ = true;
  for (const std::string& name : names)
    lease_ended(name, "nobody has its descriptor open any more");
  apply_without_ended_leases();
}

void Manager::apply_without_ended_leases() {
  begin([this] {
    // Another load may have left them out meanwhile.
    if (!ended_in_force_) return finished();
    load_and_apply({.fit = Applier::Fit::what_fits, .files = in_force_->files},
                   [this](const std::expected<void, Refusal>& applied) {
                     if (!applied) {
                       const auto text = [&](bool for_root) {
                         return fmt::format("groups of ended leases are still there: {}",
                                            trim(applied.error().text_for(for_root)));
                       };
                       problem("leases", text(true), text(false));
                       retry_soon();
                     }
                     observer_.groups_changed();
                     observer_.state_changed();
                     finished();
                   });
  });
}

std::vector<LeaseStatus> Manager::list_leases(const Caller& caller) {
  std::vector<LeaseStatus> out;
  for (const Leases::Lease& lease : leases_.all()) {
    LeaseStatus& status = out.emplace_back(lease.name, lease.uid, lease.since);
    const std::string place = lease_file(lease.name, {}).path;
    for (const Group& group : in_force_->policy.groups)
      if (group.name.where.file == place) status.groups.push_back(group.name.value);
    if (caller.root() || caller.uid == lease.uid) status.policy = lease.policy;
  }
  return out;
}

}  // namespace rdtd
