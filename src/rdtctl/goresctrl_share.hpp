// The part of a cache that goresctrl gives to a partition or a class, and the amount of a policy
// that it becomes. Pure.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "rdtd/model/cbm.hpp"

namespace rdtd {

// By domain; one value may be for all domains that have none of their own.
inline constexpr int other_domains = -1;
template <class T>
using ByDomain = std::map<int, T>;

// The domain's value, or that of the other domains; null if there is neither.
template <class T>
const T* value_for_domain(const ByDomain<T>& values, int domain) {
  auto found = values.find(domain);
  if (found == values.end()) found = values.find(other_domains);
  return found == values.end() ? nullptr : &found->second;
}

// The domains that one of the two names.
template <class T, class U>
std::set<int> domains_in(const ByDomain<T>& a, const ByDomain<U>& b) {
  std::set<int> out;
  for (const auto& [domain, value] : a) out.insert(domain);
  for (const auto& [domain, value] : b) out.insert(domain);
  return out;
}

// Ways, those of a class counted from the lowest one of its partition; or the part between two
// percentages, both of which belong to it: all is from 1 to 100.
struct GoresctrlShare {
  std::string text;  // as written
  unsigned line = 0;
  std::optional<Cbm> ways;
  unsigned low = 1, high = 100;

  [[nodiscard]] unsigned percent() const { return high - low + 1; }
};
using GoresctrlShares = std::map<std::string, ByDomain<GoresctrlShare>>;  // by key of the policy

// "0xf0", "4-7", "40%", "10-40%".
[[nodiscard]] std::optional<GoresctrlShare> parse_share(std::string_view text, unsigned line);

// The same as TOML, by key and domain, and the shares whose place a policy cannot say.
struct PolicyAmounts {
  std::map<std::string, ByDomain<std::string>> amounts;
  std::set<std::string> lost;
  bool rounds = false;  // goresctrl rounds them to whole ways otherwise than rdtd
};
[[nodiscard]] PolicyAmounts amounts_of_partition(const GoresctrlShares& shares);
// The error is "line N: 'TEXT'" of a share that does not fit into the partition's.
[[nodiscard]] std::expected<PolicyAmounts, std::string> amounts_of_class(
    const GoresctrlShares& shares, const GoresctrlShares& partition);
// The lines of a table. `whole`: what the shares are of, for those that are lost.
[[nodiscard]] std::string share_lines(const PolicyAmounts& amounts, std::string_view whole);

}  // namespace rdtd
