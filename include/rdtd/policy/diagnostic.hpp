// Diagnostic: one thing wrong with a policy, or worth a warning, with its place. Diagnostics are
// collected as values and printed once, all together, sorted by place.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "rdtd/base/located.hpp"
#include "rdtd/base/shared_text.hpp"

namespace rdtd {

enum class Severity { error, warning };

// The cause of an error: the policy, how resctrl is mounted, how many control groups there can be,
// a program that has the device of a pseudo-locked region open, or else a state of the machine that
// may pass without an edit: a policy file that cannot be read (EMFILE, EIO), or a refusal of the
// kernel.
enum class Cause { policy, mount, closids, device, machine };

struct Diagnostic {
  Severity severity = Severity::error;
  Location where;
  std::string message;
  std::string hint;  // printed behind the underline: "did you mean 'mb'?"
  Cause cause = Cause::policy;
  bool operator==(const Diagnostic&) const = default;
};

// The text of each policy file, by path: what an excerpt is taken from.
using Sources = std::map<std::string, SharedText>;

// format_diagnostics() prints at most so many errors and so many warnings, and counts the others.
inline constexpr size_t most_printed = 100;

[[nodiscard]] bool has_errors(std::span<const Diagnostic> diagnostics);
// By file, line, column, then message; without repetitions.
void sort_by_place(std::vector<Diagnostic>& diagnostics);

//   FILE:LINE:COLUMN: error: MESSAGE
//       7 | the line itself
//         | ^~~ HINT
// Without a line: "FILE: error: MESSAGE". All of it is printable().
[[nodiscard]] std::string format_diagnostic(const Diagnostic& diagnostic, const Sources& sources);
[[nodiscard]] std::string format_diagnostics(std::span<const Diagnostic> diagnostics,
                                             const Sources& sources);

}  // namespace rdtd
