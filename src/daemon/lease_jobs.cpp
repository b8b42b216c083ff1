#include "rdtd/daemon/lease_jobs.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/model/guard_status.hpp"
#include "rdtd/policy/guard_lease.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

namespace {

// Each waits for a whole load, and so does everything behind it.
Refusal too_many_wait() {
  return {Refusal::Kind::busy,
          fmt::format("{} requests for a lease wait already", Leases::max_leases)};
}

// Whether the part is another's than that of the lease itself, whose file this is.
bool is_displaced(const MissingPart& part, const Policy& in_force, const std::string& file) {
  const auto is_about = [&](const auto& named) {
    return named.name.value == part.name && named.name.where.file.text() != file;
  };
  return std::ranges::any_of(in_force.groups, is_about) ||
         std::ranges::any_of(in_force.locks, is_about) || (in_force.io && is_about(*in_force.io));
}

}  // namespace

void LeaseJobs::lease(const std::string& name, const std::string& policy, const Caller& caller,
                      Changes::Leased done) {
  // A holder may close one and ask for the next, of the same name or with the same groups.
  end_abandoned();
  if (too_many(name)) return done(std::unexpected(too_many_wait()));
  waiting_++;
  const Leases::Lease lease{name, policy, caller.uid, core_.system.realtime_usec()};
  core_.jobs.add("lease", [this, lease, done = std::move(done)] { return run_lease(lease, done); });
}

Task<> LeaseJobs::run_lease(Leases::Lease lease, Changes::Leased done) {
  waiting_--;
  if (auto why = refuse(lease.name)) co_return done(std::unexpected(std::move(*why)));
  ResctrlLock::Right right = co_await core_.jobs.lock();
  if (auto why = refuse_guard(lease.name, lease.policy, lease.uid))
    co_return done(std::unexpected(std::move(*why)));
  auto held = core_.leases.add(lease);
  if (!held) co_return done(std::unexpected(refusal(held.error())));
  const Outcome applied = co_await apply(lease.name, std::move(right), Loads::Report::all);
  if (!applied) {
    core_.leases.remove(lease.name);
    co_return done(std::unexpected(applied.error()));
  }
  spdlog::info("lease '{}' of user {}: {}", lease.name, lease.uid, loads_.summary());
  core_.observer.groups_changed();
  core_.observer.state_changed();
  done(std::move(*held));
}

void LeaseJobs::update(const std::string& name, const std::string& policy, const Caller& caller,
                       Changes::Done done) {
  if (too_many(name)) return done(std::unexpected(too_many_wait()));
  waiting_++;
  core_.jobs.add("lease", [this, name, policy, caller, done = std::move(done)] {
    return run_update(name, policy, caller, done);
  });
}

Task<> LeaseJobs::run_update(std::string name, std::string policy, Caller caller,
                             Changes::Done done) {
  waiting_--;
  ResctrlLock::Right right = co_await core_.jobs.lock();
  // Its holder may have closed it meanwhile.
  if (auto why = refuse_update(name, caller)) co_return done(std::unexpected(std::move(*why)));
  if (auto why = refuse_guard(name, policy, caller.uid))
    co_return done(std::unexpected(std::move(*why)));
  const std::string before = core_.leases.exchange_policy(name, std::move(policy));
  const Outcome applied = co_await apply(name, std::move(right), Loads::Report::changes);
  if (!applied) {
    (void)core_.leases.exchange_policy(name, before);
    co_return done(applied);
  }
  spdlog::info("lease '{}' of user {} was changed: {}", name, caller.uid, loads_.summary());
  core_.observer.groups_changed();
  core_.observer.state_changed();
  done({});
}

// Puts the files in force and all leases in force, on behalf of the one of this name.
Task<LeaseJobs::Outcome> LeaseJobs::apply(std::string name, ResctrlLock::Right right,
                                          Loads::Report report) {
  const InForce& now = *core_.state.in_force;
  Applier::Request request{
      .fit = now.missing.empty() ? Applier::Fit::whole : Applier::Fit::what_fits,
      .files = now.files,
      .leases = core_.leases.files(),
      .restores = false};
  if (request.fit == Applier::Fit::what_fits)
    if (auto why = refuse_to_displace(name, request)) co_return std::unexpected(std::move(*why));
  co_return co_await loads_.apply(std::move(request), std::move(right), report);
}

