#include "rdtd/base/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>

namespace rdtd {

namespace {

constexpr const char* acl_attribute = "system.posix_acl_access";  // acl(5)

// Its access control list, as the kernel has it; empty if it has none.
std::string acl_of(int fd) {
  const ssize_t size = ::fgetxattr(fd, acl_attribute, nullptr, 0);
  std::string out(size > 0 ? static_cast<size_t>(size) : 0, '\0');
  const ssize_t length = ::fgetxattr(fd, acl_attribute, out.data(), out.size());
  out.resize(length > 0 ? static_cast<size_t>(length) : 0);
  return out;
}

}  // namespace

Result<std::string> read_all(int fd, const std::string& path, size_t limit) {
  std::string out;
  std::array<char, 16384> buffer;
  while (true) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("read", path);
    if (n == 0) return out;
    out.append(buffer.data(), static_cast<size_t>(n));
    if (out.size() > limit) return std::unexpected(Error{"read", path, EFBIG, {}});
  }
}

namespace {

constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

UniqueFd open_component(int directory, const std::string& name, int flags, mode_t mode) {
  if (name == "..") {
    errno = EXDEV;
    return UniqueFd();
  }
  return UniqueFd(
      ::openat(directory, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode));
}

// openat(2) that follows no links, does not leave the directory and does not wait for the other end
// of a FIFO. openat2(2) does the same, but many sandboxes refuse it.
UniqueFd open_confined(int directory, std::string_view name, int flags, mode_t mode) {
  UniqueFd parent;
  for (size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/')) {
    parent = open_component(directory, std::string(name.substr(0, slash)), O_PATH | O_DIRECTORY, 0);
    if (!parent) return parent;
    directory = parent.get();
    name.remove_prefix(slash + 1);
  }
  return open_component(directory, std::string(name), flags, mode);
}

Result<void> write_once(int fd, std::string_view text, const std::string& path) {
  const ssize_t n = ::write(fd, text.data(), text.size());
  if (n == static_cast<ssize_t>(text.size())) return {};
  if (n >= 0) errno = EIO;
  return errno_error(
      "write '" + std::string(text.substr(0, text.find_last_not_of('\n') + 1)) + "' to", path);
}

// All of the text, into a regular file.
Result<void> write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("write", path);
    text.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace

Result<Directory> Directory::open(std::string path) {
  UniqueFd fd(::open(path.c_str(), directory_flags));
  if (!fd) return errno_error("open", path);
  return Directory(std::move(fd), std::move(path), Links::followed);
}

Result<Directory> Directory::open_untrusted(std::string path) {
  auto directory = open(std::move(path));
  if (directory) directory->links_ = Links::refused;
  return directory;
}

Result<Directory> Directory::open_directory(const std::string& name) const {
  auto fd = open_file(name, directory_flags);
  if (!fd) return std::unexpected(fd.error());
  return Directory(std::move(*fd), path_of(name), links_);
}

Result<Directory> Directory::open_made(const std::string& name) const {
  UniqueFd fd = open_component(fd_.get(), name, directory_flags, 0);
  const int failure = fd ? 0 : errno;
  if (fd) {
    Directory made(std::move(fd), path_of(name), Links::refused);
    struct stat status{};
    if (::fstat(made.fd(), &status) != 0) return errno_error("open", made.path());
    const auto entries = made.list();
    if (!entries) return std::unexpected(entries.error());
    if (status.st_uid == ::geteuid() && (status.st_mode & 0022) == 0 && entries->empty())
      return made;
  } else if (failure != ELOOP && failure != ENOTDIR && failure != ENOENT) {
    return std::unexpected(Error{"open", path_of(name), failure, {}});
  }
  return std::unexpected(
      Error{"make", path_of(name), 0,
            "another user has exchanged it: use a directory in which only you can rename files"});
}

Result<UniqueFd> Directory::open_file(const std::string& name, int flags, mode_t mode) const {
  if (links_ == Links::followed) {
    UniqueFd fd(::openat(fd_.get(), name.c_str(), flags | O_CLOEXEC, mode));
    if (!fd) return errno_error("open", path_of(name));
    return fd;
  }
  UniqueFd fd = open_confined(fd_.get(), name, flags, mode);
  if (!fd && errno == ELOOP)
    return std::unexpected(Error{"open", path_of(name), ELOOP, "it is a symbolic link"});
  if (!fd) return errno_error("open", path_of(name));
  struct stat status{};
  if ((flags & O_DIRECTORY) != 0) return fd;
  if (::fstat(fd.get(), &status) < 0) return errno_error("open", path_of(name));
  if (S_ISDIR(status.st_mode)) return std::unexpected(Error{"open", path_of(name), EISDIR, {}});
  if (!S_ISREG(status.st_mode))
    return std::unexpected(Error{"open", path_of(name), EINVAL, "it is not a regular file"});
  return fd;
}

Result<std::string> Directory::read(const std::string& name) const {
  auto fd = open_file(name, O_RDONLY);
  if (!fd) return std::unexpected(fd.error());
  return read_all(fd->get(), path_of(name));
}

Result<std::string> Directory::find_line(
    const std::string& name, const std::function<bool(std::string_view)>& wanted) const {
  const auto file = open_file(name, O_RDONLY);
  if (!file) return std::unexpected(file.error());
  std::string text;
  std::array<char, 1 << 16> buffer{};
  while (true) {
    const ssize_t count = ::read(file->get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error("read", path_of(name));
    if (count == 0) return "";
    const size_t seen = text.size();  // no end of a line in it
    text.append(buffer.data(), static_cast<size_t>(count));
    size_t begin = 0;
    for (size_t end = text.find('\n', seen); end != std::string::npos;
         end = text.find('\n', begin)) {
      const auto line = std::string_view(text).substr(begin, end - begin);
      if (wanted(line)) return std::string(line);
      begin = end + 1;
    }
    text.erase(0, begin);
  }
}

Result<void> Directory::write(const std::string& name, std::string_view text) const {
  auto fd = open_file(name, O_WRONLY);
  if (!fd) return std::unexpected(fd.error());
  return write_once(fd->get(), text, path_of(name));
}

Result<void> Directory::replace(const std::string& name, std::string_view text, mode_t mode) const {
  return replace(name, text, Replacement{.mode = mode});
}

Result<void> Directory::replace_durably(const std::string& name, std::string_view text) const {
  Replacement how{.mode = 0644, .sync = Sync::yes};
  struct stat present{};
  if (::fstatat(fd_.get(), name.c_str(), &present, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISREG(present.st_mode)) {
    how.mode = present.st_mode & 0777;
    how.owner = {present.st_uid, present.st_gid};
    if (const auto file = open_file(name, O_RDONLY | O_NOFOLLOW)) how.acl = acl_of(file->get());
  }
  auto done = replace(name, text, how);
  // Of the name. Some file systems have nothing to sync.
  if (done && ::fsync(fd_.get()) < 0 && errno != EINVAL) done = errno_error("sync", path_);
  return done;
}

Result<void> Directory::replace_by_umask(const std::string& name, std::string_view text,
                                         mode_t mode) const {
  return replace(name, text, Replacement{.created = mode});
}

// A file of the usual name is left from a crash, or it is a link to a file that somebody wants to
// have overwritten. One that another process is writing now is left alone.
Result<std::pair<std::string, UniqueFd>> Directory::make_temporary(const std::string& name,
                                                                   mode_t mode) const {
  constexpr time_t writes_at_most = 10;  // seconds
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  std::string temporary = "." + name + ".new";
  struct stat there{};
  const bool is_there = ::fstatat(fd_.get(), temporary.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
  const bool is_written =
      S_ISREG(there.st_mode) && std::abs(::time(nullptr) - there.st_mtime) < writes_at_most;
  if (is_there && !is_written) (void)::unlinkat(fd_.get(), temporary.c_str(), 0);
  auto fd = open_file(temporary, flags, mode);
  if (!fd && fd.error().code == EEXIST && (!is_there || is_written)) {
    temporary = fmt::format(".{}.{}.new", name, ::getpid());
    (void)::unlinkat(fd_.get(), temporary.c_str(), 0);
    fd = open_file(temporary, flags, mode);
  }
  // Nobody knows the temporary name, unless something of that name is in the way.
  if (!fd && fd.error().code == EEXIST) return std::unexpected(fd.error());
  if (!fd) return std::unexpected(Error{"write", path_of(name), fd.error().code, {}});
  return std::pair(std::move(temporary), std::move(*fd));
}

// The mode comes after the owner, whose change takes from it, and before the list, which shows as
// a part of the mode.
Result<void> Directory::set_access(int fd, const std::string& name, const Replacement& how) const {
  mode_t mode = how.mode.value_or(0);
  bool keeps_group = true;
  struct stat made{};
  if (how.owner && ::fstat(fd, &made) == 0 && std::pair(made.st_uid, made.st_gid) != *how.owner &&
      ::fchown(fd, how.owner->first, how.owner->second) < 0) {
    // EPERM: the caller may write here, but not give files away. The rights of one group are not
    // for another one.
    if (errno != EPERM) return errno_error("change the owner of", path_of(name));
    constexpr uid_t same = static_cast<uid_t>(-1);
    keeps_group = made.st_gid == how.owner->second || ::fchown(fd, same, how.owner->second) == 0;
    if (!keeps_group) mode &= ~mode_t{0070};
  }
  if (how.mode && ::fchmod(fd, mode) < 0) return errno_error("change the mode of", path_of(name));
  if (keeps_group && !how.acl.empty() &&
      ::fsetxattr(fd, acl_attribute, how.acl.data(), how.acl.size(), 0) < 0)
    return errno_error("change the access control list of", path_of(name));
  return {};
}

Result<void> Directory::replace(const std::string& name, std::string_view text,
                                const Replacement& how) const {
  const auto made = make_temporary(name, how.created);
  if (!made) return std::unexpected(made.error());
  const auto& [temporary, fd] = *made;
  Result<void> done = write_all(fd.get(), text, path_of(name));
  if (done) done = set_access(fd.get(), name, how);
  if (done && how.sync == Sync::yes && ::fsync(fd.get()) < 0)
    done = errno_error("write", path_of(name));
  if (done && ::renameat(fd_.get(), temporary.c_str(), fd_.get(), name.c_str()) < 0)
    done = errno_error("replace", path_of(name));
  if (!done) (void)::unlinkat(fd_.get(), temporary.c_str(), 0);
  return done;
}

Result<bool> Directory::walk(const std::function<bool(const dirent&)>& wanted) const {
  UniqueFd own(::openat(fd_.get(), ".", directory_flags));
  if (!own) return errno_error("open", path_);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), ::closedir);
  if (!stream) return errno_error("list", path_);
  (void)own.release();  // closedir closes it
  for (errno = 0; const dirent* entry = ::readdir(stream.get()); errno = 0) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && wanted(*entry)) return true;
  }
  if (errno != 0) return errno_error("list", path_);
  return false;
}

Result<bool> Directory::any_name(const std::function<bool(const std::string&)>& wanted) const {
  return walk([&](const dirent& entry) { return wanted(entry.d_name); });
}

Result<std::vector<Directory::Entry>> Directory::list() const {
  std::vector<Entry> entries;
  const auto walked = walk([&](const dirent& entry) {
    bool is_directory = entry.d_type == DT_DIR;
    if (entry.d_type == DT_LNK || entry.d_type == DT_UNKNOWN) {
      const int flags = links_ == Links::followed ? 0 : AT_SYMLINK_NOFOLLOW;
      struct stat status{};
      is_directory =
          ::fstatat(fd_.get(), entry.d_name, &status, flags) == 0 && S_ISDIR(status.st_mode);
    }
    entries.push_back({entry.d_name, is_directory});
    return false;
  });
  if (!walked) return std::unexpected(walked.error());
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace rdtd
