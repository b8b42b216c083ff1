#include "rdtd/observe/guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/model/drift_text.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd::observe {

namespace {

constexpr double gone_seconds = 600;  // then a domain or a group is forgotten

std::string no_number(const std::string& group) {
  return fmt::format("the counter of {} has no number", group_label(group));
}

// Why no group has an amount in any of the guarded domains; "" if one has, or if that is not known.
std::string why_no_amount(const std::vector<const DomainTraffic*>& domains) {
  CountedTraffic counted;
  for (const DomainTraffic* domain : domains) {
    if (!domain->mb_domains) return "";
    counted.resource = domain->resource;
    if (domain->counts_traffic) counted.domains.insert(domain->domain);
  }
  if (domains.empty()) return "";
  const std::set<DomainId>& mb_domains = *domains.front()->mb_domains;
  if (mb_domains.empty()) return "bandwidth is not set by MB here, and the guard changes only that";
  return counted.domains.empty() ? "" : traffic_elsewhere(counted, mb_domains);
}

}  // namespace

bool resets_guard(std::string_view mark) {
  return mark == started_mark || mark == loaded_mark || mark == read_mark ||
         mark == guard_ended_mark;
}

std::string amount_text(const Range& range, double amount) {
  return range.percent ? fmt::format("{:g}%", amount) : fmt::format("{:.0f} MB/s", amount / 1e6);
}

const Range* GuardRules::range_of(const std::string& group, DomainId domain) const {
  const auto of_group = ranges.find(group);
  if (of_group == ranges.end()) return nullptr;
  auto found = of_group->second.find(domain);
  if (found == of_group->second.end()) found = of_group->second.find(std::nullopt);
  const bool has_range =
      found != of_group->second.end() && found->second.least < found->second.most;
  return has_range ? &found->second : nullptr;
}

bool GuardRules::has_range() const {
  return std::ranges::any_of(ranges, [](const auto& group) {
    return std::ranges::any_of(group.second, [](const auto& of_domain) {
      return of_domain.second.least < of_domain.second.most;
    });
  });
}

std::string_view to_string(GuardStep::Direction direction) {
  return direction == GuardStep::Direction::cut ? "cut" : "give_back";
}

std::string sentence(const GuardStep& step) {
  return fmt::format("{} {}: mb of {} from {} to {}: {}", step.resource, to_string(step.domain),
                     group_label(step.group), amount_text(step.range, step.before),
                     amount_text(step.range, step.after), step.reason);
}

void Guard::Pair::rest() {
  idle = calm = {};
  recent.clear();
}

void Guard::Place::rest() {
  high = wait = 0;
  alone = low = {};
  for (auto& [group, pair] : pairs) pair.rest();
  cut.reset();
}

// Figures from before the gap say nothing about the time in which nobody looked. Learned values,
// and the samples that a cut is judged by, stay.
void Guard::Place::after_gap() {
  high = 0;
  alone = low = {};
  for (auto& [group, pair] : pairs) pair.rest();
  if (cut) cut->missed = {};
}

// "drift: group 'redis': L3:0=3, granted L3:0=f; restored": only that of bandwidth, or of a group
// that the guard may change, can be taken for an effect of a step. One that names no group may be
// anything, but that processes were in another group any user can cause.
bool Guard::counts(const std::string& drift) const {
  constexpr std::string_view begin = "drift: group '";
  const size_t end = drift.find("': ");
  if (!drift.starts_with(begin) || end == std::string::npos) return !is_of_processes(drift);
  const std::string group = drift.substr(begin.size(), end - begin.size());
  return drift.find("MB:", end) != std::string::npos ||
         rules_.ranges.contains(group_directory(group));
}

std::string Guard::why_frozen(const Sample& sample) const {
  if (mba_mbps_)
    return "resctrl is mounted with mba_MBps: the kernel changes the bandwidth by itself";
  const auto drift = std::ranges::find_if(sample.marks, [&](const std::string& mark) {
    return mark.starts_with("drift") && counts(mark);
  });
  return drift == sample.marks.end() ? "" : *drift;
}

