// The directory of the records of a run: in memory, and removed when the run ends.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "fuzz/input.hpp"
#include "rdtd/base/directory.hpp"

namespace rdtd::fuzz {

inline Directory record_directory() {
  static std::string path;
  if (path.empty()) {
    path = "/dev/shm/rdtd-fuzz-XXXXXX";
    require(::mkdtemp(path.data()) != nullptr, "there is a directory for the records");
    std::atexit([] { std::filesystem::remove_all(path); });
  }
  return Directory::open(path).value();
}

}  // namespace rdtd::fuzz
