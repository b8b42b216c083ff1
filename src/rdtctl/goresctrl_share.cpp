// goresctrl's pkg/rdt/config.go: parseCacheAllocation() has the forms, Overlay() says what they
// mean within a partition.
#include "goresctrl_share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rdtd/base/text.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/policy/toml_text.hpp"

namespace rdtd {

namespace {

// "40%" is from the lowest way on.
std::optional<GoresctrlShare> parse_percentages(GoresctrlShare share) {
  const std::string_view numbers = std::string_view(share.text).substr(0, share.text.size() - 1);
  const size_t dash = numbers.find('-');
  const bool is_range = dash != std::string_view::npos;
  const auto low = parse_unsigned<unsigned>(is_range ? numbers.substr(0, dash) : "1");
  const auto high = parse_unsigned<unsigned>(is_range ? numbers.substr(dash + 1) : numbers);
  if (!low || !high || *high == 0 || *high > 100 || *low > *high) return std::nullopt;
  share.low = std::max(*low, 1U);
  share.high = *high;
  return share;
}

// As the share was written.
std::string text_of_ways(const GoresctrlShare& share, Cbm ways) {
  return toml_string(share.text.starts_with("0x") ? "0x" + to_string(ways)
                                                  : fmt::format("ways {}", way_list(ways)));
}

std::string ways_text(unsigned count) { return toml_string(counted(count, "way")); }

std::string text_of_size(const GoresctrlShare& share, std::set<std::string>& lost) {
  if (share.ways ? share.ways->lowest() > 0 : share.low > 1) lost.insert(share.text);
  if (!share.ways) return fmt::format("\"{}%\"", share.percent());
  return ways_text(share.ways->count());
}

std::string text_in_cache(const GoresctrlShare& share, std::set<std::string>& lost) {
  return share.ways ? text_of_ways(share, *share.ways) : text_of_size(share, lost);
}

// The ways are known if those of the partition are. A share from its lowest one on needs no names,
// and goresctrl rounds it up.
std::string text_in_partition(const GoresctrlShare& share, const GoresctrlShare& of,
                              std::set<std::string>& lost) {
  if (!of.ways) return text_of_size(share, lost);
  const unsigned base = of.ways->lowest(), count = of.ways->count();
  if (share.ways)
    return text_of_ways(share, Cbm::range(base + share.ways->lowest(), share.ways->count()));
  const unsigned first = (share.low - 1) * count / 100, last = (share.high - 1) * count / 100;
  if (share.low > 1) return text_of_ways(share, Cbm::range(base + first, last - first + 1));
  const bool same = std::lround(count * share.percent() / 100.0) == static_cast<long>(last) + 1;
  return same ? text_of_size(share, lost) : ways_text(last + 1);
}

bool share_fits(const GoresctrlShare& share, const GoresctrlShare& of) {
  return !share.ways || !of.ways || share.ways->highest() + of.ways->lowest() <= of.ways->highest();
}

std::string whole_cache(const std::string& key) { return key.substr(0, 2); }  // of "l3code"

// Code and data have what the whole has in each domain in which they have nothing of their own.
ByDomain<GoresctrlShare> shares_for_key(const GoresctrlShares& shares, const std::string& key) {
  ByDomain<GoresctrlShare> out;
  for (const std::string& of : {whole_cache(key), key})
    if (const auto found = shares.find(of); found != shares.end())
      for (const auto& [domain, share] : found->second) out.insert_or_assign(domain, share);
  return out;
}

// One amount, or a table of them by lists of domains.
std::string table_by_lists(const ByDomain<std::string>& amounts) {
  const auto others = amounts.find(other_domains);
  std::map<std::string, CpuSet> domains;  // by amount
  for (const auto& [domain, amount] : amounts)
    if (domain != other_domains && (others == amounts.end() || amount != others->second))
      domains[amount].insert(static_cast<unsigned>(domain));
  if (domains.empty()) return others->second;
  std::map<std::string, std::string> lines;
  if (others != amounts.end()) lines["*"] = others->second;
  for (const auto& [amount, ids] : domains) lines[format_cpu_list(ids)] = amount;
  std::vector<std::string> out;
  for (const auto& [list, amount] : lines)
    out.push_back(fmt::format("{} = {}", toml_string(list), amount));
  return inline_table(out);
}

}  // namespace

std::optional<GoresctrlShare> parse_share(std::string_view text, unsigned line) {
  constexpr unsigned most_ways = 32;
  GoresctrlShare out{.text = std::string(text), .line = line, .ways = {}};
  if (text.ends_with('%')) return parse_percentages(std::move(out));
  if (text.starts_with("0x")) {
    out.ways = parse_cbm(text);
  } else if (const auto list = parse_cpu_list(text, most_ways); list && !list->empty()) {
    if (*list->rbegin() >= most_ways) return std::nullopt;
    out.ways = Cbm{};
    for (const unsigned way : *list) *out.ways = *out.ways | Cbm::range(way, 1);
  }
  return out.ways && out.ways->contiguous() ? std::optional(std::move(out)) : std::nullopt;
}

PolicyAmounts amounts_of_partition(const GoresctrlShares& shares) {
  PolicyAmounts out;
  for (const auto& [key, own] : shares)
    for (const auto& [domain, share] : shares_for_key(shares, key))
      out.amounts[key][domain] = text_in_cache(share, out.lost);
  return out;
}

std::expected<PolicyAmounts, std::string> amounts_of_class(const GoresctrlShares& shares,
                                                           const GoresctrlShares& partition) {
  std::set<std::string> keys;
  for (const GoresctrlShares* one : {&shares, &partition})
    for (const auto& [key, domains] : *one) keys.insert(key);
  PolicyAmounts out;
  for (const std::string& key : keys) {
    const auto own = shares_for_key(shares, key);
    const auto base = shares_for_key(partition, key);
    for (const int domain : domains_in(own, base)) {
      const GoresctrlShare* share = value_for_domain(own, domain);
      const GoresctrlShare* of = value_for_domain(base, domain);
      if (share != nullptr && of != nullptr && !share_fits(*share, *of))
        return std::unexpected(fmt::format("line {}: '{}'", share->line, printable(share->text)));
      if (share != nullptr && share->percent() < 100 && !share->ways &&
          (of == nullptr || !of->ways))
        out.rounds = true;
      // A class without an amount may fill all of its partition.
      out.amounts[key][domain] = share == nullptr ? "\"all\""
                                 : of == nullptr  ? text_in_cache(*share, out.lost)
                                                  : text_in_partition(*share, *of, out.lost);
    }
  }
  return out;
}

std::string share_lines(const PolicyAmounts& amounts, std::string_view whole) {
  std::string out;
  for (const auto& [key, domains] : amounts.amounts) {
    // Those of code and data are for mounts with cdp, where "unified" does not count.
    const std::string cache = whole_cache(key);
    if (key != cache && amounts.amounts.contains(cache))
      out += "# With cdp, instead of " + cache + ": ";
    out += fmt::format("{} = {}\n", key, table_by_lists(domains));
  }
  for (const std::string& share : amounts.lost)
    out += fmt::format("# Lost: which ways of {} '{}' is; rdtd chooses them.\n", whole,
                       printable(share));
  return out;
}

}  // namespace rdtd
