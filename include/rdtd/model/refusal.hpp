// Refusal: why the daemon did not carry out a request, as a value. `bus` translates the kinds to
// the names of D-Bus errors.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "rdtd/base/located.hpp"

namespace rdtd {

struct Refusal {
  enum class Kind {
    invalid_policy,
    no_such_group,
    no_such_process,
    not_supported,
    out_of_closids,
    busy,
    kernel_rejected,
    not_permitted,
    no_such_lease,
    incomplete  // the policy is in force, but not all processes could be examined
  };
  Kind kind = Kind::kernel_rejected;
  std::string text;
  Location where = {};  // invalid_policy: the place of the first error
  // Replaces `text` for everybody but root, if `text` quotes lines of files that not all users may
  // read.
  std::optional<std::string> public_text = {};

  [[nodiscard]] const std::string& text_for(bool root) const {
    return root || !public_text ? text : *public_text;
  }
};

inline Refusal no_such_process(pid_t pid) {
  return {Refusal::Kind::no_such_process, "there is no process " + std::to_string(pid)};
}

}  // namespace rdtd
