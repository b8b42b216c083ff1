// How many files rdtctl may have open: each process and each counter of a measurement takes some.
#pragma once

#include <sys/resource.h>

namespace rdtd {

// To what an administrator allows. False if it is there already.
inline bool raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace rdtd
