#include "rdtd/base/error.hpp"

#include <cerrno>
#include <cstring>

namespace rdtd {

std::string Error::text() const {
  std::string out = "cannot " + operation;
  if (!path.empty()) out += " " + path;
  if (code != 0) out += std::string(": ") + std::strerror(code);
  if (!detail.empty()) out += code != 0 ? " (" + detail + ")" : ": " + detail;
  return out;
}

bool is_transient(int code) {
  return code == EMFILE || code == ENFILE || code == ENOMEM || code == ENOBUFS || code == EIO ||
         code == EINTR;
}

std::unexpected<Error> errno_error(std::string operation, std::string path) {
  const int code = errno;
  return std::unexpected(Error{std::move(operation), std::move(path), code, {}});
}

}  // namespace rdtd
