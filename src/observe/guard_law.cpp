// The law of the guard: what it does in a domain that it can see. See guard.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/model/capabilities.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/observe/guard.hpp"

namespace rdtd::observe {

namespace {

constexpr unsigned cut_samples = 2, settle_samples = 2, judge_samples = 5, rise_samples = 10;
constexpr double rise_seconds = 10, quiet_margin = 0.1;
constexpr double active_rate = 1 << 18;  // bytes/s
// Means that differ by less, or by less than so many standard errors, are the same.
constexpr double changed = 0.05, changed_errors = 2;
// A difference of that much shows at once.
constexpr double much_changed = 0.2, much_changed_errors = 4;
// A sample that differs by more from the last one before a cut is of another time.
constexpr double unlike = 0.25;
constexpr double left_alone_seconds = 600, memory_seconds = 600;
// A restart of rdtd, and the pause after a refusal, are shorter.
constexpr double missed_seconds = 30;
constexpr size_t most_reversals = 6, most_seen = 64;
constexpr double reversal_seconds = 60;  // between what was given and what is taken again
constexpr double calm_seconds = 60, most_calm_seconds = 3600;

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
  return fmt::format("{}, {}",
                     domain.is_measured() ? "the measured ceiling" : "the most that was seen",
                     rate_text(*domain.ceiling));
}

// Amounts as they stand in `schemata`.
bool is_lower(const std::string& now, const std::string& before) {
  const auto number = parse_unsigned<uint64_t>(now), old = parse_unsigned<uint64_t>(before);
  return number && old && *number < *old;
}

struct Mean {
  double value = 0, squares = 0;  // of the distances from it
  double count = 0;
};
template <class T>
Mean mean_of(const std::vector<T>& all, double T::* figure) {
  Mean out{.count = static_cast<double>(all.size())};
  for (const T& one : all) out.value += one.*figure / out.count;
  for (const T& one : all) out.squares += std::pow(one.*figure - out.value, 2);
  return out;
}

// Welch's test would need more values than there are: both are taken to scatter alike.
double error_of(const Mean& before, const Mean& after) {
  const double freedom = std::max(1.0, before.count + after.count - 2);
  return std::sqrt((before.squares + after.squares) / freedom *
                   (1 / before.count + 1 / after.count));
}

}  // namespace

void Guard::Run::add(bool holds, double now) {
  if (!holds)
    samples = 0;
  else if (samples++ == 0)
    since = now;
}

