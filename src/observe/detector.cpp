#include "rdtd/observe/detector.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "domain_watch.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd::observe {

namespace {

// How much more than three intervals is a gap, and how much the clocks may differ: a sleep of the
// machine is one too, and a clock that was set.
constexpr double gap_seconds = 2;
constexpr size_t most_watched = 20'000;

// "0-3,8"
bool has_domain(std::string_view ids, DomainId domain) {
  for (const std::string_view range : split(ids, ',')) {
    const size_t dash = range.find('-');
    const auto first = parse_unsigned<uint32_t>(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_unsigned<uint32_t>(range.substr(dash + 1));
    const auto id = static_cast<uint32_t>(domain);
    if (first && last && *first <= id && id <= *last) return true;
  }
  return false;
}

// Calls `use` with the resource's suffix and the value for the domain, of "L3:0-1=f;2=ff
// MB:0-2=100": for "L3" also of L3CODE and L3DATA.
void for_values(std::string_view line, std::string_view resource, DomainId domain,
                const std::function<void(std::string_view, std::string_view)>& use) {
  for (const std::string_view row : split(line, ' ')) {
    const size_t colon = row.find(':');
    const std::string_view name = row.substr(0, colon);
    if (colon == std::string_view::npos || !name.starts_with(resource)) continue;
    for (const std::string_view entry : split(row.substr(colon + 1), ';')) {
      const size_t equals = entry.find('=');
      if (equals != std::string_view::npos && has_domain(entry.substr(0, equals), domain))
        use(name.substr(resource.size()), entry.substr(equals + 1));
    }
  }
}

// The ways of a cache, of instructions and data together.
std::optional<uint64_t> ways_of(std::string_view line, std::string_view resource, DomainId domain) {
  std::optional<uint64_t> out;
  for_values(line, resource, domain, [&](std::string_view suffix, std::string_view value) {
    const bool is_cache = suffix.empty() || suffix == "CODE" || suffix == "DATA";
    if (const auto mask = parse_unsigned<uint64_t>(value, 16); is_cache && mask)
      out = out.value_or(0) | *mask;
  });
  return out;
}

std::string bandwidth_of(std::string_view line, DomainId domain) {
  std::string out;
  for_values(line, "MB", domain, [&](std::string_view suffix, std::string_view value) {
    if (suffix.empty()) out = value;
  });
  return out;
}

Amounts amounts_of(std::string_view line, std::string_view resource, DomainId domain) {
  return {ways_of(line, resource, domain), parse_unsigned<uint64_t>(bandwidth_of(line, domain))};
}

bool is_watched(const DomainCounters& row) {
  return !is_mon_group(row.group) && !row.resource.starts_with("sub_") &&
         (row.counters.contains("llc_occupancy") || row.counters.contains("mbm_total_bytes"));
}

}  // namespace

Detector::Detector(Header header) : header_(std::move(header)) {}
Detector::Detector(Detector&&) noexcept = default;
Detector& Detector::operator=(Detector&&) noexcept = default;
Detector::~Detector() = default;

bool Detector::is_gap(const Sample& sample) {
  const auto monotonic = static_cast<double>(sample.monotonic_usec) / 1e6;
  const auto time = static_cast<double>(sample.time_usec) / 1e6;
  const double passed = monotonic - std::exchange(monotonic_, monotonic);
  const double by_clock = time - std::exchange(time_, time);
  return sample.first || passed > 3 * header_.interval + gap_seconds ||
         std::abs(by_clock - passed) > gap_seconds;
}

void Detector::use(const Header& header) {
  header_ = header;
  for (const auto& [place, watch] : domains_) {
    watch->set_ceiling(of_domain(header_.ceilings, place.first, place.second));
    watch->set_io_ways(of_domain(header_.io_ways, place.first, place.second).value_or(0));
  }
}

// No machine has so many: a file may.
bool Detector::knows(const DomainCounters& row) const {
  constexpr size_t most = 10'000;
  return domains_.size() < most || domains_.contains({row.resource, row.domain});
}

DomainWatch& Detector::watch_of(const DomainCounters& row) {
  auto& watch = domains_[{row.resource, row.domain}];
  if (watch != nullptr) return *watch;
  watch = std::make_unique<DomainWatch>(
      row.resource, row.domain, of_domain(header_.way_bytes, row.resource, row.domain),
      of_domain(header_.io_ways, row.resource, row.domain).value_or(0));
  watch->set_ceiling(of_domain(header_.ceilings, row.resource, row.domain));
  return *watch;
}

std::vector<Episode> Detector::add(const Sample& sample) {
  update_schemata(schemata_, sample);
  std::vector<Episode> out;
  // An observer that has just started knows nothing of before.
  if (std::ranges::find(sample.marks, started_mark) != sample.marks.end()) {
    out = running();
    domains_.clear();
  }
  for (const DomainCounters& row : sample.counters)
    if (is_watched(row) && knows(row)) (void)watch_of(row);
  const bool gap = is_gap(sample);
  for (auto& [place, watch] : domains_) watch->begin_sample(sample, gap);
  size_t watched = 0;
  for (const DomainCounters& row : sample.counters) {
    if (!is_watched(row) || !knows(row)) continue;
    // Each has a memory of its own. No machine has so many control groups: a file may.
    if (++watched > most_watched) break;
    const auto schemata = schemata_.find(group_label(row.group));
    watch_of(row).add(row, schemata == schemata_.end()
                               ? Amounts{}
                               : amounts_of(schemata->second, row.resource, row.domain));
  }
  for (auto& [place, watch] : domains_)
    std::ranges::move(watch->end_sample(), std::back_inserter(out));
  return out;
}

std::vector<Episode> Detector::running() const {
  std::vector<Episode> out;
  for (const auto& [place, watch] : domains_)
    std::ranges::move(watch->running(), std::back_inserter(out));
  return out;
}

std::vector<DomainTraffic> Detector::traffic() const {
  std::vector<DomainTraffic> out;
  for (const auto& [place, watch] : domains_) {
    DomainTraffic domain = watch->domain_traffic();
    if (domain.groups.empty()) continue;  // it is offline
    out.push_back(std::move(domain));
    for (auto& [name, group] : out.back().groups)
      if (const auto line = schemata_.find(group_label(name)); line != schemata_.end())
        group.mb = bandwidth_of(line->second, place.second);
  }
  return out;
}

std::vector<Stream> Detector::streams() const {
  std::vector<Stream> out;
  for (const auto& [place, watch] : domains_) watch->append_streams(out);
  return out;
}

}  // namespace rdtd::observe
