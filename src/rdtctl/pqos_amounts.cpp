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

void Amounts::set_own(ByDomains& of, const std::string& key, const CpuSet& domains,
                      const Amount& amount, Replaced& replaced) {
  const auto note = [&](const Amount& old) {
    if (old.text != amount.text && old.line != amount.line)
      replaced.insert(fmt::format("{} = {}", key, toml_string(old.text)));
  };
  if (domains.empty()) {
    if (of.others) note(*of.others);
    for (const auto& [domain, old] : of.named) note(old);
    of = {.others = amount, .named = {}};
  }
  for (const unsigned domain : domains) {
    const auto [at, is_new] = of.named.emplace(domain, amount);
    if (!is_new) note(at->second);
    at->second = amount;
  }
}

std::set<std::string> Amounts::set(const std::string& key, const std::string& half,
                                   const CpuSet& domains, const std::string& amount,
                                   unsigned line) {
  Replaced replaced;
  set_own(by_key_[key + half], key + half, domains, {amount, line}, replaced);
  if (!half.empty()) return replaced;
  // Of a whole cache, it counts in place of those of its halves.
  for (const char* name : {"code", "data"}) {
    const auto of = by_key_.find(key + name);
    if (of == by_key_.end()) continue;
    set_own(of->second, of->first, domains, {amount, line}, replaced);
    if (domains.empty()) by_key_.erase(of);
  }
  return replaced;
}

bool Amounts::has_rates() const {
  const auto mb = by_key_.find("mb");
  if (by_key_.contains("smba")) return true;
  if (mb == by_key_.end()) return false;
  const auto is_rate = [](const Amount& amount) { return amount.text.ends_with("GB/s"); };
  const auto& [others, named] = mb->second;
  return (others && is_rate(*others)) ||
         std::ranges::any_of(named, [&](const auto& one) { return is_rate(one.second); });
}

void Amounts::make_rates() {
  const auto mb = by_key_.find("mb");
  if (mb == by_key_.end()) return;
  if (auto& others = mb->second.others) others->text = as_rate(others->text);
  for (auto& [domain, amount] : mb->second.named) amount.text = as_rate(amount.text);
}

std::string Amounts::text(bool may_be_rates) const {
  std::string out;
  for (const auto& [key, by_domains] : by_key_) {
    std::map<std::string, CpuSet> domains;  // by amount
    for (const auto& [domain, amount] : by_domains.named) domains[amount.text].insert(domain);
    Texts texts, rates;
    const auto add = [&](const std::string& where, const std::string& amount) {
      texts[where] = amount;
      rates[where] = as_rate(amount);
    };
    for (const auto& [amount, list] : domains) add(format_cpu_list(list), amount);
    if (by_domains.others) add("*", by_domains.others->text);
    out += fmt::format("{} = {}\n", key, value_of(texts));
    if (key == "mb" && may_be_rates && rates != texts)
      out += fmt::format("# On AMD, where pqos counts in 1/8 GB/s: mb = {}\n", value_of(rates));
  }
  return out;
}

}  // namespace rdtd::pqos
