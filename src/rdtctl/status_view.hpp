// The output of `status` about a running daemon; status.cpp requests the data.
#pragma once

#include <vector>

#include "output.hpp"
#include "usage.hpp"

namespace rdtd {

struct Status {
  ManagerProperties daemon;
  std::vector<Client::GroupRow> groups;
  std::vector<LockStatus> locks;
  std::vector<LeaseStatus> leases;
  Capabilities capabilities;  // empty if resctrl cannot be read
  Snapshot now;               // likewise
  std::vector<Usage> usage;
  // By rdtd-observer, in the last hour; empty where it does not run.
  Client::Observed observed;
};

[[nodiscard]] JsonValue status_json(const Context& context, const Status& found);
void print_state(const Context& context, const Status& found);
void print_groups(const Context& context, const Status& found);

[[nodiscard]] JsonValue rules_json(const std::vector<RuleStatus>& rules);
void print_rules(const Context& context, const std::vector<RuleStatus>& rules);

// The amounts that a group was granted, as the kernel has them.
[[nodiscard]] Schemata schemata_of(const std::vector<Share>& granted,
                                   const Capabilities& capabilities);

}  // namespace rdtd
