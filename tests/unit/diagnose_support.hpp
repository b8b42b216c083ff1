// A machine on which doctor finds nothing, and what it finds after one change, for its tests.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "diagnose.hpp"

namespace rdtd::test {

inline MachineFacts healthy() {
  MachineFacts facts;
  facts.cpu_flags = {"fpu", "cat_l3", "mba", "cqm_llc"};
  facts.vendor = "GenuineIntel";
  facts.family = 6;
  facts.model = 85;
  facts.command_line = "quiet root=/dev/sda1";
  facts.kernel_has_resctrl = true;
  facts.mount_point = "/r";
  facts.mount_options = "rw,relatime";
  facts.offered = std::set<std::string>{"L3", "MB", "llc_occupancy"};
  facts.num_closids = 8;
  facts.own_groups = {"redis"};
  facts.policy_groups = {"redis"};
  facts.daemon_runs = true;
  facts.daemon_state = "running";
  return facts;
}

inline std::string shown_findings(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings)
    if (finding.kind != Finding::Kind::fine)
      out += (finding.kind == Finding::Kind::warning ? "warning " : "problem ") + finding.what +
             " -> " + finding.cure + "\n";
  return out;
}

struct Trouble {
  const char* name;
  std::function<void(MachineFacts&)> change;
  const char* shown;
};

inline void expect_findings(const std::vector<Trouble>& rows) {
  for (const Trouble& row : rows) {
    MachineFacts facts = healthy();
    row.change(facts);
    EXPECT_EQ(shown_findings(diagnose(facts)), row.shown) << row.name;
  }
}

}  // namespace rdtd::test
