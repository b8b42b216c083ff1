// Postings: numbers by key, such as those of the rules that a name may match, by the hash of the
// name. They are one sorted array, so that each takes 8 bytes.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace rdtd {

struct Posting {
  uint32_t key = 0;
  uint32_t number = 0;
  auto operator<=>(const Posting&) const = default;
};

class Postings {
 public:
  void add(uint32_t key, uint32_t number) { postings_.push_back({key, number}); }

  // To be called after the last add(), and before find(). Removes repetitions.
  void sort() {
    std::ranges::sort(postings_);
    postings_.erase(std::ranges::unique(postings_).begin(), postings_.end());
    postings_.shrink_to_fit();
  }

  // Those with this key, by ascending number.
  [[nodiscard]] std::span<const Posting> find(uint32_t key) const {
    const auto found = std::ranges::equal_range(postings_, key, {}, &Posting::key);
    return {found.begin(), found.end()};
  }

 private:
  std::vector<Posting> postings_;
};

}  // namespace rdtd
