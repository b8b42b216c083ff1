#include "usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "size_text.hpp"
#include "rdtd/model/counters.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/observe/series.hpp"

namespace rdtd {

namespace {

std::optional<double> number(const CounterValue& value) {
  if (const auto* integer = std::get_if<uint64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* decimal = std::get_if<double>(&value)) return *decimal;
  return std::nullopt;
}

// The counters of the earlier reading, by what they are of.
class Before {
 public:
  explicit Before(const Reading& reading) {
    for (const DomainCounters& of : reading.counters)
      by_place_[{of.group, of.resource, of.domain}] = &of;
  }
  [[nodiscard]] std::optional<double> find(const DomainCounters& of,
                                           const std::string& counter) const {
    const auto place = by_place_.find({of.group, of.resource, of.domain});
    if (place == by_place_.end()) return std::nullopt;
    const auto found = place->second->counters.find(counter);
    return found == place->second->counters.end() ? std::nullopt : number(found->second);
  }

 private:
  std::map<std::tuple<std::string_view, std::string_view, DomainId>, const DomainCounters*>
      by_place_;
};

// A counter starts again if its monitor id is given to another group, and jumps when a monitoring
// group comes to its control group: then there is no rate.
std::optional<double> rate(std::optional<double> before, double now, double seconds,
                           CounterKind::Unit unit) {
  if (!before || now < *before || seconds <= 0) return std::nullopt;
  const double rate = (now - *before) / seconds;
  return unit == CounterKind::Unit::bytes && rate > observe::Jumps::most_rate ? std::nullopt
                                                                              : std::optional(rate);
}

// The domain that a node is part of includes it.
bool is_node(const DomainCounters& row) { return row.resource.starts_with("sub_"); }

// Several kinds of domains, caches and nodes, count the same, so their counts are not added up.
// Returns the kind that is taken, by the directory of the group and the counter.
std::map<std::pair<std::string, std::string>, std::string> kinds_that_count(
    const std::vector<DomainCounters>& rows) {
  std::map<std::pair<std::string, std::string>, std::string> out;
  for (const DomainCounters& row : rows) {
    if (is_node(row)) continue;
    for (const auto& [counter, value] : row.counters) {
      const auto [kind, is_first] = out.try_emplace({row.group, counter}, row.resource);
      if (!is_first && is_taken_before(row.resource, kind->second)) kind->second = row.resource;
    }
  }
  return out;
}

}  // namespace

Result<Reading> read_usage(const Tree& tree) {
  auto counters = tree.read_counters();
  if (!counters) return std::unexpected(counters.error());
  return Reading{std::chrono::steady_clock::now(), std::move(*counters)};
}

Used Usage::of(std::string_view counter) const {
  const auto found = counters.find(std::string(counter));
  return found == counters.end() ? Used{} : found->second;
}

std::vector<Usage> usage_between(const Reading& before, const Reading& now, Domains domains) {
  const double seconds = std::chrono::duration<double>(now.at - before.at).count();
  const Before earlier(before);
  std::vector<Usage> out;
  const auto counted_by = kinds_that_count(now.counters);
  for (const DomainCounters& of : now.counters) {
    if (domains == Domains::summed && is_node(of)) continue;
    if (domains == Domains::apart || out.empty() || out.back().directory != of.group) {
      out.push_back({group_label(of.group), of.group, {}, {}});
      if (domains == Domains::apart) out.back().domain = {of.resource, of.domain};
    }
    for (const auto& [name, value] : of.counters) {
      if (domains == Domains::summed && counted_by.at({of.group, name}) != of.resource) continue;
      Used& used = out.back().counters[name];
      const auto counted = number(value);
      if (!counted && !used.reason) used.reason = std::get<NoCount>(value);
      const CounterKind kind = kind_of_counter(name);
      const auto amount = !counted || !kind.cumulative
                              ? counted
                              : rate(earlier.find(of, name), *counted, seconds, kind.unit);
      if (amount) used.amount = used.amount.value_or(0) + *amount;
      used.missing = used.missing || !amount;
    }
  }
  return out;
}

uint64_t whole(double amount) {
  constexpr double most = 0x1p63;
  return static_cast<uint64_t>(std::min(amount, most));
}

std::string domain_text(const Usage& usage) {
  if (!usage.domain) return "all";
  const std::string id = to_string(usage.domain->second);
  return usage.domain->first == "L3" ? id : usage.domain->first + " " + id;
}

namespace {

std::string amount_text(std::string_view counter, double amount) {
  const CounterKind kind = kind_of_counter(counter);
  if (kind.unit == CounterKind::Unit::bytes)
    return kind.cumulative ? fmt::format("{:.1f} MiB/s", amount / (1 << 20))
                           : size_text(whole(amount));
  if (kind.unit == CounterKind::Unit::joules) return fmt::format("{:.1f} W", amount);
  if (kind.unit == CounterKind::Unit::farads) return fmt::format("{:.3f} F/s", amount);
  return fmt::format("{:.0f}/s", amount);
}

}  // namespace

std::string used_text(std::string_view counter, const Used& used) {
  if (!used.amount) return used.reason ? std::string(to_string(*used.reason)) : "-";
  return amount_text(counter, *used.amount) + (used.missing ? "+" : "");
}

}  // namespace rdtd
