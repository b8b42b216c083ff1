// StderrFile: standard error goes to a file while this exists.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "rdtd/base/unique_fd.hpp"

namespace rdtd::test {

class StderrFile {
 public:
  explicit StderrFile(const std::filesystem::path& path)
      : before_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    EXPECT_TRUE(file);
    EXPECT_EQ(::dup2(file.get(), STDERR_FILENO), STDERR_FILENO);
  }
  StderrFile(const StderrFile&) = delete;
  StderrFile& operator=(const StderrFile&) = delete;
  ~StderrFile() {
    (void)std::fflush(stderr);
    (void)::dup2(before_.get(), STDERR_FILENO);
  }

 private:
  UniqueFd before_;
};

}  // namespace rdtd::test
