// The traffic that each domain can carry, as `rdtctl bench --ceiling` has measured it: a recording
// without samples, in a file that rdtd-observer and `rdtctl record` read.
#pragma once

#include "rdtd/base/directory.hpp"
#include "rdtd/observe/recording.hpp"

namespace rdtd {

inline constexpr const char* ceilings_file = "ceilings";

using Ceilings = decltype(observe::Header::ceilings);

// `directory`: /var/lib/rdtd. None if there is no such file; a damaged one is an error. Not of
// domains whose ways have another size on this machine: the file came with the image of another
// one.
[[nodiscard]] Result<Ceilings> read_ceilings(const std::string& directory,
                                             const observe::Header& machine);
// For everybody to read. What is there of other domains is kept: if it cannot be read, nothing is
// written.
[[nodiscard]] Result<void> write_ceilings(const std::string& directory,
                                          const observe::Header& header);

}  // namespace rdtd
