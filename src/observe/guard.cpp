#include "rdtd/observe/guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd::observe {

namespace {

constexpr unsigned cut_samples = 2, settle_samples = 2, judge_samples = 5, rise_samples = 10;
constexpr double rise_seconds = 10, quiet_margin = 0.1;
constexpr double active_rate = 1 << 18;  // bytes/s
constexpr double changed = 0.05;         // less is scatter
constexpr double left_alone_seconds = 600, memory_seconds = 600;
constexpr size_t most_reversals = 6, most_seen = 64;
constexpr double reversal_seconds = 60;  // between what was given and what is taken again

// Given back at once: ten per cent is what most processors can tell apart.
double rise_of(const Range& range) {
  return range.percent ? 10 : std::max(1e6, (range.most - range.least) / 10);
}

double rate_in(const DomainTraffic& domain, const std::string& group) {
  const auto found = domain.groups.find(group);
  return found == domain.groups.end() ? 0 : found->second.rate;
}

std::string mb_in(const DomainTraffic& domain, const std::string& group) {
  const auto found = domain.groups.find(group);
  return found == domain.groups.end() ? "" : found->second.mb;
}

std::string ceiling_text(const DomainTraffic& domain) {
  return fmt::format("{}, {}", domain.measured ? "the measured ceiling" : "the most that was seen",
                     rate_text(*domain.ceiling));
}

// Amounts as they stand in `schemata`.
bool is_lower(const std::string& now, const std::string& before) {
  const auto number = parse_unsigned<uint64_t>(now), old = parse_unsigned<uint64_t>(before);
  return number && old && *number < *old;
}

bool forgets(const std::string& mark) {
  return mark == started_mark || mark == loaded_mark || mark == guard_ended_mark;
}

}  // namespace

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

void Guard::Place::rest() {
  high = quiet = wait = 0;
  cut.reset();
}

void Guard::Place::forget() {
  rest();
  pairs.clear();
}

std::string Guard::why_frozen(const Sample& sample) const {
  if (mba_mbps_)
    return "resctrl is mounted with mba_MBps: the kernel changes the bandwidth by itself";
  const auto drift = std::ranges::find_if(
      sample.marks, [](const std::string& mark) { return mark.starts_with("drift"); });
  return drift == sample.marks.end() ? "" : *drift;
}

std::vector<GuardStep> Guard::add(const Sample& sample, const std::vector<DomainTraffic>& domains) {
  now_ = static_cast<double>(sample.monotonic_usec) / 1e6;
  time_usec_ = sample.time_usec;
  if (std::ranges::any_of(sample.marks, forgets)) places_.clear();
  const std::string frozen = why_frozen(sample);
  frozen_ = frozen;
  for (auto& [key, place] : places_) place.is_here = false;
  std::vector<GuardStep> out;
  for (const DomainTraffic& domain : domains) {
    Place& place = places_[{domain.resource, domain.domain}];
    place.is_here = true;
    update_pairs(domain, place);
    if (place.pairs.empty()) continue;
    if (!is_usable(domain, place) || !frozen.empty()) continue;
    if (auto step = next(domain, place)) out.push_back(std::move(*step));
  }
  for (auto& [key, place] : places_)
    if (!place.is_here) place.rest();
  std::erase_if(places_, [&](const auto& entry) {
    return !entry.second.is_here && now_ - entry.second.usable_at > memory_seconds;
  });
  return out;
}

// Who cannot see for a time does not hold others back any longer. A sample without all numbers is a
// pause: a counter that is missing now and then must neither keep back what was taken nor hide that
// a cut does not help.
bool Guard::is_usable(const DomainTraffic& domain, Place& place) {
  if (domain.whole || place.usable_at == 0) place.usable_at = now_;
  if (domain.whole) return true;
  place.high = 0;
  if (now_ - place.usable_at > blind_seconds(interval_)) place.forget();
  if (frozen_.empty())
    frozen_ =
        fmt::format("{} {}: a counter has no number", domain.resource, to_string(domain.domain));
  return false;
}

// A group that is gone, and one that comes back, has what the policy gives it. Where the domains of
// MB are not those of the traffic, there is no amount.
void Guard::update_pairs(const DomainTraffic& domain, Place& place) const {
  if (domain.whole)
    std::erase_if(place.pairs,
                  [&](const auto& pair) { return !domain.groups.contains(pair.first); });
  if (place.cut && !place.pairs.contains(place.cut->group)) place.cut.reset();
  for (const auto& [group, now] : domain.groups)
    if (const Range* range = rules_.range_of(group, domain.domain);
        range != nullptr && !now.mb.empty() && !rules_.protected_groups.contains(group))
      place.pairs.try_emplace(group, Pair{.range = *range, .amount = range->most});
}

// As the kernel rounds it.
double Guard::written(const Range& range, double amount) const {
  if (mb_.step <= 0 || mb_.percent != range.percent) return amount;
  return std::max(mb_.least, std::ceil(amount / mb_.step - 1e-9) * mb_.step);
}

