#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <memory>
#include <string>

#include "jobs.hpp"

namespace rdtd::bench {

int scan(Arguments) {
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), ::closedir);
  if (!processes) return 1;
  std::array<char, 64> name;
  while (const dirent* entry = ::readdir(processes.get())) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    const std::string path = std::string(entry->d_name) + "/comm";
    const int comm = ::openat(::dirfd(processes.get()), path.c_str(), O_RDONLY | O_CLOEXEC);
    if (comm < 0) continue;
    (void)!::pread(comm, name.data(), name.size(), 0);
    (void)::close(comm);
  }
  return 0;
}

}  // namespace rdtd::bench
