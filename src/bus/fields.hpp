// The structs of D-Bus: the members of each value, in the order in which they are sent.
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>

#include "rdtd/bus/client.hpp"
#include "rdtd/bus/reads.hpp"

namespace rdtd {

template <class T, class Plain>
concept IsA = std::same_as<std::remove_const_t<T>, Plain>;

auto fields(IsA<Share> auto& share) { return std::tie(share.resource, share.domain, share.text); }

auto fields(IsA<PlannedStep> auto& step) { return std::tie(step.kind, step.group, step.text); }

auto fields(IsA<Explanation::Trial> auto& trial) {
  return std::tie(trial.place, trial.group, trial.matched, trial.reason);
}

auto fields(IsA<RuleStatus> auto& rule) { return std::tie(rule.place, rule.group, rule.processes); }

auto fields(IsA<LockStatus> auto& lock) {
  return std::tie(lock.name, lock.resource, lock.domain, lock.asked, lock.mask, lock.bytes,
                  lock.device, lock.owner, lock.user_group, lock.mode, lock.state, lock.reason);
}

auto fields(IsA<LeaseStatus> auto& lease) {
  return std::tie(lease.name, lease.uid, lease.since, lease.groups, lease.policy);
}

auto fields(IsA<AssignmentCount> auto& count) {
  return std::tie(count.group, count.result, count.threads);
}

auto fields(IsA<EpisodeRow> auto& row) {
  return std::tie(row.kind, row.resource, row.domain, row.begin_usec, row.end_usec, row.running,
                  row.takers, row.sufferers, row.text);
}

auto fields(IsA<ContentionCount> auto& count) {
  return std::tie(count.resource, count.domain, count.kind, count.taker, count.sufferer,
                  count.episodes, count.seconds);
}

auto fields(IsA<GuardSeen> auto& seen) { return std::tie(seen.amount, seen.bytes_per_second); }

auto fields(IsA<GuardAmount> auto& row) {
  return std::tie(row.group, row.resource, row.domain, row.unit, row.amount, row.least, row.most,
                  row.state, row.seen);
}

auto fields(IsA<GuardStepRow> auto& step) { return std::tie(step.time_usec, step.mode, step.text); }

auto fields(IsA<GuardCount> auto& count) {
  return std::tie(count.group, count.resource, count.domain, count.direction, count.mode,
                  count.steps);
}

auto fields(IsA<Client::GroupRow> auto& row) {
  return std::tie(row.name, row.asked, row.granted, row.mode, row.cpus, row.rules, row.tasks);
}

}  // namespace rdtd
