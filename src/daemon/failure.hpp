// Why the daemon could not do something, as its callers and the log are told.
#pragma once

#include <vector>

#include "log.hpp"
#include "rdtd/base/error.hpp"
#include "rdtd/bus/manager_interface.hpp"
#include "rdtd/policy/diagnostic.hpp"

namespace rdtd {

// Of resctrl.
[[nodiscard]] CallError call_error(const Error& error);
// Of a policy, which has an error among `diagnostics`; the text is all of them, formatted.
[[nodiscard]] CallError refusal(const std::vector<Diagnostic>& diagnostics, const Sources& sources);
// What the log calls it when a policy is not kept for it.
[[nodiscard]] Happening happening_of(CallError::Kind kind);

}  // namespace rdtd
