// The contention that a recording shows, for `blame` and the pictures of `history`.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "judged_samples.hpp"
#include "rdtd/observe/detector.hpp"
#include "recording_source.hpp"

namespace rdtd {

struct FoundEpisode {
  observe::Episode episode;
  bool running = false;          // it had not ended at the last sample
  int64_t clock_ahead_usec = 0;  // CLOCK_REALTIME less CLOCK_BOOTTIME, when it was found
};

struct FoundContention {
  ReadRecording read;
  JudgedSamples judged{""};
  bool has_group = false;              // the one that was asked for
  std::vector<FoundEpisode> episodes;  // of the period, those that run at the end
  std::vector<observe::Stream> streams;
  std::vector<observe::DomainTraffic> domains;  // at the last sample
};

// As rdtd-observer finds it: from everything before the period too. `group`: only what concerns the
// group with this label, also that nobody is to blame; "": what concerns any. Errors: see
// read_samples().
[[nodiscard]] std::expected<FoundContention, int> find_contention(
    const Context& context, const verbs::RecordingSource& source, const std::string& group);

}  // namespace rdtd
