// Cbm: a capacity bit mask. Bit n is cache way n; the kernel writes it in hexadecimal.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rdtd {

struct Cbm {
  uint32_t bits = 0;

  // Ways first ... first + count - 1; count 1 to 32 - first.
  [[nodiscard]] static constexpr Cbm range(unsigned first, unsigned count) {
    return Cbm{static_cast<uint32_t>(((uint64_t{1} << count) - 1) << first)};
  }
  [[nodiscard]] constexpr unsigned count() const {
    return static_cast<unsigned>(std::popcount(bits));
  }
  [[nodiscard]] constexpr bool empty() const { return bits == 0; }
  [[nodiscard]] constexpr unsigned lowest() const {
    return static_cast<unsigned>(std::countr_zero(bits));
  }
  [[nodiscard]] constexpr unsigned highest() const {
    return 31U - static_cast<unsigned>(std::countl_zero(bits));
  }
  [[nodiscard]] constexpr bool contiguous() const {
    return !empty() && highest() - lowest() + 1 == count();
  }
  [[nodiscard]] constexpr bool contains(Cbm other) const { return (other.bits & ~bits) == 0; }
  [[nodiscard]] constexpr bool overlaps(Cbm other) const { return (bits & other.bits) != 0; }
  [[nodiscard]] constexpr Cbm without(Cbm other) const { return Cbm{bits & ~other.bits}; }
  constexpr Cbm operator|(Cbm other) const { return Cbm{bits | other.bits}; }
  constexpr Cbm operator&(Cbm other) const { return Cbm{bits & other.bits}; }
  auto operator<=>(const Cbm&) const = default;
};

// Lower-case hexadecimal without prefix or padding: "f0".
[[nodiscard]] std::string to_string(Cbm cbm);
// Hexadecimal with or without "0x".
[[nodiscard]] std::optional<Cbm> parse_cbm(std::string_view text);
// The longest run of neighbouring ways; of equals the lowest.
[[nodiscard]] Cbm longest_run(Cbm cbm);
// "0-3,8": the ways of a mask as a list.
[[nodiscard]] std::string way_list(Cbm cbm);

}  // namespace rdtd
