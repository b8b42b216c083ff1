#include "rdtd/model/counters.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd {

namespace {

constexpr std::array<std::string_view, 3> words = {"Unavailable", "Unassigned", "Error"};

}  // namespace

std::string_view to_string(NoCount reason) { return words.at(static_cast<size_t>(reason)); }

std::optional<CounterValue> parse_counter(std::string_view text) {
  text = trim(text);
  for (size_t i = 0; i < words.size(); i++)
    if (text == words.at(i)) return static_cast<NoCount>(i);
  if (const auto number = parse_unsigned<uint64_t>(text)) return *number;
  if (const auto number = parse_decimal(text)) return *number;
  return std::nullopt;
}

CounterKind kind_of_counter(std::string_view name) {
  using enum CounterKind::Unit;
  if (name == "llc_occupancy") return {bytes, false};
  if (name.ends_with("_bytes")) return {bytes};
  if (name == "core_energy") return {joules};
  if (name == "activity") return {farads};
  return {events};
}

bool is_taken_before(std::string_view a, std::string_view b) {
  const auto rank = [](std::string_view resource) {
    const int kind = resource == to_string(Resource::L3)   ? 0
                     : resource == to_string(Resource::MB) ? 1
                                                           : 2;
    return std::pair(kind, resource);
  };
  return rank(a) < rank(b);
}

std::string traffic_resource(const std::vector<DomainCounters>& rows) {
  std::string_view out;
  for (const DomainCounters& row : rows)
    if ((out.empty() || is_taken_before(row.resource, out)) &&
        row.counters.contains(traffic_counter) && !is_mon_group(row.group) &&
        !row.resource.starts_with("sub_"))
      out = row.resource;
  return std::string(out);
}

std::string traffic_elsewhere(const CountedTraffic& traffic, const std::set<DomainId>& mb_domains) {
  return fmt::format("traffic is counted in {} {}, and mb is set in domain{} {}", traffic.resource,
                     domain_list(traffic.domains), mb_domains.size() == 1 ? "" : "s",
                     domain_list(mb_domains));
}

}  // namespace rdtd