bool Guard::is_long(const Run& run) const {
  return run.samples >= rise_samples && now_ - run.since >= rise_seconds;
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

bool Guard::is_alone(const DomainTraffic& domain) const {
  return protected_rate(domain) <= active_rate;
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

// Without the number of a group that had one, the sum says nothing of how much room there is.
bool Guard::is_low(const DomainTraffic& domain) const {
  return domain.ceiling && domain.traffic < (rules_.traffic - quiet_margin) * *domain.ceiling &&
         std::ranges::none_of(domain.groups, [](const auto& group) { return group.second.lost; });
}

// Another tool, or another lease, may have given it less than the guard does. A step from there
// would give it more, or nothing. A rate above all that the machine has is never seen.
void Guard::note_amount(const std::string& mb, const Place& place, Pair& pair) const {
  pair.lowered_mb.clear();
  const auto now = parse_unsigned<uint64_t>(mb);
  const double unit = mb_.percent ? 1 : mb_.step;
  if (!now || unit <= 0 || mb_.percent != pair.range.percent) return;
  const double amount = static_cast<double>(*now) * unit;
  pair.most_rate = std::max(pair.most_rate, amount);
  double expected = written(pair.range, pair.amount);
  if (mb_.percent)
    expected = std::min(expected, 100.0) - percent_slack(static_cast<unsigned>(mb_.step));
  else
    expected = std::min(expected, pair.most_rate);
  if (place.wait == 0 && amount < expected * (1 - 1e-9)) pair.lowered_mb = mb;
}

// Takes note of each sample, also while a step is waited for.
void Guard::note(const DomainTraffic& domain, Place& place) const {
  const bool alone = is_alone(domain);
  place.alone.add(alone, now_);
  place.low.add(is_low(domain), now_);
  place.high = is_high(domain) ? place.high + 1 : 0;
  for (auto& [group, pair] : place.pairs) {
    if (!pair.is_here) continue;
    const double rate = rate_in(domain, group);
    note_amount(mb_in(domain, group), place, pair);
    pair.idle.add(rate <= active_rate, now_);
    pair.calm.add(alone || rate <= active_rate, now_);
    if (pair.flapping && pair.calm.samples > 0 && now_ - pair.calm.since >= pair.calm_seconds) {
      pair.flapping = false;
      pair.reversals.clear();
      pair.thawed_at = now_;
    }
    if (place.wait > 0) continue;
    pair.recent.push_back({rate, domain.traffic, protected_rate(domain)});
    if (pair.recent.size() > judge_samples) pair.recent.pop_front();
    if (pair.seen.size() > most_seen) pair.seen.clear();
    const auto [seen, is_new] = pair.seen.try_emplace(pair.amount, rate);
    // A mean in which what is older counts less and less.
    if (!is_new) seen->second += 0.2 * (rate - seen->second);
  }
}

std::optional<GuardStep> Guard::next(const DomainTraffic& domain, Place& place) {
  note(domain, place);
  if (place.wait > 0) {
    place.wait--;
    return std::nullopt;
  }
  if (place.cut) {
    const bool in_force = is_in_force(domain, place);
    place.cut->missed.add(!in_force, now_);
    if (in_force) {
      auto step = judge(domain, place);
      if (step || place.cut) return step;
    } else if (rules_.acts && !mb_in(domain, place.cut->group).empty() &&
               place.cut->missed.samples >= judge_samples &&
               now_ - place.cut->missed.since >= missed_seconds) {
      return undo(domain, place);
    }
  }
  // The effect of a further cut is not known before the present one is in force.
  if (place.high >= cut_samples && !place.cut)
    if (auto step = cut(domain, place)) return step;
  return give_back(domain, place);
}

// The group has no more than was asked for. What it had before says nothing: another lease may have
// lowered it further just then, and be gone now.
bool Guard::is_in_force(const DomainTraffic& domain, const Place& place) const {
  const Pair& pair = place.pairs.at(place.cut->group);
  const std::string mb = mb_in(domain, place.cut->group);
  const auto now = parse_unsigned<uint64_t>(mb);
  const double unit = mb_.percent ? 1 : mb_.step;
  // A policy in the other unit: the value cannot be compared.
  if (!now || unit <= 0 || mb_.percent != pair.range.percent) return is_lower(mb, place.cut->mb);
  return static_cast<double>(*now) * unit <= written(pair.range, pair.amount) * (1 + 1e-9);
}

// One sample proves nothing: traffic scatters, and the sample that a cut was decided by is one of
// the higher ones.
Guard::Verdict Guard::verdict(const Cut& cut, double part, double errors) {
  Verdict out;
  const auto rises = [&](double Figures::* figure, double sign) {
    const Mean before = mean_of(cut.before, figure), after = mean_of(cut.after, figure);
    const double change = sign * (after.value - before.value);
    if (change <= part * before.value) return false;
    if (change > errors * error_of(before, after)) return true;
    out.unsure = true;
    return false;
  };
  out.binds = rises(&Figures::rate, -1);
  const bool less = rises(&Figures::traffic, -1), more = rises(&Figures::protected_rate, 1);
  out.helped = out.binds && (less || more);
  return out;
}

// Whether the last cut helped: the group moves less, and either the domain does, or who is
// protected moves more. One that does not bind goes on; one that binds and does not help is taken
// back: the neighbour was not the cause.
std::optional<GuardStep> Guard::judge(const DomainTraffic& domain, Place& place) {
  Cut& cut = *place.cut;
  Pair& pair = place.pairs[cut.group];
  cut.after.push_back(pair.recent.back());
  const bool shows = cut.after.size() >= 2 && cut.before.size() + cut.after.size() >= 5;
  // Without anybody to help, it is not known.
  if (is_alone(domain) || (shows && verdict(cut, much_changed, much_changed_errors).helped)) {
    place.cut.reset();
    return std::nullopt;
  }
  const size_t due = cut.looked_twice ? 2 * judge_samples : judge_samples;
  if (cut.after.size() < due) return std::nullopt;
  const Verdict found = verdict(cut, changed, changed_errors);
  if (found.helped) {
    place.cut.reset();
    return std::nullopt;
  }
  if (found.unsure && !cut.looked_twice) {
    cut.looked_twice = true;
    return std::nullopt;
  }
  const double rate = mean_of(cut.after, &Figures::rate).value;
  const auto lower = lower_amount(pair, rate);
  if (!lower || found.binds) return take_back(domain, place);
  cut.after.clear();
  cut.looked_twice = false;
  cut.mb = mb_in(domain, cut.group);
  place.wait = settle_samples;
  return step_of(domain, cut.group, pair, *lower,
                 fmt::format("{} still moves {}", group_label(cut.group), rate_text(rate)));
}

std::optional<GuardStep> Guard::take_back(const DomainTraffic& domain, Place& place) {
  const Cut cut = std::move(*place.cut);
  Pair& pair = place.pairs[cut.group];
  const auto mean = [](const std::vector<Figures>& all, double Figures::* figure) {
    return rate_text(mean_of(all, figure).value);
  };
  std::string reason = fmt::format(
      "the cut did not help: {} moved {} before and {} now, all together {} and {}; left alone for "
      "{:g} min",
      group_label(cut.group), mean(cut.before, &Figures::rate), mean(cut.after, &Figures::rate),
      mean(cut.before, &Figures::traffic), mean(cut.after, &Figures::traffic),
      left_alone_seconds / 60);
  pair.left_alone_until = now_ + left_alone_seconds;
  pair.too_much.reset();
  pair.flapping = false;
  place.rest();
  place.wait = settle_samples;
  return step_of(domain, cut.group, pair, cut.amount, std::move(reason));
}

// Another lease has precedence, or rdtd refuses the amount: that must not stop the guard of all
// others in the domain. It is tried again once the amount in force is another one, or after a time.
std::optional<GuardStep> Guard::undo(const DomainTraffic& domain, Place& place) {
  const Cut cut = std::move(*place.cut);
  place.cut.reset();
  place.wait = settle_samples;
  Pair& pair = place.pairs[cut.group];
  pair.blocked_mb = mb_in(domain, cut.group);
  pair.blocked_until = now_ + left_alone_seconds;
  pair.too_much.reset();
  pair.flapping = false;
  return step_of(domain, cut.group, pair, cut.amount,
                 fmt::format("the cut did not come into force: mb of {} is {}; left alone while it "
                             "is, for {:g} min at most",
                             group_label(cut.group), pair.blocked_mb, left_alone_seconds / 60));
}

// Each time that it begins again soon, it has to be calm for longer.
void Guard::note_reversal(Pair& pair) const {
  if (pair.wanted_at && now_ - *pair.wanted_at < reversal_seconds) pair.reversals.push_back(now_);
  pair.wanted_at.reset();
  while (!pair.reversals.empty() && now_ - pair.reversals.front() > memory_seconds)
    pair.reversals.pop_front();
  if (pair.flapping || pair.reversals.size() <= most_reversals) return;
  const bool again = pair.thawed_at > 0 && now_ - pair.thawed_at < most_calm_seconds;
  pair.calm_seconds = again ? std::min(2 * pair.calm_seconds, most_calm_seconds) : calm_seconds;
  pair.flapping = true;
}

bool Guard::may_fall(const DomainTraffic& domain, const std::string& group,
                     const Pair& pair) const {
  const std::string mb = mb_in(domain, group);
  const double rate = rate_in(domain, group);
  // Whether a cut is in force cannot be seen without it.
  if (mb.empty() || now_ < pair.left_alone_until || !pair.lowered_mb.empty()) return false;
  if (now_ < pair.blocked_until && mb == pair.blocked_mb) return false;
  return rate > active_rate && lower_amount(pair, rate);
}

std::optional<GuardStep> Guard::cut(const DomainTraffic& domain, Place& place) {
  const std::string* found = nullptr;
  for (const auto& [name, pair] : place.pairs)
    if (may_fall(domain, name, pair) &&
        (found == nullptr || rate_in(domain, name) > rate_in(domain, *found)))
      found = &name;
  if (found == nullptr) return std::nullopt;
  const std::string group = *found;
  Pair& pair = place.pairs[group];
  note_reversal(pair);
  place.cut = Cut{group, pair.amount, before_cut(pair), mb_in(domain, group)};
  pair.blocked_until = 0;
  pair.too_much = pair.amount;
  pair.too_much_at = now_;
  place.high = 0;
  place.low = {};
  place.wait = settle_samples;
  return step_of(
      domain, group, pair,
      pair.flapping ? pair.range.least : *lower_amount(pair, rate_in(domain, group)),
      fmt::format("traffic {} is above {:g}% of {}{}", rate_text(domain.traffic),
                  100 * rules_.traffic, ceiling_text(domain),
                  pair.flapping ? "; it went up and down too often, and stays there" : ""));
}

// Of the last samples those that are like the last one: in others the group, or who is protected,
// was not there yet.
std::vector<Guard::Figures> Guard::before_cut(const Pair& pair) {
  std::vector<Figures> out;
  const Figures& last = pair.recent.back();
  const auto is_like_last = [&](const Figures& one) {
    return std::ranges::all_of(
        std::initializer_list<double Figures::*>{&Figures::rate, &Figures::traffic,
                                                 &Figures::protected_rate},
        [&](double Figures::* figure) {
          return std::abs(one.*figure - last.*figure) <= unlike * last.*figure;
        });
  };
  for (auto one = pair.recent.rbegin(); one != pair.recent.rend() && is_like_last(*one); ++one)
    out.push_back(*one);
  return out;
}

// One step up: what the processor can tell apart at least, and all where that is the same.
double Guard::raised(const Pair& pair) const {
  const Range& range = pair.range;
  const double least = mb_.percent == range.percent ? mb_.step : 0;
  const double out = pair.amount + std::max(rise_of(range), least);
  return written(range, out) >= written(range, range.most) ? range.most : out;
}

// A group that uses all that it has would use more, and that was too much traffic not long ago.
bool Guard::may_rise(const DomainTraffic& domain, const std::string& group, const Place& place,
                     const Pair& pair) const {
  if (pair.amount >= pair.range.most || pair.flapping) return false;
  if (is_long(place.alone) || is_long(pair.idle)) return true;
  if (!is_long(place.low)) return false;
  if (!pair.too_much || now_ - pair.too_much_at > memory_seconds ||
      written(pair.range, raised(pair)) < written(pair.range, *pair.too_much))
    return true;
  const auto seen = pair.seen.find(pair.amount);
  return seen == pair.seen.end() || rate_in(domain, group) < 0.5 * seen->second ||
         rate_in(domain, group) <= active_rate;
}

std::string Guard::why_quiet(const DomainTraffic& domain, const Place& place,
                             const Pair& pair) const {
  if (is_long(place.alone))
    return fmt::format("no protected group is active, for {:.0f} s", now_ - place.alone.since);
  if (is_long(pair.idle)) return fmt::format("it is idle, for {:.0f} s", now_ - pair.idle.since);
  return fmt::format("traffic {} is below {:g}% of {}, for {:.0f} s", rate_text(domain.traffic),
                     100 * (rules_.traffic - quiet_margin), ceiling_text(domain),
                     now_ - place.low.since);
}

std::optional<GuardStep> Guard::give_back(const DomainTraffic& domain, Place& place) {
  const auto had = [](const Pair& pair) { return pair.amount / pair.range.most; };
  const std::string* found = nullptr;
  for (const auto& [name, pair] : place.pairs)
    if (may_rise(domain, name, place, pair) &&
        (found == nullptr || had(pair) < had(place.pairs[*found])))
      found = &name;
  if (found == nullptr) return std::nullopt;
  const std::string group = *found;
  Pair& pair = place.pairs[group];
  pair.wanted_at.reset();
  if (rate_in(domain, group) > active_rate) pair.wanted_at = now_;
  std::string reason = why_quiet(domain, place, pair);
  if (place.cut && place.cut->group == group) place.cut.reset();
  place.wait = settle_samples;
  // Slowly only where somebody could suffer.
  if (is_long(place.alone)) {
    place.cut.reset();
    return step_of(domain, group, pair, pair.range.most, std::move(reason));
  }
  place.low = pair.idle = {};
  return step_of(domain, group, pair, raised(pair), std::move(reason));
}

}  // namespace rdtd::observe