// Half of it, or of what the group moves if that is less; at least a step that the processor can
// tell apart. Nothing if there is none.
std::optional<double> Guard::lower_amount(const Pair& pair, double rate) const {
  const Range& range = pair.range;
  const double now = written(range, pair.amount);
  double out = range.percent ? std::floor(pair.amount / 2) : std::min(pair.amount, rate) / 2;
  out = std::max(range.least, out);
  if (written(range, out) >= now) out = std::max(range.least, now - std::max(mb_.step, 0.0));
  return written(range, out) < now && out < pair.amount ? std::optional(out) : std::nullopt;
}

GuardStep Guard::step_of(const DomainTraffic& domain, const std::string& group, Pair& pair,
                         double after, std::string reason) const {
  using enum GuardStep::Direction;
  const double before = std::exchange(pair.amount, after);
  return {time_usec_, group,  domain.resource, domain.domain,    after < before ? cut : give_back,
          pair.range, before, after,           std::move(reason)};
}

double Guard::protected_rate(const DomainTraffic& domain) const {
  double out = 0;
  for (const std::string& group : rules_.protected_groups) out += rate_in(domain, group);
  return out;
}

// A ceiling that was only seen may be far below the true one: then somebody has to suffer too.
bool Guard::is_high(const DomainTraffic& domain) const {
  if (!domain.ceiling || domain.traffic <= rules_.traffic * *domain.ceiling) return false;
  return std::ranges::any_of(rules_.protected_groups, [&](const std::string& group) {
    const auto found = domain.groups.find(group);
    return found != domain.groups.end() && found->second.rate > active_rate &&
           (domain.measured || found->second.suffers);
  });
}

// Then what they may have makes no difference to anybody.
bool Guard::lowered_are_idle(const DomainTraffic& domain, const Place& place) {
  return std::ranges::all_of(place.pairs, [&](const auto& pair) {
    return pair.second.amount >= pair.second.range.most ||
           rate_in(domain, pair.first) <= active_rate;
  });
}

std::optional<GuardStep> Guard::next(const DomainTraffic& domain, Place& place) {
  const bool quiet =
      protected_rate(domain) <= active_rate || lowered_are_idle(domain, place) ||
      (domain.ceiling && domain.traffic < (rules_.traffic - quiet_margin) * *domain.ceiling);
  place.high = is_high(domain) ? place.high + 1 : 0;
  if (!quiet) place.quiet = 0;
  if (quiet && place.quiet++ == 0) place.quiet_since = now_;
  if (place.wait > 0) {
    place.wait--;
    return std::nullopt;
  }
  for (auto& [group, pair] : place.pairs) {
    const double rate = rate_in(domain, group);
    if (pair.seen.size() > most_seen) pair.seen.clear();
    const auto [seen, is_new] = pair.seen.try_emplace(pair.amount, rate);
    // A mean in which what is older counts less and less.
    if (!is_new) seen->second += 0.2 * (rate - seen->second);
  }
  if (place.cut && is_lower(mb_in(domain, place.cut->group), place.cut->mb))
    return judge(domain, place);
  // What more would do is not known before that one is in force.
  if (place.high >= cut_samples && !place.cut) return cut(domain, place);
  if (place.quiet >= rise_samples && now_ - place.quiet_since >= rise_seconds)
    return give_back(domain, place);
  return std::nullopt;
}

// Whether the last cut helped: the group moves less, and either the domain does, or who is
// protected moves more. One that does not bind goes on; one that binds and does not help is taken
// back: the neighbour was not the cause.
std::optional<GuardStep> Guard::judge(const DomainTraffic& domain, Place& place) {
  Cut& cut = *place.cut;
  const std::string group = cut.group;
  Pair& pair = place.pairs[group];
  cut.samples++;
  const double rate = rate_in(domain, group);
  const bool binds = rate < (1 - changed) * cut.rate;
  const bool helped = binds && (domain.traffic < (1 - changed) * cut.traffic ||
                                protected_rate(domain) > (1 + changed) * cut.protected_rate);
  // Without anybody to help, it is not known.
  if (helped || protected_rate(domain) <= active_rate) {
    place.cut.reset();
    return std::nullopt;
  }
  if (cut.samples < judge_samples) return std::nullopt;
  place.wait = settle_samples;
  if (const auto lower = lower_amount(pair, rate); lower && !binds) {
    cut.samples = 0;
    cut.mb = mb_in(domain, group);
    return step_of(domain, group, pair, *lower,
                   fmt::format("{} still moves {}", group_label(group), rate_text(rate)));
  }
  std::string reason = fmt::format(
      "the cut did not help: {} moved {} before and {} now, all together {} and {}; left alone for "
      "{:g} min",
      group_label(group), rate_text(cut.rate), rate_text(rate), rate_text(cut.traffic),
      rate_text(domain.traffic), left_alone_seconds / 60);
  pair.left_alone_until = now_ + left_alone_seconds;
  pair.too_much.reset();
  const double before = cut.amount;
  place.rest();
  place.wait = settle_samples;
  return step_of(domain, group, pair, before, std::move(reason));
}

