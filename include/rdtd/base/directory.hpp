// Directory: a folder held open, and the files in it by relative path. Nothing below it is reached
// by an absolute path, so a test, a snapshot and the real tree are read by the same code, and a
// folder that was removed and made again is not mistaken for the old one.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/base/unique_fd.hpp"

namespace rdtd {

// All that is left to read of `fd`, at most `limit` bytes; EFBIG beyond. `path` is for the error's
// text only.
[[nodiscard]] Result<std::string> read_all(int fd, const std::string& path,
                                           size_t limit = 16 << 20);

class Directory {
 public:
  [[nodiscard]] static Result<Directory> open(std::string path);
  // For a directory whose contents somebody else controls. Below it, and below the directories that
  // are opened from it, symbolic links are not followed, only regular files and directories are
  // opened, and no open waits.
  [[nodiscard]] static Result<Directory> open_untrusted(std::string path);
  [[nodiscard]] Result<Directory> open_directory(const std::string& name) const;
  // openat(2) with O_CLOEXEC. `mode`: of a file that is made.
  [[nodiscard]] Result<UniqueFd> open_file(const std::string& name, int flags,
                                           mode_t mode = 0600) const;
  [[nodiscard]] Result<std::string> read(const std::string& name) const;
  // One write(2) of the whole text, as the kernel's control files want it.
  [[nodiscard]] Result<void> write(const std::string& name, std::string_view text) const;
  // Puts a regular file that all may read in place by rename, so that a reader sees the old text or
  // the new one.
  [[nodiscard]] Result<void> replace(const std::string& name, std::string_view text) const;
  struct Entry {
    std::string name;
    bool is_directory;
  };
  // Without "." and "..", sorted by name.
  [[nodiscard]] Result<std::vector<Entry>> list() const;

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path_of(const std::string& name) const { return path_ + "/" + name; }

 private:
  enum class Links { followed, refused };
  Directory(UniqueFd fd, std::string path, Links links)
      : fd_(std::move(fd)), path_(std::move(path)), links_(links) {}
  UniqueFd fd_;
  std::string path_;
  Links links_;
};

}  // namespace rdtd
