// Where `history` and `blame` have their samples from: a file of `record`, or what rdtd-observer
// keeps.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "rdtd/observer/reader.hpp"
#include "verbs.hpp"

namespace rdtd {

// As `lead_usec`: who learns from samples knows at any time what it has seen, however long ago.
inline constexpr uint64_t all_before = UINT64_MAX;

// `lead_usec`: as of Period. Prints what is wrong; the error is the exit code. That there is no
// sample in the period is one.
[[nodiscard]] std::expected<ReadRecording, int> read_samples(const Context& context,
                                                             const verbs::RecordingSource& source,
                                                             const UseSample& use,
                                                             uint64_t lead_usec = 0);

}  // namespace rdtd
