// Drift: something that another tool changed, or the kernel when CPUs came.
#pragma once

#include <optional>
#include <string>

namespace rdtd {

struct Drift {
  std::optional<std::string> group;  // its directory; nothing if threads were in the wrong one
  std::string text;                  // "group 'redis': L3:0=ff, granted L3:0=f"
  bool restored = false;
  bool by_kernel = false;
};

}  // namespace rdtd
