// Where `history` and `blame` have their samples from: a file of `record`, or what rdtd-observer
// keeps.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "rdtd/observer/reader.hpp"
#include "verbs.hpp"

namespace rdtd {

// As `lead_usec`: who learns from samples knows at any time what it has seen, however long ago.
inline constexpr uint64_t all_before = UINT64_MAX;

// Of what a recording shows, so much is kept: it may show any number, and nobody reads more.
inline constexpr size_t most_found = 10'000;

// Keeps the last ones if there are more than `allowed`. Returns whether some are left out.
template <class T>
bool keep_last(std::vector<T>& found, size_t allowed) {
  if (found.size() <= allowed) return false;
  found.erase(found.begin(), found.end() - most_found);
  return true;
}
void warn_of_more(const std::string& what);

// That the recording has no group with this label, and which of those that it has was meant;
// returns the exit code.
int report_no_group(const verbs::RecordingSource& source, const std::string& group,
                    const std::vector<std::string>& known = {});

// `lead_usec`: as of Period. Prints what is wrong; the error is the exit code. That there is no
// sample in the period is one.
[[nodiscard]] std::expected<ReadRecording, int> read_samples(const Context& context,
                                                             const verbs::RecordingSource& source,
                                                             const UseSample& use,
                                                             uint64_t lead_usec = 0);

}  // namespace rdtd
