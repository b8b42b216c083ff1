#include "glob_scan.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "glob_element.hpp"

namespace rdtd {

namespace {

constexpr char32_t first_beyond_ascii = 0x80;

// The elements of a part, one bit each: which of them a byte or a character matches.
class ElementMasks {
 public:
  static constexpr size_t max_elements = 64;

  // False if there are too many.
  [[nodiscard]] bool add_all(std::string_view part) {
    while (!part.empty()) {
      if (size_ == max_elements) return false;
      const size_t length = match_element(part, "a").length;
      add(part.substr(0, length), uint64_t{1} << size_++);
      part.remove_prefix(length);
    }
    return true;
  }
  [[nodiscard]] uint64_t last() const { return uint64_t{1} << (size_ - 1); }
  [[nodiscard]] uint64_t of_byte(char byte) const {
    return literals_[static_cast<unsigned char>(byte)];
  }
  // Each character of ASCII is compared with the brackets once.
  [[nodiscard]] uint64_t of_character(char32_t c, uint64_t& compared) {
    if (c >= first_beyond_ascii) return any_ | beyond_ascii_ | compare(wide_, c, compared);
    if (!std::exchange(known_[c], true)) ascii_[c] = any_ | compare(brackets_, c, compared);
    return ascii_[c];
  }

 private:
  using Brackets = std::vector<std::pair<std::string_view, uint64_t>>;

  void add(std::string_view element, uint64_t bit) {
    if (element == "?") {
      any_ |= bit;
    } else if (element.size() > 1 && element.front() == '[') {
      brackets_.emplace_back(element, bit);
      // A bracket with only characters of ASCII gives the same result for all others.
      const bool is_wide = !std::ranges::all_of(
          element, [](char c) { return static_cast<unsigned char>(c) < first_beyond_ascii; });
      if (is_wide)
        wide_.emplace_back(element, bit);
      else if (match_bracket(element, first_beyond_ascii).element.matches)
        beyond_ascii_ |= bit;
    } else {
      literals_[static_cast<unsigned char>(element.back())] |= bit;
    }
  }
  static uint64_t compare(const Brackets& brackets, char32_t c, uint64_t& compared) {
    uint64_t out = 0;
    for (const auto& [bracket, bit] : brackets) {
      compared += bracket.size();
      if (match_bracket(bracket, c).element.matches) out |= bit;
    }
    return out;
  }

  size_t size_ = 0;
  std::array<uint64_t, 256> literals_{};
  uint64_t any_ = 0, beyond_ascii_ = 0;
  Brackets brackets_, wide_;
  std::array<uint64_t, first_beyond_ascii> ascii_{};
  std::array<bool, first_beyond_ascii> known_{};
};

}  // namespace

std::optional<GlobScan> scan_glob(std::string_view part, std::string_view text, bool at_end) {
  ElementMasks masks;
  if (part.empty() || !masks.add_all(part)) return std::nullopt;
  GlobScan out;
  // By place, of which a character takes four at most: the elements of which a match ends there.
  std::array<uint64_t, 8> ends{};
  const auto at = [&](size_t place) -> uint64_t& { return ends[place % ends.size()]; };
  size_t next_character = 0;
  for (size_t place = 0;; place++) {
    const uint64_t ended = std::exchange(at(place), 0);
    if ((ended & masks.last()) != 0 && (!at_end || place == text.size())) {
      out.end = place;
      return out;
    }
    if (place == text.size()) return out;
    out.steps++;
    const bool begins = place == next_character;
    const uint64_t due = ended << 1U | (begins ? 1U : 0U);
    if (due == 0) continue;
    const OneCharacter character = take_character(text.substr(place));
    if (begins) next_character += character.length;
    at(place + 1) |= due & masks.of_byte(text[place]);
    at(place + character.length) |= due & masks.of_character(character.code, out.steps);
  }
}

}  // namespace rdtd
