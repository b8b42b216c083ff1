// How much of the cache each control group may fill, for the bars of `top`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "context.hpp"
#include "usage.hpp"

namespace rdtd {

class CacheShares {
 public:
  // The size of a way does not change. Without an L3 that is divided, there are no shares.
  CacheShares(const Context& context, const Tree& tree);

  // The masks of these groups as they are now.
  void read(const Tree& tree, const std::vector<DomainCounters>& groups);
  // That of a monitoring group is its control group's. Nothing if it is not known.
  [[nodiscard]] std::optional<uint64_t> of(const Usage& usage) const;
  // All the cache that can be divided.
  [[nodiscard]] uint64_t whole() const { return whole_bytes_; }
  [[nodiscard]] bool any() const { return !way_bytes_.empty(); }

 private:
  std::map<DomainId, uint64_t> way_bytes_;
  uint64_t whole_bytes_ = 0;
  std::map<std::string, std::map<DomainId, uint64_t>> bytes_;  // by directory
};

// "#####...  62%": `cells` columns for the bar and five for the number; without a bar for 0.
[[nodiscard]] std::string share_text(double used, uint64_t share, size_t cells, bool utf8);

}  // namespace rdtd
