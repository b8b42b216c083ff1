// prepare: from policy files and a machine to the plan, in one place for all who need it: the
// daemon's load, `rdtctl plan` and `check`, and the test that `import` makes of its own output.
// Pure.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rdtd/model/machine.hpp"
#include "rdtd/plan/plan.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd {

struct Prepared {
  Policy policy;
  Plan plan;
  std::vector<Diagnostic> warnings;       // sorted by place
  std::vector<Diagnostic> text_warnings;  // those of them that are about the texts alone
  std::vector<MissingPart> missing;       // from prepare, only what waits for a device to be closed
};

struct Rejected {
  std::vector<Diagnostic> diagnostics;  // sorted by place, at least one is an error
  Sources sources;
  // Not the policy but the machine is in the way: other tools' groups, how resctrl is mounted, or
  // too few CLOSIDs or RMIDs.
  bool machine_is_cause = false;
};

[[nodiscard]] std::expected<Prepared, Rejected> prepare(std::span<const PolicyFile> files,
                                                        const Machine& machine);

// The same, but what the machine forbids is left out: of the groups, in the
// order of the policy, each that can be had together with those before it, then of the monitoring
// groups. Rejected only for errors that an edit of the policy must fix.
[[nodiscard]] std::expected<Prepared, Rejected> prepare_what_fits(std::span<const PolicyFile> files,
                                                                  const Machine& machine);

// Plans a policy that is read already, on a machine with the same capabilities. Nothing if that
// fails, or takes more than a plan.
[[nodiscard]] std::optional<Prepared> prepare_known(Policy policy,
                                                    std::vector<Diagnostic> text_warnings,
                                                    const Machine& machine);

}  // namespace rdtd
