// Resource: a row of `schemata`, by the name that stands there, and whether its numbers are bit
// masks (Documentation/filesystems/resctrl.rst). DomainId: the id of one instance of it, the number
// before
// '=' there (for a cache the cache id).
//
// The constants are the rows that have their own files in info/ since Linux 4.10, and words in the
// policy language. Kernels have others, which rdtd knows from what info/ says of them
// (control.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace rdtd {

class Resource {
 public:
  static const Resource L3, L3CODE, L3DATA, L2, L2CODE, L2DATA, MB, SMBA;
  static constexpr size_t longest_name = 22;

  // No row.
  constexpr Resource() = default;
  // A row that is none of the constants; the name has at most `longest_name` characters.
  explicit constexpr Resource(std::string_view name, bool bitmap) : Resource(other, name, bitmap) {}

  // It lives as long as this value.
  [[nodiscard]] constexpr std::string_view name() const {
    return {name_.data(), static_cast<size_t>(std::ranges::find(name_, '\0') - name_.begin())};
  }
  // Its numbers are masks, in hexadecimal.
  [[nodiscard]] constexpr bool is_bitmap() const { return bitmap_; }
  // Its masks are of the ways of a cache, which rdtd places.
  [[nodiscard]] constexpr bool is_cache() const { return rank_ < first_bandwidth; }
  // The constants in this order, then the others by name. Planning compares very often, and mostly
  // constants: their ranks say all.
  constexpr std::strong_ordering operator<=>(const Resource& that) const {
    if (rank_ != that.rank_ || rank_ != other) return rank_ <=> that.rank_;
    if (const auto order = name() <=> that.name(); order != 0) return order;
    return bitmap_ <=> that.bitmap_;
  }
  constexpr bool operator==(const Resource& that) const { return (*this <=> that) == 0; }

 private:
  static constexpr uint8_t first_bandwidth = 6, other = 8;
  constexpr Resource(uint8_t rank, std::string_view name, bool bitmap)
      : rank_(rank), bitmap_(bitmap) {
    std::ranges::copy(name.substr(0, longest_name), name_.begin());
  }

  uint8_t rank_ = other;
  std::array<char, longest_name + 1> name_{};
  bool bitmap_ = false;
};

inline constexpr Resource Resource::L3{0, "L3", true};
inline constexpr Resource Resource::L3CODE{1, "L3CODE", true};
inline constexpr Resource Resource::L3DATA{2, "L3DATA", true};
inline constexpr Resource Resource::L2{3, "L2", true};
inline constexpr Resource Resource::L2CODE{4, "L2CODE", true};
inline constexpr Resource Resource::L2DATA{5, "L2DATA", true};
inline constexpr Resource Resource::MB{6, "MB", false};
inline constexpr Resource Resource::SMBA{7, "SMBA", false};

inline constexpr std::array all_resources = {Resource::L3, Resource::L3CODE, Resource::L3DATA,
                                             Resource::L2, Resource::L2CODE, Resource::L2DATA,
                                             Resource::MB, Resource::SMBA};

// The name lives as long as the resource.
[[nodiscard]] constexpr std::string_view to_string(const Resource& resource) {
  return resource.name();
}
// One of the constants; nothing if the name is another.
[[nodiscard]] std::optional<Resource> parse_resource(std::string_view name);
// Caches are divided by capacity bit masks that rdtd places.
[[nodiscard]] constexpr bool is_cache(const Resource& resource) { return resource.is_cache(); }
// Of a cache that is divided for instructions and for data apart.
[[nodiscard]] constexpr bool is_code_or_data(const Resource& resource) {
  return resource == Resource::L3CODE || resource == Resource::L3DATA ||
         resource == Resource::L2CODE || resource == Resource::L2DATA;
}

enum class DomainId : uint32_t {};

[[nodiscard]] inline std::string to_string(DomainId id) {
  return std::to_string(static_cast<uint32_t>(id));
}
// "0-3,8", as the kernel writes lists.
[[nodiscard]] std::string domain_list(const std::set<DomainId>& domains);

}  // namespace rdtd