void Guard::note_reversal(Pair& pair) const {
  if (pair.wanted_at && now_ - *pair.wanted_at < reversal_seconds) pair.reversals.push_back(now_);
  pair.wanted_at.reset();
  while (!pair.reversals.empty() && now_ - pair.reversals.front() > memory_seconds)
    pair.reversals.pop_front();
  if (pair.reversals.size() > most_reversals) pair.flapping = true;
}

std::optional<GuardStep> Guard::cut(const DomainTraffic& domain, Place& place) {
  const std::string* found = nullptr;
  for (const auto& [name, pair] : place.pairs)
    if (now_ >= pair.left_alone_until && rate_in(domain, name) > active_rate &&
        lower_amount(pair, rate_in(domain, name)) &&
        (found == nullptr || rate_in(domain, name) > rate_in(domain, *found)))
      found = &name;
  if (found == nullptr) return std::nullopt;
  const std::string group = *found;
  Pair& pair = place.pairs[group];
  note_reversal(pair);
  place.cut = Cut{group,
                  pair.amount,
                  rate_in(domain, group),
                  domain.traffic,
                  protected_rate(domain),
                  mb_in(domain, group),
                  0};
  pair.too_much = pair.amount;
  pair.too_much_at = now_;
  place.high = place.quiet = 0;
  place.wait = settle_samples;
  return step_of(
      domain, group, pair,
      pair.flapping ? pair.range.least : *lower_amount(pair, rate_in(domain, group)),
      fmt::format("traffic {} is above {:g}% of {}{}", rate_text(domain.traffic),
                  100 * rules_.traffic, ceiling_text(domain),
                  pair.flapping ? "; it went up and down too often, and stays there" : ""));
}

// Who uses all that it has would use more, and there was too much traffic at that not long ago.
bool Guard::may_rise(const DomainTraffic& domain, const std::string& group,
                     const Pair& pair) const {
  if (pair.amount >= pair.range.most) return false;
  if (protected_rate(domain) <= active_rate) return true;
  if (pair.flapping) return false;
  if (!pair.too_much || now_ - pair.too_much_at > memory_seconds ||
      pair.amount + rise_of(pair.range) < *pair.too_much)
    return true;
  const auto seen = pair.seen.find(pair.amount);
  return seen == pair.seen.end() || rate_in(domain, group) < 0.5 * seen->second ||
         rate_in(domain, group) <= active_rate;
}

std::string Guard::why_quiet(const DomainTraffic& domain, const Place& place) const {
  const double seconds = now_ - place.quiet_since;
  if (protected_rate(domain) <= active_rate)
    return fmt::format("no protected group is active, for {:.0f} s", seconds);
  if (lowered_are_idle(domain, place)) return fmt::format("it is idle, for {:.0f} s", seconds);
  return fmt::format("traffic {} is below {:g}% of {}, for {:.0f} s", rate_text(domain.traffic),
                     100 * (rules_.traffic - quiet_margin), ceiling_text(domain), seconds);
}

std::optional<GuardStep> Guard::give_back(const DomainTraffic& domain, Place& place) {
  const auto had = [](const Pair& pair) { return pair.amount / pair.range.most; };
  const std::string* found = nullptr;
  for (const auto& [name, pair] : place.pairs)
    if (may_rise(domain, name, pair) && (found == nullptr || had(pair) < had(place.pairs[*found])))
      found = &name;
  if (found == nullptr) return std::nullopt;
  Pair& pair = place.pairs[*found];
  pair.wanted_at.reset();
  if (rate_in(domain, *found) > active_rate) pair.wanted_at = now_;
  std::string reason = why_quiet(domain, place);
  // Slowly only where somebody could suffer.
  if (protected_rate(domain) <= active_rate) {
    place.cut.reset();
    place.wait = settle_samples;
    return step_of(domain, *found, pair, pair.range.most, std::move(reason));
  }
  place.rest();
  place.wait = settle_samples;
  const double rise =
      std::max(rise_of(pair.range), mb_.percent == pair.range.percent ? mb_.step : 0);
  return step_of(domain, *found, pair, std::min(pair.range.most, pair.amount + rise),
                 std::move(reason));
}

std::vector<Guard::State> Guard::states() const {
  std::vector<State> out;
  for (const auto& [key, place] : places_)
    for (const auto& [group, pair] : place.pairs) {
      State state{group, key.first, key.second, pair.range, pair.amount, "", pair.seen};
      if (pair.flapping)
        state.text =
            "it went up and down too often, and stays at its lower end until the policy "
            "is loaded again";
      else if (now_ < pair.left_alone_until)
        state.text = fmt::format("left alone for {:.0f} s more: a cut did not help",
                                 pair.left_alone_until - now_);
      else if (place.cut && place.cut->group == group && place.cut->samples == 0 && place.wait == 0)
        state.text = "its last cut is not in force: what more would do is not known";
      out.push_back(std::move(state));
    }
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
