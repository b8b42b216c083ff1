// A process that has forbidden itself to execute programs.
#include "rdtd/proc/no_exec.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace rdtd {
namespace {

// Does this in a process of its own. Returns its exit status.
int status_of(const auto& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int execute() {
  ::execl("/bin/true", "true", nullptr);
  return errno;
}

TEST(NoExecTest, NeitherItNorItsChildren) {
  EXPECT_EQ(status_of(execute), 0);
  EXPECT_EQ(status_of([] { return proc::forbid_exec() ? execute() : 1; }), EPERM);
  EXPECT_EQ(status_of([] { return proc::forbid_exec() ? status_of(execute) : 1; }), EPERM);
}

}  // namespace
}  // namespace rdtd