// Those of a kind that counts occupancy only have ids of their own: what MB limits is not there. Of
// two kinds that count traffic, both would change the one amount that a domain has.
std::vector<const DomainTraffic*> Guard::guarded(const std::vector<DomainTraffic>& domains) {
  const bool any_counts = std::ranges::any_of(domains, &DomainTraffic::counts_traffic);
  std::map<DomainId, const DomainTraffic*> taken;
  for (const DomainTraffic& domain : domains) {
    if (any_counts && !domain.counts_traffic) continue;
    const auto [of_id, is_first] = taken.emplace(domain.domain, &domain);
    if (!is_first && is_taken_before(domain.resource, of_id->second->resource))
      of_id->second = &domain;
  }
  std::vector<const DomainTraffic*> out;
  for (const auto& [id, domain] : taken) out.push_back(domain);
  return out;
}

bool Guard::protects_somebody(const std::vector<DomainTraffic>& domains) const {
  return std::ranges::any_of(domains, [&](const DomainTraffic& domain) {
    return std::ranges::any_of(rules_.protected_groups, [&](const std::string& group) {
      return domain.groups.contains(group);
    });
  });
}

std::vector<GuardStep> Guard::add(const Sample& sample, const std::vector<DomainTraffic>& domains) {
  now_ = static_cast<double>(sample.monotonic_usec) / 1e6;
  time_usec_ = sample.time_usec;
  if (std::ranges::any_of(sample.marks, resets_guard)) places_.clear();
  const std::string frozen = why_frozen(sample);
  frozen_ = frozen;
  for (auto& [key, place] : places_) place.is_here = false;
  std::vector<GuardStep> out;
  const std::vector<const DomainTraffic*> all = guarded(domains);
  for (const DomainTraffic* domain : all) add(*domain, frozen.empty(), out);
  if (frozen_.empty()) frozen_ = why_no_amount(all);
  if (frozen_.empty() && !domains.empty() && !protects_somebody(domains))
    frozen_ = "no group that is protected is here";
  // The kernel has reset what is offline: when it is here again, it begins with the policy's.
  for (auto& [key, place] : places_)
    if (!place.is_here) give_all_back(key, place, "the domain is offline", out);
  std::erase_if(places_, [&](const auto& entry) {
    return !entry.second.is_here && now_ - entry.second.usable_at > gone_seconds;
  });
  return out;
}

void Guard::add(const DomainTraffic& domain, bool may_act, std::vector<GuardStep>& out) {
  const Key key{domain.resource, domain.domain};
  Place& place = places_[key];
  place.is_here = true;
  if (place.usable_at == 0) place.usable_at = now_;
  // Before a sample counts as seen: the amounts may be of long ago.
  if (now_ - place.usable_at > blind_seconds(interval_))
    give_all_back(key, place, "there was no usable sample for long", out);
  if (domain.gap) place.after_gap();
  update_pairs(domain, place, out);
  const auto is_here = [](const auto& pair) { return pair.second.is_here; };
  if (std::ranges::none_of(place.pairs, is_here)) {
    place.usable_at = now_;  // it holds nothing
    return;
  }
  if (!may_act || !is_usable(domain, place)) return;
  auto step = next(domain, place);
  if (!step) return;
  // Figures from before the step are no measure for the next one.
  for (auto& [group, pair] : place.pairs) pair.recent.clear();
  out.push_back(std::move(*step));
}

// Learned values stay.
void Guard::give_all_back(const Key& key, Place& place, const char* why,
                          std::vector<GuardStep>& out) const {
  place.rest();
  for (auto& [group, pair] : place.pairs) release(key, group, pair, why, out);
}

void Guard::release(const Key& key, const std::string& group, Pair& pair, const char* why,
                    std::vector<GuardStep>& out) const {
  const double before = std::exchange(pair.amount, pair.range.most);
  if (before < pair.amount)
    out.push_back({time_usec_, group, key.first, key.second, GuardStep::Direction::give_back,
                   pair.range, before, pair.amount, why});
}

// That the law needs the number of a group, and it has none.
std::string Guard::what_is_missing(const DomainTraffic& domain) const {
  for (const auto& [group, now] : domain.groups) {
    if (now.counted || !(rules_.protected_groups.contains(group) ||
                         rules_.range_of(group, domain.domain) != nullptr))
      continue;
    return now.missing ? group_label(group) + " has no counters" : no_number(group);
  }
  return "";
}

