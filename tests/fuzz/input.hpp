// What the fuzz targets share: the input as text or as choices, and a way to state a property.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace rdtd::fuzz {

// Ends the run with a finding unless the property holds. `details` makes the text of the finding.
inline void require(bool holds, std::string_view property, const std::invocable<> auto& details) {
  if (holds) return;
  std::fprintf(stderr, "violated: %.*s\n%s\n", static_cast<int>(property.size()), property.data(),
               std::string(details()).c_str());
  std::abort();
}
inline void require(bool holds, std::string_view property, std::string_view details = {}) {
  require(holds, property, [&] { return details; });
}

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The text before the first separator, which is removed with it; all of it if there is none.
inline std::string_view pop_part(std::string_view& text, std::string_view separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + separator.size()));
  return part;
}

// Choices, one byte each; all 0 after the end of the input.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : bytes_(data, size) {}
  unsigned below(unsigned count) {
    if (bytes_.empty()) return 0;
    const unsigned byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte % count;
  }
  bool one_in(unsigned count) { return below(count) == count - 1; }
  template <class T, size_t count>
  const T& of(const std::array<T, count>& values) {
    return values[below(count)];
  }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace rdtd::fuzz
