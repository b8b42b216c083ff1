#include "guarding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

#include "journal.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/observer/guard_policy.hpp"

namespace rdtd {

namespace {

constexpr size_t most_steps = 100, most_counts = 1000;
// After a refusal: nothing changed, so the daemon is not asked with every sample.
constexpr uint64_t ask_again_usec = 10'000'000;

}  // namespace

Guarding::Guarding(sd_event* event, std::function<void(std::string)> on_mark)
    : lease_(event, guard_lease_name,
             {.on_granted =
                  [this] {
                    refused_.clear();
                    const uint64_t usec = clock_usec(CLOCK_BOOTTIME) - asked_usec_;
                    log_debug(fmt::format(
                        "the guard's amounts are in force, {:.1f} ms after the sample began",
                        static_cast<double>(usec) / 1e3));
                  },
              .on_refused =
                  [this](const std::string& why) {
                    if (refused_ != why)
                      log_warning("the guard's amounts are not in force: " + why);
                    refused_ = why;
                  },
              .on_ended =
                  [this] {
                    log_info("the guard's lease ended: the policy's own amounts are in force");
                    on_mark_(observe::guard_ended_mark);
                  }}),
      on_mark_(std::move(on_mark)) {}

void Guarding::use(Policy policy) {
  policy_ = std::move(policy);
  lease_.release();
  no_policy_.clear();
  refused_.clear();
  ask_due_usec_ = 0;
  guard_.reset();
  if (policy_.guard.mode == GuardMode::off) return;
  guard_.emplace(guard_rules(policy_));
  guard_->use(header_);
}

void Guarding::refuse(const std::string& why) {
  use(Policy{});
  no_policy_ = why;
}

void Guarding::use(const observe::Header& header) {
  header_ = header;
  if (guard_) guard_->use(header);
}

// In shadow nothing is held, and what is seen later says what is to be forgotten.
void Guarding::release() {
  if (!guard_ || policy_.guard.mode != GuardMode::on) return;
  lease_.release();
  // Without the mark, a replay would go on with what is forgotten here.
  if (guard_->amounts().empty()) return;
  guard_.emplace(guard_rules(policy_));
  guard_->use(header_);
  on_mark_(observe::guard_ended_mark);
}

void Guarding::check(uint64_t now_usec) {
  const auto blind_usec = static_cast<uint64_t>(observe::blind_seconds(header_.interval) * 1e6);
  if (seen_usec_ == 0 || now_usec < seen_usec_ + blind_usec) return;
  seen_usec_ = 0;
  release();
}

void Guarding::add(const observe::Sample& sample, const observe::Detector& detector, sd_bus* bus) {
  seen_usec_ = sample.monotonic_usec;
  if (!guard_) return;
  for (const observe::GuardStep& step : guard_->add(sample, detector.traffic())) {
    note(step);
    ask_due_usec_ = 0;
  }
  if (policy_.guard.mode != GuardMode::on || sample.monotonic_usec < ask_due_usec_) return;
  const std::string text = guard_lease(policy_, guard_->amounts());
  if (text.empty()) refused_.clear();
  if (lease_.want(bus, text)) asked_usec_ = sample.monotonic_usec;
  ask_due_usec_ = refused_.empty() ? 0 : sample.monotonic_usec + ask_again_usec;
}

void Guarding::note(const observe::GuardStep& step) {
  const std::string mode(to_string(policy_.guard.mode));
  const std::string text = sentence(step);
  log_guard_step(mode == "on" ? text : "in shadow: " + text,
                 fmt::format("{}:{}", step.resource, to_string(step.domain)),
                 group_label(step.group));
  steps_.push_back({step.time_usec, mode, text});
  if (steps_.size() > most_steps) steps_.pop_front();
  const std::tuple key{group_label(step.group), step.resource, static_cast<uint32_t>(step.domain),
                       std::string(to_string(step.direction)), mode};
  if (counts_.contains(key) || counts_.size() < most_counts) counts_[key]++;
}

GuardStatus Guarding::status() const {
  GuardStatus out;
  out.mode = to_string(policy_.guard.mode);
  out.steps.assign(steps_.begin(), steps_.end());
  for (const auto& [key, steps] : counts_) {
    const auto& [group, resource, domain, direction, mode] = key;
    out.counts.push_back({group, resource, domain, direction, mode, steps});
  }
  out.problem = no_policy_;
  if (!guard_) return out;
  if (!refused_.empty())
    out.problem = "its amounts are not in force: " + refused_;
  else if (seen_usec_ == 0)
    out.problem = "no step now: there are no samples";
  else if (!guard_->frozen().empty())
    out.problem = "no step now: " + guard_->frozen();
  const std::vector<observe::Guard::State> states = guard_->states();
  const auto flapping = std::ranges::find(states, true, &observe::Guard::State::flapping);
  if (out.problem.empty() && flapping != states.end())
    out.problem =
        fmt::format("{} {}: mb of {}: {}", flapping->resource, to_string(flapping->domain),
                    group_label(flapping->group), flapping->text);
  for (const observe::Guard::State& state : states) {
    GuardAmount row{group_label(state.group),
                    state.resource,
                    static_cast<uint32_t>(state.domain),
                    state.range.percent ? "percent" : "bytes_per_second",
                    state.amount,
                    state.range.least,
                    state.range.most,
                    state.text,
                    {}};
    for (const auto& [amount, rate] : state.seen) row.seen.push_back({amount, rate});
    out.amounts.push_back(std::move(row));
  }
  return out;
}

}  // namespace rdtd
