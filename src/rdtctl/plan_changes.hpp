// The changes of a plan for people: one entry for each group, with amounts instead of the kernel's
// steps, which -j and --unified have.
#pragma once

#include "groups.hpp"
#include "output.hpp"
#include "rdtd/plan/prepare.hpp"

namespace rdtd {

// "+ redis  L3 4 ways (f); MB 20%", "~ default  L3 12 ways (fff0), was 16 ways (ffff)", "- old". A
// group that several steps change shows what it has before the first and after the last one.
void print_changes(const Context& context, const Capabilities& capabilities, const Steps& changes);

}  // namespace rdtd
