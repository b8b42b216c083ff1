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
// The lowest run of neighbouring ways of a mask that is not empty.
[[nodiscard]] Cbm first_run(Cbm cbm);
// The longest run of neighbouring ways. Ties go to the lowest run.
[[nodiscard]] Cbm longest_run(Cbm cbm);
// The lowest contiguous mask of `count` ways within `free` that contains `required`.
[[nodiscard]] std::optional<Cbm> lowest_run(Cbm free, unsigned count, Cbm required = {});
// The lowest `count` ways of a mask that has at least as many.
[[nodiscard]] Cbm lowest_ways(Cbm cbm, unsigned count);
// The ways of a mask as a list: "0-3,8".
[[nodiscard]] std::string way_list(Cbm cbm);

}  // namespace rdtd
