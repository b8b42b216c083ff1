// Guarding: the guard of a policy at work: its steps go to the journal, and in mode "on" its
// amounts into a lease. What the daemon has not granted, or has taken back, is not in force:
// nothing else changes resctrl.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "rdtd/bus/lease_holder.hpp"
#include "rdtd/model/guard_status.hpp"
#include "rdtd/observe/guard.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

class Guarding {
 public:
  // `on_mark`: what the next sample is to say.
  Guarding(sd_event* event, std::function<void(std::string)> on_mark);

  // The policy's own amounts are in force again, and what was learned is forgotten.
  void use(Policy policy);
  // There is no policy to go by.
  void refuse(const std::string& why);
  void use(const observe::Header& header);
  // Where nothing was seen for a time, or the bus is lost, nothing is held any longer.
  void check(uint64_t now_usec);
  void release();
  void add(const observe::Sample& sample, const observe::Detector& detector, sd_bus* bus);
  [[nodiscard]] GuardStatus status() const;

 private:
  void note(const observe::GuardStep& step);

  LeaseHolder lease_;
  Policy policy_;
  std::optional<observe::Guard> guard_;  // unless the mode is "off"
  observe::Header header_;
  std::function<void(std::string)> on_mark_;
  std::string no_policy_;  // why there is none
  std::string refused_;    // why its amounts are not in force
  // CLOCK_BOOTTIME; `asked_usec_`: of the sample whose amounts the daemon was asked for.
  uint64_t ask_due_usec_ = 0, seen_usec_ = 0, asked_usec_ = 0;
  std::deque<GuardStepRow> steps_;
  std::map<std::tuple<std::string, std::string, uint32_t, std::string, std::string>, uint64_t>
      counts_;
};

}  // namespace rdtd
