#include "usage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "size_text.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd {

namespace {

template <class T>
void add(std::optional<T>& sum, const std::optional<T>& value) {
  if (value) sum = sum.value_or(0) + *value;
}

// A counter starts again if its monitor id is given to another group: then there is no rate.
std::optional<double> rate(const std::optional<uint64_t>& before,
                           const std::optional<uint64_t>& now, double seconds) {
  if (!before || !now || *now < *before || seconds <= 0) return std::nullopt;
  return static_cast<double>(*now - *before) / seconds;
}

}  // namespace

Result<Reading> read_usage(const Tree& tree) {
  auto counters = tree.read_counters();
  if (!counters) return std::unexpected(counters.error());
  return Reading{std::chrono::steady_clock::now(), std::move(*counters)};
}

std::vector<Usage> usage_between(const Reading& before, const Reading& now, Domains domains) {
  const double seconds = std::chrono::duration<double>(now.at - before.at).count();
  std::vector<Usage> out;
  for (const DomainCounters& counters : now.counters) {
    const std::string label =
        group_label(counters.group) + (counters.mon_group.empty() ? "" : "/" + counters.mon_group);
    if (domains == Domains::apart || out.empty() || out.back().group != label) {
      const std::string mon =
          counters.mon_group.empty()
              ? ""
              : fmt::format("{}mon_groups/{}", counters.group.empty() ? "" : "/",
                            counters.mon_group);
      out.push_back({.group = label, .directory = counters.group + mon});
      if (domains == Domains::apart) out.back().domain = counters.domain;
    }
    const auto old = std::ranges::find_if(before.counters, [&](const DomainCounters& other) {
      return other.group == counters.group && other.mon_group == counters.mon_group &&
             other.domain == counters.domain;
    });
    add(out.back().occupancy, counters.llc_occupancy);
    if (old == before.counters.end()) continue;
    add(out.back().total, rate(old->mbm_total_bytes, counters.mbm_total_bytes, seconds));
    add(out.back().local, rate(old->mbm_local_bytes, counters.mbm_local_bytes, seconds));
  }
  return out;
}

std::string rate_text(std::optional<double> bytes_per_second) {
  return bytes_per_second ? fmt::format("{:.1f} MiB/s", *bytes_per_second / (1 << 20)) : "-";
}

std::string occupancy_text(std::optional<uint64_t> bytes) {
  return bytes ? size_text(*bytes) : "-";
}

}  // namespace rdtd