// A sample without all numbers is a pause: a counter that is missing now and then must neither keep
// back what was taken nor hide that a cut does not help. Of groups that the law does not look at,
// it is a pause for some samples only: then the sum of the others is taken, which the domain has at
// least.
bool Guard::is_usable(const DomainTraffic& domain, Place& place) {
  const auto freeze = [&](const std::string& why) {
    if (frozen_.empty())
      frozen_ = fmt::format("{} {}: {}", domain.resource, to_string(domain.domain), why);
    return false;
  };
  const bool has_rates = std::ranges::any_of(domain.groups, [](const auto& group) {
    return group.second.counted && !group.second.is_new;
  });
  const std::string missing = has_rates ? what_is_missing(domain) : "";
  if (!has_rates || !missing.empty()) {
    if (++place.blind >= pause_samples) {
      place.high = 0;
      place.alone = place.low = {};
    }
    return freeze(has_rates ? missing
                  : place.blind < pause_samples
                      ? "there are no rates yet"
                      : "there are no rates: no group has a number of mbm_total_bytes");
  }
  place.blind = 0;
  place.usable_at = now_;
  const auto other = std::ranges::find_if(domain.groups, [](const auto& group) {
    return !group.second.counted && !group.second.missing;
  });
  place.partial = other == domain.groups.end() ? 0 : place.partial + 1;
  if (place.partial == 0 || place.partial > pause_samples) return true;
  return freeze(no_number(other->first));
}

// A group that is gone, and one that comes back, has what the policy gives it; what was learned
// stays. Where the domains of MB are not those of the traffic, there is no amount.
void Guard::update_pairs(const DomainTraffic& domain, Place& place,
                         std::vector<GuardStep>& out) const {
  for (const auto& [group, now] : domain.groups)
    if (const Range* range = rules_.range_of(group, domain.domain);
        range != nullptr && !now.mb.empty() && !rules_.protected_groups.contains(group))
      place.pairs.try_emplace(group, Pair{.range = *range, .amount = range->most});
  for (auto& [group, pair] : place.pairs) {
    pair.is_here = domain.groups.contains(group);
    if (pair.is_here) {
      pair.here_at = now_;
      continue;
    }
    release({domain.resource, domain.domain}, group, pair, "the group is gone", out);
    pair.rest();
    if (place.cut && place.cut->group == group) place.cut.reset();
  }
  std::erase_if(place.pairs,
                [&](const auto& pair) { return now_ - pair.second.here_at > gone_seconds; });
}

std::string Guard::state_of(const Place& place, const std::string& group) const {
  const Pair& pair = place.pairs.at(group);
  if (pair.flapping)
    return fmt::format(
        "it went up and down too often, and stays at its lower end until it or all protected "
        "groups were idle for {:g} s",
        pair.calm_seconds);
  if (now_ < pair.left_alone_until)
    return fmt::format("left alone for {:.0f} s more: a cut did not help",
                       pair.left_alone_until - now_);
  if (!pair.lowered_mb.empty())
    return fmt::format("left alone while its mb is {}: that is less than what the guard gives it",
                       pair.lowered_mb);
  if (now_ < pair.blocked_until)
    return fmt::format(
        "left alone while its mb is {}, for {:.0f} s more at most: a cut did not come into force",
        pair.blocked_mb, pair.blocked_until - now_);
  if (place.cut && place.cut->group == group && place.cut->after.empty() && place.wait == 0)
    return "its last cut is not in force: what more would do is not known";
  return "";
}

std::vector<Guard::State> Guard::states() const {
  std::vector<State> out;
  for (const auto& [key, place] : places_)
    for (const auto& [group, pair] : place.pairs)
      if (pair.is_here)
        out.push_back({group, key.first, key.second, pair.range, pair.amount,
                       state_of(place, group), pair.flapping, pair.seen});
  return out;
}

Guard::Amounts Guard::amounts() const {
  Amounts out;
  for (const auto& [key, place] : places_)
    for (const auto& [group, pair] : place.pairs)
      if (place.is_here && pair.amount < pair.range.most) out[group][key.second] = pair.amount;
  return out;
}

}  // namespace rdtd::observe
