// Directory: an open directory, and the files below it by relative path. Absolute paths are not
// used below it: the same code reads a test's tree, a snapshot and the real tree, and a directory
// that is removed and created again is not mistaken for the old one.
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/base/unique_fd.hpp"

namespace rdtd {

// Reads `fd` to its end; EFBIG if there are more than `limit` bytes. `path` is for the error only.
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
  // A directory that the caller has just made. Who may write to this one can have put another one
  // in its place, or a link: this refuses a link, what others may write to or own, and what has
  // contents.
  [[nodiscard]] Result<Directory> open_made(const std::string& name) const;
  // openat(2) with O_CLOEXEC. `mode` applies if the file is created.
  [[nodiscard]] Result<UniqueFd> open_file(const std::string& name, int flags,
                                           mode_t mode = 0600) const;
  [[nodiscard]] Result<std::string> read(const std::string& name) const;
  // The first complete line that is wanted, without its end; empty if there is none. There may be
  // more lines than memory, as others may add some.
  [[nodiscard]] Result<std::string> find_line(
      const std::string& name, const std::function<bool(std::string_view)>& wanted) const;
  // Writes the text with one write(2), as the kernel's control files require.
  [[nodiscard]] Result<void> write(const std::string& name, std::string_view text) const;
  // Creates a regular file of this mode, or replaces it by rename: a reader sees the old text or
  // the new one, and if anything fails, the old file is unchanged. The text is not synced to disk:
  // after a crash of the system, the file may be empty.
  [[nodiscard]] Result<void> replace(const std::string& name, std::string_view text,
                                     mode_t mode = 0644) const;
  // For what an administrator keeps: the owner, group, mode and access control list of an existing
  // file stay as they are, as far as the caller may set them, and nothing is lost after a crash of
  // the system once it has returned.
  [[nodiscard]] Result<void> replace_durably(const std::string& name, std::string_view text) const;
  // The same for a file that the user names: the umask takes from the mode.
  [[nodiscard]] Result<void> replace_by_umask(const std::string& name, std::string_view text,
                                              mode_t mode = 0666) const;
  struct Entry {
    std::string name;
    bool is_directory;
  };
  // Without "." and "..", sorted by name.
  [[nodiscard]] Result<std::vector<Entry>> list() const;
  // Whether a name is wanted; in no particular order. It ends at that one, and has no list of them.
  [[nodiscard]] Result<bool> any_name(const std::function<bool(const std::string&)>& wanted) const;

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path_of(const std::string& name) const { return path_ + "/" + name; }

 private:
  enum class Links { followed, refused };
  enum class Sync { no, yes };
  struct Replacement {
    mode_t created = 0600;                              // from which the umask takes
    std::optional<mode_t> mode = {};                    // in the end
    std::optional<std::pair<uid_t, gid_t>> owner = {};  // likewise, if the caller may give it away
    std::string acl = {};                               // as acl_attribute; "": none
    Sync sync = Sync::no;
  };
  [[nodiscard]] Result<void> set_access(int fd, const std::string& name,
                                        const Replacement& how) const;
  [[nodiscard]] Result<void> replace(const std::string& name, std::string_view text,
                                     const Replacement& how) const;
  // Until the function returns true for an entry; whether it did.
  [[nodiscard]] Result<bool> walk(const std::function<bool(const dirent&)>& wanted) const;
  [[nodiscard]] Result<std::pair<std::string, UniqueFd>> make_temporary(const std::string& name,
                                                                        mode_t mode) const;
  Directory(UniqueFd fd, std::string path, Links links)
      : fd_(std::move(fd)), path_(std::move(path)), links_(links) {}
  UniqueFd fd_;
  std::string path_;
  Links links_;
};

}  // namespace rdtd
