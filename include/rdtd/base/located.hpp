// Located<T>: a value and the place in a policy file that it stands at, so that a refusal
// later can point there.
#pragma once

#include <compare>
#include <string>

#include "rdtd/base/shared_text.hpp"

namespace rdtd {

struct Location {
  SharedText file;
  unsigned line = 0;    // from 1; 0: the file as a whole
  unsigned column = 0;  // from 1
  unsigned width = 1;   // characters, for the underline
  auto operator<=>(const Location&) const = default;

  // "FILE:LINE", or just the file.
  [[nodiscard]] std::string text() const {
    return line == 0 ? file.text() : file.text() + ":" + std::to_string(line);
  }
};

template <class T>
struct Located {
  T value{};
  Location where;
};

}  // namespace rdtd
