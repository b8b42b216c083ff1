#include "rdtd/base/journal.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "rdtd/base/text.hpp"

namespace rdtd {

bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status{};
  return stream != nullptr && ::fstat(STDERR_FILENO, &status) == 0 &&
         std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) == stream;
}

std::string journal_loss(size_t messages) {
  return counted(messages, "message") + (messages == 1 ? " is" : " are") +
         " missing here: the journal took none for a time";
}

}  // namespace rdtd
