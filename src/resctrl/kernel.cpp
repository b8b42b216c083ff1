#include "rdtd/resctrl/kernel.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "rdtd/base/in_call.hpp"

namespace rdtd::resctrl {

namespace {

constexpr uint64_t nanoseconds_per_second = 1'000'000'000;

class FileLock final : public Lock {
 public:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}

 private:
  UniqueFd fd_;
};

class TasksFile final : public Tasks {
 public:
  TasksFile(UniqueFd fd, std::atomic<int>& calls) : fd_(std::move(fd)), calls_(calls) {}
  [[nodiscard]] int add(pid_t tid) const override {
    const InCall call(calls_);
    const fmt::format_int text(tid);
    // The kernel takes the number without a newline too, and one write is one command.
    return ::write(fd_.get(), text.data(), text.size()) >= 0 ? 0 : errno;
  }

 private:
  UniqueFd fd_;
  std::atomic<int>& calls_;
};

// The last line break of a command is noise in a message.
std::string shown(std::string_view text) {
  return std::string(text.substr(0, text.find_last_not_of('\n') + 1));
}

}  // namespace

Result<std::unique_ptr<Kernel>> Kernel::open(const std::string& path) {
  auto root = Directory::open_untrusted(path);
  if (!root) return std::unexpected(root.error());
  std::unique_ptr<Kernel> kernel(new Kernel(std::move(*root)));
  const auto file = kernel->root_.open_file("schemata", O_RDONLY);
  if (!file && is_absent(file.error()))
    return std::unexpected(Error{
        "use", path, ENODEV, "no resctrl is mounted here: systemctl start sys-fs-resctrl.mount"});
  if (!file) return std::unexpected(file.error());
  return kernel;
}

Result<void> Kernel::make(const std::string& directory) {
  const InCall call(calls_);
  if (::mkdirat(root_.fd(), directory.c_str(), 0755) < 0)
    return errno_error("make group", root_.path_of(directory));
  return {};
}

Result<void> Kernel::remove(const std::string& directory) {
  const InCall call(calls_);
  if (::unlinkat(root_.fd(), directory.c_str(), AT_REMOVEDIR) < 0)
    return errno_error("remove group", root_.path_of(directory));
  return {};
}

Result<std::string> Kernel::read(const std::string& file) const {
  const InCall call(calls_);
  auto fd = root_.open_file(file, O_RDONLY);
  if (!fd) return std::unexpected(fd.error());
  return read_all(fd->get(), root_.path_of(file));
}

Result<void> Kernel::write(const std::string& file, std::string_view text) {
  const InCall call(calls_);
  auto fd = root_.open_file(file, O_WRONLY);
  if (!fd) return std::unexpected(fd.error());
  const ssize_t n = ::write(fd->get(), text.data(), text.size());
  if (n == static_cast<ssize_t>(text.size())) return {};
  if (n >= 0) errno = EIO;
  return errno_error(fmt::format("write '{}' to", shown(text)), root_.path_of(file));
}

Result<std::vector<Filesystem::Entry>> Kernel::list(const std::string& directory) const {
  const std::string path = directory.empty() ? root_.path() : root_.path_of(directory);
  auto own = root_.open_file(directory.empty() ? "." : directory, O_RDONLY | O_DIRECTORY);
  if (!own) return std::unexpected(own.error());
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own->get()), ::closedir);
  if (!stream) return errno_error("list", path);
  (void)own->release();  // closedir closes it
  std::vector<Entry> entries;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    bool is_directory = entry->d_type == DT_DIR;
    if (entry->d_type == DT_UNKNOWN) {
      struct stat status{};
      is_directory =
          ::fstatat(::dirfd(stream.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISDIR(status.st_mode);
      errno = 0;
    }
    entries.push_back({std::move(name), is_directory, entry->d_ino});
  }
  if (errno != 0) return errno_error("list", path);
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

Result<std::unique_ptr<Lock>> Kernel::lock() {
  auto fd = root_.open_file(".", O_RDONLY | O_DIRECTORY);
  if (!fd) return std::unexpected(fd.error());
  while (::flock(fd->get(), LOCK_EX | LOCK_NB) < 0)
    if (errno != EINTR) return errno_error("lock", root_.path());
  return std::make_unique<FileLock>(std::move(*fd));
}

Result<std::unique_ptr<Tasks>> Kernel::open_tasks(const std::string& group) {
  auto fd = root_.open_file(group.empty() ? "tasks" : group + "/tasks", O_WRONLY);
  if (!fd) return std::unexpected(fd.error());
  return std::make_unique<TasksFile>(std::move(*fd), calls_);
}

Result<uint64_t> Kernel::info_time() const {
  const InCall call(calls_);
  struct stat status{};
  if (::fstatat(root_.fd(), "info", &status, AT_SYMLINK_NOFOLLOW) < 0)
    return errno_error("examine", root_.path_of("info"));
  return static_cast<uint64_t>(status.st_mtim.tv_sec) * nanoseconds_per_second +
         static_cast<uint64_t>(status.st_mtim.tv_nsec);
}

Result<void> Kernel::set_info_time(uint64_t nanoseconds) {
  const InCall call(calls_);
  const std::array times = {
      timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
      timespec{.tv_sec = static_cast<time_t>(nanoseconds / nanoseconds_per_second),
               .tv_nsec = static_cast<long>(nanoseconds % nanoseconds_per_second)}};
  if (::utimensat(root_.fd(), "info", times.data(), AT_SYMLINK_NOFOLLOW) < 0)
    return errno_error("set the time of", root_.path_of("info"));
  return {};
}

}  // namespace rdtd::resctrl
