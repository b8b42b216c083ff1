#include "rdtd/base/inotify.hpp"

#include <sys/inotify.h>

#include <cerrno>

namespace rdtd {

Result<int> add_watch(const UniqueFd& inotify, const Directory& directory, const std::string& file,
                      uint32_t events) {
  const std::string path = "/proc/self/fd/" + std::to_string(directory.fd()) + "/" + file;
  const int watch = ::inotify_add_watch(inotify.get(), path.c_str(), events);
  if (watch >= 0) return watch;
  const int code = errno;
  return std::unexpected(Error{"watch", file.empty() ? directory.path() : directory.path_of(file),
                               code, code == ENOSPC ? "raise fs.inotify.max_user_watches" : ""});
}

}  // namespace rdtd
