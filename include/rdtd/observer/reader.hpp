// Reading recordings: a file of `rdtctl record`, plain or compressed by zstd(1), or the ring that
// rdtd-observer keeps. Samples are handed on one by one: a recording of any length takes the memory
// of a sample.
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rdtd/base/directory.hpp"
#include "rdtd/observe/recording.hpp"

namespace rdtd {

struct Period {
  uint64_t since_usec = 0, until_usec = UINT64_MAX;  // CLOCK_REALTIME
  uint64_t lead_usec = 0;  // samples so long before are handed on too, but do not count

  [[nodiscard]] uint64_t begin_usec() const { return since_usec - std::min(since_usec, lead_usec); }
};

struct ReadRecording {
  observe::Header header;  // of the first file that was read
  size_t samples = 0;      // in the period
  uint64_t from_usec = 0, to_usec = 0;
  // Of the first and the last sample that there are, also where none is in the period.
  struct Extent {
    uint64_t from_usec = 0, to_usec = 0;
  };
  std::optional<Extent> all;
  bool cut_off = false;               // the last sample is not whole
  std::vector<std::string> problems;  // of files of a ring that were left out, or read in part
};

using UseSample = std::function<void(const observe::Header&, const observe::Sample&)>;

// Why a recording cannot be read: the system's error, or what is wrong in which line.
struct Unreadable {
  Error error;
  size_t line = 0;
  std::string why;  // empty: it is the system's error
  // "cannot open x: ...", "x:3: this is no sample"
  [[nodiscard]] std::string text() const;
};

// In both, the first sample of the period has the amounts of all groups, as far as they are known,
// and the monotonic time of the samples goes on from file to file, also after a boot.
[[nodiscard]] std::expected<ReadRecording, Unreadable> read_recording(const Directory& directory,
                                                                      const std::string& file,
                                                                      const Period& period,
                                                                      const UseSample& use);
[[nodiscard]] Result<ReadRecording> read_ring(const Directory& directory, const Period& period,
                                              const UseSample& use);

}  // namespace rdtd
