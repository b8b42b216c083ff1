// LeaseJobs: how a lease comes into force, how its holder changes it, and how what it had put in
// force goes again. Each of these is a load like any other, of the files in force and the leases.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <optional>
#include <string>

#include "rdtd/bus/changes.hpp"
#include "rdtd/daemon/core.hpp"
#include "rdtd/daemon/loads.hpp"
#include "rdtd/model/guard_status.hpp"

namespace rdtd {

class LeaseJobs {
 public:
  LeaseJobs(Core& core, Loads& loads) : core_(core), loads_(loads) {}

  void lease(const std::string& name, const std::string& policy, const Caller& caller,
             Changes::Leased done);
  // Replaces the text of a lease. If it is refused, the one before stays in force.
  void update(const std::string& name, const std::string& policy, const Caller& caller,
              Changes::Done done);
  // To be called when the descriptor of the leases is readable: ends those that nobody holds any
  // more.
  void end_abandoned();

 private:
  using Outcome = Loads::Outcome;
  [[nodiscard]] Task<> run_lease(Leases::Lease lease, Changes::Leased done);
  [[nodiscard]] Task<> run_update(std::string name, std::string policy, Caller caller,
                                  Changes::Done done);
  [[nodiscard]] Task<> run_without_ended();
  [[nodiscard]] Task<Outcome> apply(std::string name, ResctrlLock::Right right,
                                    Loads::Report report);
  [[nodiscard]] std::optional<Refusal> refuse(const std::string& name) const;
  [[nodiscard]] std::optional<Refusal> refuse_guard(const std::string& name,
                                                    const std::string& policy, uid_t uid) const;
  [[nodiscard]] std::optional<Refusal> refuse_update(const std::string& name,
                                                     const Caller& caller) const;
  [[nodiscard]] std::vector<MissingPart> missing_without(const std::string& name,
                                                         Applier::Request request);
  [[nodiscard]] std::optional<Refusal> refuse_to_displace(const std::string& name,
                                                          const Applier::Request& request);
  [[nodiscard]] bool too_many(const std::string& name) const {
    return waiting_ >= Leases::max_leases + (name == guard_lease_name ? 1 : 0);
  }

  Core& core_;
  Loads& loads_;
  size_t waiting_ = 0;  // requests whose jobs have not begun
};

}  // namespace rdtd
