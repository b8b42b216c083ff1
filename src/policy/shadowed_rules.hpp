// Warnings of rules that can never decide, because an earlier rule matches everything that they
// match.
#pragma once

#include <span>
#include <vector>

#include "rdtd/policy/diagnostic.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// The rules are without errors and in the order in which they are tried. An earlier rule is known
// to match everything that a later one matches if each of its conditions has all the patterns of
// the later rule's condition of that kind, or a pattern that matches any text. Other globs are not
// compared with each other. The work is bounded: of very many rules that are much alike, the last
// ones may get no warning.
void warn_of_shadowed_rules(std::span<const Rule> rules, std::vector<Diagnostic>& diagnostics);

}  // namespace rdtd
