#include "pqos_amounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "pqos_entry.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/toml_text.hpp"

namespace rdtd::pqos {

namespace {

using Texts = std::map<std::string, std::string>;  // by domains, "*" for all

// "0xf" of all domains, or a table.
std::string value_of(const Texts& by_domains) {
  if (by_domains.size() == 1 && by_domains.contains("*"))
    return toml_string(by_domains.begin()->second);
  return table_of_strings(by_domains);
}

// AMD's bandwidths are in 1/8 GB/s.
std::string as_rate(const std::string& amount) {
  if (!amount.ends_with('%')) return amount;
  const std::string_view number = std::string_view(amount).substr(0, amount.size() - 1);
  return rate_of(parse_unsigned<uint64_t>(number).value_or(0));
}

}  // namespace

// Those that are not named otherwise keep what they have.
std::vector<std::string> Amounts::take_away(ByDomains& from, const std::string& key,
                                            const CpuSet& domains, const Amount& by) {
  std::vector<std::string> replaced;
  ByDomains kept;
  for (auto& [where, amount] : from) {
    const CpuSet left = domains.empty() ? CpuSet{} : without(where, domains);
    const bool is_touched = domains.empty() || left.size() != where.size();
    if (is_touched && amount.text != by.text && amount.line != by.line)
      replaced.push_back(fmt::format("{} = {}", key, toml_string(amount.text)));
    if (!is_touched || !left.empty()) kept.emplace(left, std::move(amount));
  }
  from = std::move(kept);
  return replaced;
}

std::vector<std::string> Amounts::set(const std::string& key, const std::string& half,
                                      const CpuSet& domains, const std::string& amount,
                                      unsigned line) {
  const Amount by{amount, line};
  ByDomains& own = by_key_[key + half];
  std::vector<std::string> replaced = take_away(own, key + half, domains, by);
  own[domains] = by;
  if (!half.empty()) return replaced;
  for (const char* name : {"code", "data"}) {
    const auto of = by_key_.find(key + name);
    if (of == by_key_.end()) continue;
    for (std::string& text : take_away(of->second, of->first, domains, by))
      replaced.push_back(std::move(text));
    if (of->second.contains({}))
      of->second[domains] = by;  // else that of all other domains would count for these
    if (of->second.empty()) by_key_.erase(of);
  }
  return replaced;
}

bool Amounts::has_rates() const {
  const auto mb = by_key_.find("mb");
  return by_key_.contains("smba") ||
         (mb != by_key_.end() && std::ranges::any_of(mb->second, [](const auto& one) {
            return one.second.text.ends_with("GB/s");
          }));
}

void Amounts::make_rates() {
  if (const auto mb = by_key_.find("mb"); mb != by_key_.end())
    for (auto& [domains, amount] : mb->second) amount.text = as_rate(amount.text);
}

std::string Amounts::text(bool may_be_rates) const {
  std::string out;
  for (const auto& [key, by_domains] : by_key_) {
    Texts texts, rates;
    for (const auto& [domains, amount] : by_domains) {
      const std::string where = domains.empty() ? "*" : format_cpu_list(domains);
      texts[where] = amount.text;
      rates[where] = as_rate(amount.text);
    }
    out += fmt::format("{} = {}\n", key, value_of(texts));
    if (key == "mb" && may_be_rates && rates != texts)
      out += fmt::format("# On AMD, where pqos counts in 1/8 GB/s: mb = {}\n", value_of(rates));
  }
  return out;
}

}  // namespace rdtd::pqos
