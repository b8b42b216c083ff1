// Watches of inotify(7) on directories that are open, and on files in them.
#pragma once

#include <cstdint>
#include <string>

#include "rdtd/base/directory.hpp"
#include "rdtd/base/error.hpp"
#include "rdtd/base/unique_fd.hpp"

namespace rdtd {

// Returns the watch descriptor; something that is watched already keeps its own. `file`: "" for the
// directory itself. By /proc/self/fd, since inotify takes a path only: this one is independent of
// what is mounted over the directory's, and of its length.
[[nodiscard]] Result<int> add_watch(const UniqueFd& inotify, const Directory& directory,
                                    const std::string& file, uint32_t events);

}  // namespace rdtd
