#include "rdtd/observe/detector.hpp"

#include <algorithm>
#include <cmath>
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

// Only rows of caches are masks of ways: where traffic is counted in the domains of MB, "MB:0=100"
// is an amount.
Amounts amounts_of(const SchemataText& schemata, const std::string& resource, DomainId domain) {
  const auto row = parse_resource(resource);
  return {row && is_cache(*row) ? schemata.ways(resource, domain) : std::nullopt,
          parse_unsigned<uint64_t>(schemata.value("MB", domain))};
}

// Traffic that several kinds of domains count is the same: seen twice, it would be blamed twice.
// `counting`: the kind whose traffic is taken.
bool is_watched(const DomainCounters& row, const std::string& counting) {
  return !is_mon_group(row.group) && !row.resource.starts_with("sub_") &&
         (row.counters.contains(occupancy_counter) ||
          (row.resource == counting && row.counters.contains(traffic_counter)));
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
  for (const auto& [place, watch] : domains_) watch->use(header_);
}

// No machine has so many: a file may.
bool Detector::knows(const DomainCounters& row) const {
  constexpr size_t most = 10'000;
  return domains_.size() < most || domains_.contains({row.resource, row.domain});
}

DomainWatch& Detector::watch_of(const DomainCounters& row) {
  auto& watch = domains_[{row.resource, row.domain}];
  if (watch != nullptr) return *watch;
  watch = std::make_unique<DomainWatch>(row.resource, row.domain);
  watch->use(header_);
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
  const std::string counting = traffic_resource(sample.counters);
  for (const DomainCounters& row : sample.counters)
    if (is_watched(row, counting) && knows(row)) (void)watch_of(row);
  const bool gap = is_gap(sample);
  for (auto& [place, watch] : domains_) watch->begin_sample(sample, gap);
  size_t watched = 0;
  for (const DomainCounters& row : sample.counters) {
    if (!is_watched(row, counting) || !knows(row)) continue;
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
    add_amounts(domain);
    out.push_back(std::move(domain));
  }
  return out;
}

void Detector::add_amounts(DomainTraffic& domain) const {
  const SchemataText* known = nullptr;
  bool is_set = false;
  for (auto& [name, group] : domain.groups) {
    const auto line = schemata_.find(group_label(name));
    if (line == schemata_.end()) continue;
    known = &line->second;
    group.mb = known->value("MB", domain.domain);
    is_set = is_set || !group.mb.empty();
  }
  if (known != nullptr && !is_set) domain.mb_domains = known->domains("MB");
}

std::vector<Stream> Detector::streams() const {
  std::vector<Stream> out;
  for (const auto& [place, watch] : domains_) watch->append_streams(out);
  return out;
}

}  // namespace rdtd::observe
