// Error: what failed, on which object, and what the kernel said about it. Every function that can
// fail returns a Result; the library that notices a failure returns it and only the programs print
// it.
#pragma once

#include <expected>
#include <string>

namespace rdtd {

struct Error {
  std::string
      operation;       // what was tried, as it reads behind "cannot": "open", "write 'L3:0=f' to"
  std::string path;    // what it was tried on
  int code = 0;        // errno, or 0 where no system call failed
  std::string detail;  // info/last_cmd_status or another explanation; may be empty

  // "cannot OPERATION PATH: STRERROR (DETAIL)", each part only where there is one.
  [[nodiscard]] std::string text() const;
  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

// Whether the machine is at fault for a moment, such as for want of memory or descriptors: the same
// call may succeed later.
[[nodiscard]] bool is_transient(int code);

// An Error with the current errno.
[[nodiscard]] std::unexpected<Error> errno_error(std::string operation, std::string path);

}  // namespace rdtd
