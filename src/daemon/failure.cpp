#include "failure.hpp"

#include <algorithm>
#include <cerrno>

namespace rdtd {

CallError call_error(const Error& error) {
  CallError out{CallError::Kind::KernelRejected, error.text()};
  if (error.code == ENOSPC && error.operation == "make group") out.kind = CallError::Kind::OutOfClosids;
  if (error.code == EBUSY) out.kind = CallError::Kind::Busy;
  return out;
}

CallError refusal(const std::vector<Diagnostic>& diagnostics, const Sources& sources) {
  const auto first = std::ranges::find(diagnostics, Severity::error, &Diagnostic::severity);
  CallError out{CallError::Kind::InvalidPolicy, format_diagnostics(diagnostics, sources), first->where};
  if (first->cause == Cause::mount) out.kind = CallError::Kind::NotSupported;
  if (first->cause == Cause::closids) out.kind = CallError::Kind::OutOfClosids;
  return out;
}

Happening happening_of(CallError::Kind kind) {
  switch (kind) {
    case CallError::Kind::OutOfClosids: return Happening::out_of_closids;
    case CallError::Kind::NotSupported: return Happening::wrong_mount_options;
    case CallError::Kind::KernelRejected:
    case CallError::Kind::Busy: return Happening::kernel_refused;
    default: return Happening::reload_failed;
  }
}

}  // namespace rdtd