std::optional<Refusal> LeaseJobs::refuse(const std::string& name) const {
  using enum Refusal::Kind;
  if (auto problem = lease_name_problem(name)) return Refusal{invalid_policy, printable(*problem)};
  if (core_.leases.contains(name))
    return Refusal{busy, fmt::format("there is a lease '{}' already", name)};
  // The guard is refused for no other lease.
  const auto others = std::ranges::count_if(core_.leases.all(), [](const Leases::Lease& lease) {
    return lease.name != guard_lease_name;
  });
  if (name != guard_lease_name && std::cmp_greater_equal(others, Leases::max_leases))
    return Refusal{
        busy, fmt::format("there are {} leases, and no more are possible", Leases::max_leases)};
  if (core_.state.put_off.is_first())
    return Refusal{busy,
                   "the policy files are not in force yet; 'rdtctl status' shows what is in the "
                   "way"};
  return std::nullopt;
}

std::optional<Refusal> LeaseJobs::refuse_guard(const std::string& name, const std::string& policy,
                                               uid_t uid) const {
  const auto beyond = beyond_guard(core_.state.in_force->policy, lease_file(name, policy), uid);
  if (!beyond) return std::nullopt;
  return Refusal{Refusal::Kind::not_permitted,
                 fmt::format("lease '{}' may only change mb within the ranges of the policy: {}",
                             name, printable(*beyond))};
}

std::optional<Refusal> LeaseJobs::refuse_update(const std::string& name,
                                                const Caller& caller) const {
  const auto lease = std::ranges::find(core_.leases.all(), name, &Leases::Lease::name);
  if (lease == core_.leases.all().end())
    return Refusal{Refusal::Kind::no_such_lease,
                   fmt::format("there is no lease '{}'", printable(name))};
  if (!caller.root() && caller.uid != lease->uid)
    return Refusal{Refusal::Kind::not_permitted,
                   fmt::format("lease '{}' belongs to another user", name)};
  return std::nullopt;
}

// The parts that the machine cannot have now, whether or not there is the lease.
std::vector<MissingPart> LeaseJobs::missing_without(const std::string& name,
                                                    Applier::Request request) {
  std::erase_if(request.leases, [path = lease_file(name, {}).path](const PolicyFile& lease) {
    return lease.path == path;
  });
  auto loaded = core_.applier.load(request, *core_.state.in_force);
  return loaded ? std::move(loaded->prepared.missing) : std::vector<MissingPart>{};
}

// While the machine cannot have the whole policy, the lease must not displace more of it.
std::optional<Refusal> LeaseJobs::refuse_to_displace(const std::string& name,
                                                     const Applier::Request& request) {
  const InForce& now = *core_.state.in_force;
  const auto loaded = core_.applier.load(request, now);
  if (!loaded) return loaded.error();
  const auto is_in = [](const std::vector<MissingPart>& parts, const MissingPart& part) {
    return std::ranges::find(parts, part.what, &MissingPart::what) != parts.end();
  };
  std::optional<std::vector<MissingPart>> without;  // this lease
  for (const MissingPart& part : loaded->prepared.missing) {
    if (is_in(now.missing, part)) continue;
    if (!without) without = missing_without(name, request);
    if (is_in(*without, part)) continue;
    return Refusal{Refusal::Kind::busy,
                   is_displaced(part, now.policy, lease_file(name, {}).path)
                       ? fmt::format("with this lease {} not in force: {}", part.what, part.reason)
                       : "the machine cannot have this lease now: " + part.reason};
  }
  return std::nullopt;
}

void LeaseJobs::end_abandoned() {
  const std::set<std::string> names = core_.leases.take_abandoned();
  if (names.empty()) return;
  core_.state.ended_in_force.emplace();
  for (const std::string& name : names)
    loads_.lease_ended(name, "nobody has its descriptor open any more");
  core_.jobs.add("end of a lease", [this] { return run_without_ended(); });
}

Task<> LeaseJobs::run_without_ended() {
  // Another load may have left them out meanwhile.
  if (!core_.state.ended_in_force) co_return;
  Applier::Request request{
      .fit = Applier::Fit::what_fits, .files = core_.state.in_force->files, .restores = false};
  const Outcome applied = co_await loads_.load(std::move(request));
  if (!applied) {
    const auto text = [&](bool for_root) {
      return fmt::format("groups of ended leases are still there: {}",
                         trim(applied.error().text_for(for_root)));
    };
    core_.problems.report("leases", text(true), text(false));
    if (auto& pause = core_.state.ended_in_force) pause->begin(core_.system.now());
    core_.retry_soon();
  }
  core_.observer.groups_changed();
  core_.observer.state_changed();
}

}  // namespace rdtd
