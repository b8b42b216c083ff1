#include "judged_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/observe/series.hpp"
#include "time_point.hpp"

namespace rdtd {

void JudgedSamples::add(const observe::Sample& sample) {
  const std::string traffic = traffic_resource(sample.counters);
  const bool number = std::ranges::any_of(sample.counters, [&](const DomainCounters& row) {
    return !is_mon_group(row.group) && row.resource == traffic &&
           observe::number_of(row, traffic_counter) &&
           (group_.empty() || group_label(row.group) == group_);
  });
  const bool before = std::exchange(had_number_, number);
  if (sample.leads || !number) return;
  counted_++;
  had_rate_ |= before && !sample.first;
}

std::string JudgedSamples::text(const std::string& none, const std::string& unseen,
                                const ReadRecording& read) const {
  const std::string span =
      fmt::format("from {} to {}", time_text(read.from_usec), time_text(read.to_usec));
  const std::string all = counted(read.samples, "sample"), counter = traffic_counter;
  if (counted_ == 0)
    return fmt::format("{} {}: {} {} in {}.", unseen, span,
                       group_.empty() ? "no group has" : "it has no", counter, all);
  if (!had_rate_)
    return fmt::format("{} {}: that takes two samples in a row with {}.", unseen, span, counter);
  if (counted_ < read.samples)
    return fmt::format("{} {}, in {} of {}: the others have no {}.", none, span, counted_, all,
                       counter);
  return fmt::format("{} {}, in {}.", none, span, all);
}

}  // namespace rdtd
