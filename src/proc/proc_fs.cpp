#include "rdtd/proc/proc_fs.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "rdtd/base/clock.hpp"
#include "rdtd/base/cooldown.hpp"
#include "rdtd/base/in_call.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/proc/cgroup_namespace.hpp"
#include "rdtd/proc/parse.hpp"

namespace rdtd::proc {

namespace {

// A path below /proc, from texts and numbers. It is on the stack, and not formatted, because a
// process waits for its group meanwhile.
class ProcPath {
 public:
  template <class... Parts>
  explicit ProcPath(Parts... parts) {
    (append(parts), ...);
    text_[size_] = '\0';
  }
  [[nodiscard]] const char* c_str() const { return text_.data(); }
  [[nodiscard]] std::string_view text() const { return {text_.data(), size_}; }

 private:
  void append(std::string_view part) {
    size_ += part.copy(text_.data() + size_, text_.size() - 1 - size_);
  }
  void append(pid_t id) {
    const fmt::format_int text(id);
    append(std::string_view(text.data(), text.size()));
  }

  std::array<char, 64> text_;
  size_t size_ = 0;
};

// How a file ends. A file of one record ends with a short read, which saves a system call. A list
// has a record per entry, and a read returns at most a page of them: it ends with an empty read.
enum class Kind { record, list };

// Longer records are cut: only a command line can be this long.
constexpr size_t max_record = 65536;

std::unexpected<Error> failed(const char* operation, const Directory& root, const ProcPath& path) {
  return errno_error(operation, root.path_of(path.c_str()));
}

std::unexpected<Error> failed(int code, const char* operation, const Directory& root,
                              const ProcPath& path) {
  return std::unexpected(Error{operation, root.path_of(path.c_str()), code, {}});
}

// Returns 0 or errno.
int read_open(int fd, Kind kind, std::string& out) {
  size_t size = 0;
  while (true) {
    const size_t room = std::max<size_t>(4096, size);
    out.resize(size + room);
    const ssize_t n = ::read(fd, out.data() + size, room);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    size += static_cast<size_t>(n);
    const bool done =
        kind == Kind::record ? static_cast<size_t>(n) < room || size >= max_record : n == 0;
    if (!done) continue;
    out.resize(kind == Kind::record ? std::min(size, max_record) : size);
    return 0;
  }
}

Result<std::string> read_file(const Directory& root, const ProcPath& path, Kind kind) {
  const UniqueFd fd(::openat(root.fd(), path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return failed("open", root, path);
  std::string out;
  if (const int code = read_open(fd.get(), kind, out); code != 0)
    return failed(code, "read", root, path);
  return out;
}

// std::expected::transform, which GCC 12 lacks.
template <class T, class F>
auto transform(Result<T> answer, F function) -> Result<decltype(function(std::move(*answer)))> {
  if (!answer) return std::unexpected(answer.error());
  return function(std::move(*answer));
}

std::string without_newline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// The kernel makes an inode for each entry that fits the reader's buffer: 1,000 threads in that of
// readdir(3), which take milliseconds.
constexpr size_t for_all = 8192, for_two = 128;

// Calls `use` with the entries of a directory that are numbers, until it returns false. `room`: of
// the buffer in bytes.
template <size_t room, class F>
Result<void> each_number(const Directory& root, const ProcPath& path, F use) {
  const UniqueFd fd(::openat(root.fd(), path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return failed("open", root, path);
  alignas(dirent64) std::array<char, room> buffer;
  ssize_t size;
  while ((size = ::getdents64(fd.get(), buffer.data(), buffer.size())) > 0) {
    for (ssize_t at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      at += entry->d_reclen;
      const auto number = parse_unsigned<uint32_t>(entry->d_name);
      if (number && !use(static_cast<pid_t>(*number))) return {};
    }
  }
  if (size < 0) return failed("list", root, path);
  return {};
}

Result<std::vector<pid_t>> list_numbers(const Directory& root, const ProcPath& path) {
  std::vector<pid_t> numbers;
  const auto done = each_number<for_all>(root, path, [&](pid_t number) {
    numbers.push_back(number);
    return true;
  });
  if (!done) return std::unexpected(done.error());
  return numbers;
}

// The kernel opens /proc/PID/FILE for whichever process has the pid at that moment. Therefore every
// answer that is found by pid is followed by a read of `comm`, which was opened before: it succeeds
// only if this process had the pid all the time.
class OpenProcess final : public Process {
 public:
  OpenProcess(const Directory& root, const std::string& namespace_root,
              const Containers* containers, CommandLines& command_lines, StatusPace& status_pace,
              std::atomic<int>& calls, pid_t pid, UniqueFd comm)
      : root_(root),
        namespace_root_(namespace_root),
        containers_(containers),
        command_lines_(command_lines),
        status_pace_(status_pace),
        calls_(calls),
        pid_(pid),
        comm_(std::move(comm)) {}

  [[nodiscard]] pid_t pid() const override { return pid_; }
  [[nodiscard]] Result<std::string> read_name() const override;
  [[nodiscard]] Result<uid_t> owner() const override;
  [[nodiscard]] Result<void> read(Fact fact, ProcessFacts& facts) const override;
  [[nodiscard]] size_t thread_count() const override;
  [[nodiscard]] Result<std::vector<pid_t>> threads() const override;
  [[nodiscard]] Result<std::string> read_thread_name(pid_t tid) const override;
  [[nodiscard]] Result<std::string> read_thread_group(pid_t tid) const override;
  [[nodiscard]] Result<Status> read_status() const override;
  [[nodiscard]] Result<uint64_t> read_start_time() const override;
  [[nodiscard]] Result<std::vector<pid_t>> children(std::span<const pid_t> threads) const override;

 private:
  [[nodiscard]] Result<std::string> read_text(const ProcPath& path) const;
  [[nodiscard]] std::optional<pid_t> other_thread() const;
  [[nodiscard]] std::optional<pid_t> instead_of_first() const;
  [[nodiscard]] Result<std::optional<std::string>> link_of(const ProcPath& path) const;
  [[nodiscard]] Result<std::string> read_exe() const;
  [[nodiscard]] Result<std::string> read_cmdline() const;
  [[nodiscard]] Result<Identity> identity_of(std::optional<pid_t> other) const;
  [[nodiscard]] Result<Identity> read_root_identity(const ProcPath& directory) const;
  template <class T>
  [[nodiscard]] Result<T> if_alive(Result<T> answer) const;

  const Directory& root_;
  const std::string& namespace_root_;
  const Containers* containers_;
  CommandLines& command_lines_;
  StatusPace& status_pace_;
  std::atomic<int>& calls_;
  pid_t pid_;
  UniqueFd comm_;
};

template <class T>
Result<T> OpenProcess::if_alive(Result<T> answer) const {
  if (!answer) return answer;
  char first;
  if (::pread(comm_.get(), &first, 1, 0) < 0) return failed("read", root_, ProcPath(pid_, "/comm"));
  return answer;
}

Result<std::string> OpenProcess::read_text(const ProcPath& path) const {
  return if_alive(read_file(root_, path, Kind::record));
}

Result<std::string> OpenProcess::read_name() const {
  std::array<char, 64> buffer;
  const ssize_t n = ::pread(comm_.get(), buffer.data(), buffer.size(), 0);
  if (n < 0) return failed("read", root_, ProcPath(pid_, "/comm"));
  return without_newline(std::string(buffer.data(), static_cast<size_t>(n)));
}

// The kernel gives this directory to the effective user, also if the process cannot be traced; the
// files in it are root's then (task_dump_owner in fs/proc/base.c).
Result<uid_t> OpenProcess::owner() const {
  const ProcPath path(pid_);
  struct stat status{};
  if (::fstatat(root_.fd(), path.c_str(), &status, 0) < 0) return failed("examine", root_, path);
  return if_alive(Result<uid_t>(status.st_uid));
}

// One that is there although the first one has ended, of which the kernel shows no program, no
// arguments and old ids: who ends its first thread must not escape its rules.
std::optional<pid_t> OpenProcess::other_thread() const {
  std::optional<pid_t> out;
  (void)each_number<for_two>(root_, ProcPath(pid_, "/task"), [&](pid_t tid) {
    if (tid != pid_) out = tid;
    return !out;
  });
  return out;
}

// Nothing if there is none (ENOENT): the process, or the thread, has ended, or is the kernel's.
Result<std::optional<std::string>> OpenProcess::link_of(const ProcPath& path) const {
  std::array<char, 4096> target;
  const ssize_t n = ::readlinkat(root_.fd(), path.c_str(), target.data(), target.size());
  if (n < 0 && errno != ENOENT) return failed("read", root_, path);
  return n < 0 ? std::nullopt : std::optional(std::string(target.data(), static_cast<size_t>(n)));
}

Result<std::string> OpenProcess::read_exe() const {
  auto link = link_of(ProcPath(pid_, "/exe"));
  if (link && !*link)
    if (const auto tid = other_thread()) link = link_of(ProcPath(pid_, "/task/", *tid, "/exe"));
  if (!link) return std::unexpected(link.error());
  std::string exe = link->value_or("");
  // A program that an upgrade has replaced is still that program.
  if (constexpr std::string_view deleted = " (deleted)"; exe.ends_with(deleted))
    exe.resize(exe.size() - deleted.size());
  return if_alive(Result<std::string>(std::move(exe)));
}

// Nothing if the first thread is there.
std::optional<pid_t> OpenProcess::instead_of_first() const {
  if (thread_count() == 1) return std::nullopt;
  const auto exe = link_of(ProcPath(pid_, "/exe"));
  return exe && !*exe ? other_thread() : std::nullopt;
}

// Of the first thread, or of the other one.
Result<Identity> OpenProcess::identity_of(std::optional<pid_t> other) const {
  const ProcPath path = other ? ProcPath(pid_, "/task/", *other) : ProcPath(pid_);
  struct stat status{};
  if (::fstatat(root_.fd(), path.c_str(), &status, 0) < 0) return failed("examine", root_, path);
  if (status.st_uid == 0) return read_root_identity(path);
  return if_alive(Result<Identity>(Identity{status.st_uid, status.st_gid, status.st_uid}));
}

// The user of a set-uid program is responsible for it, and only `status` names that user. The
// kernel prints all supplementary groups there, of which a user can have 65536, several times: it
// takes 50 ms.
Result<Identity> OpenProcess::read_root_identity(const ProcPath& directory) const {
  const ProcPath path(directory.text(), "/status");
  if (!status_pace_.may_read())
    return std::unexpected(Error{"read", root_.path_of(path.c_str()), EBUSY,
                                 "reading that of other processes took too long"});
  const auto begin = thread_cpu_time();
  const auto text = read_text(path);
  status_pace_.took(thread_cpu_time() - begin);
  if (!text) return std::unexpected(text.error());
  const auto status = parse_status(*text);
  if (!status) return failed(EBADMSG, "parse", root_, path);
  return status->identity;
}

Result<std::string> OpenProcess::read_cmdline() const {
  const auto other = instead_of_first();
  const auto identity = identity_of(other);
  if (!identity) return std::unexpected(identity.error());
  const ProcPath path =
      other ? ProcPath(pid_, "/task/", *other, "/cmdline") : ProcPath(pid_, "/cmdline");
  UniqueFd fd(::openat(root_.fd(), path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return failed("open", root_, path);
  const std::string whole_path = root_.path_of(path.c_str());
  return if_alive(
      command_lines_.read(identity->responsible(), pid_, whole_path,
                          [fd = std::move(fd), whole_path]() -> Result<std::string> {
                            std::string out;
                            if (const int code = read_open(fd.get(), Kind::record, out); code != 0)
                              return std::unexpected(Error{"read", whole_path, code, {}});
                            return out;
                          }));
}

Result<Status> OpenProcess::read_status() const {
  const ProcPath path(pid_, "/status");
  auto text = read_text(path);
  if (!text) return std::unexpected(text.error());
  if (const auto tid = first_thread_ended(*text) ? other_thread() : std::nullopt)
    if (auto others = read_text(ProcPath(pid_, "/task/", *tid, "/status"))) text = others;
  const auto status = parse_status(*text);
  if (!status) return failed(EBADMSG, "parse", root_, path);
  return *status;
}

namespace {

// Takes an answer over into a fact. A fact that must not be read becomes empty, and so does a path
// longer than PATH_MAX: a user can make one, and it must not look like a failure of the system.
template <class T>
Result<void> fill(Result<T> answer, std::optional<T>& fact, T empty) {
  const int code = answer ? 0 : answer.error().code;
  if (code != 0 && code != EACCES && code != EPERM && code != ENAMETOOLONG)
    return std::unexpected(answer.error());
  fact = answer ? std::move(*answer) : std::move(empty);
  return {};
}

std::string join_arguments(std::string cmdline) {
  while (cmdline.ends_with('\0')) cmdline.pop_back();
  std::ranges::replace(cmdline, '\0', ' ');
  return cmdline;
}

}  // namespace

Result<void> OpenProcess::read(Fact fact, ProcessFacts& facts) const {
  switch (fact) {
    case Fact::name: return fill(read_name(), facts.name, {});
    case Fact::exe: return fill(read_exe(), facts.exe, {});
    case Fact::cgroup: {
      auto cgroup = transform(read_text(ProcPath(pid_, "/cgroup")), parse_cgroup);
      facts.cgroup_too_long = !cgroup && cgroup.error().code == ENAMETOOLONG;
      if (cgroup && !namespace_root_.empty()) cgroup = from_hierarchy(namespace_root_, *cgroup);
      return fill(std::move(cgroup), facts.cgroup, {});
    }
    case Fact::container: {
      if (!facts.cgroup)
        if (auto read_first = read(Fact::cgroup, facts); !read_first) return read_first;
      facts.container =
          containers_ != nullptr ? containers_->names_of(*facts.cgroup) : ContainerNames{};
      return {};
    }
    case Fact::cmdline: return fill(transform(read_cmdline(), join_arguments), facts.cmdline, {});
    case Fact::identity:
      return fill(identity_of(instead_of_first()), facts.identity, {UINT32_MAX, UINT32_MAX});
  }
  return {};
}

size_t OpenProcess::thread_count() const {
  // The link count of a directory is that of its subdirectories and two more.
  const ProcPath path(pid_, "/task");
  struct stat status{};
  const auto count = ::fstatat(root_.fd(), path.c_str(), &status, 0) < 0
                         ? Result<size_t>(failed("examine", root_, path))
                         : if_alive(Result<size_t>(status.st_nlink < 2 ? 0 : status.st_nlink - 2));
  return count ? *count : ended(count.error()) ? 0 : SIZE_MAX;
}

Result<std::vector<pid_t>> OpenProcess::threads() const {
  return if_alive(list_numbers(root_, ProcPath(pid_, "/task")));
}

Result<std::string> OpenProcess::read_thread_name(pid_t tid) const {
  return transform(read_text(ProcPath(pid_, "/task/", tid, "/comm")), without_newline);
}

Result<std::string> OpenProcess::read_thread_group(pid_t tid) const {
  const InCall call(calls_);
  const ProcPath path(pid_, "/task/", tid, "/cpu_resctrl_groups");
  const auto text = read_text(path);
  if (!text) {
    // A kernel without CONFIG_PROC_CPU_RESCTRL has no such file even if the thread exists.
    const bool thread_exists =
        ::faccessat(root_.fd(), ProcPath(pid_, "/task/", tid).c_str(), F_OK, 0) == 0;
    if (text.error().code == ENOENT && thread_exists) return failed(ENOTSUP, "open", root_, path);
    return std::unexpected(text.error());
  }
  auto group = parse_resctrl_group(*text);
  if (!group) return failed(ENOTSUP, "parse", root_, path);
  return std::move(*group);
}

Result<uint64_t> OpenProcess::read_start_time() const {
  const ProcPath path(pid_, "/stat");
  const auto text = read_text(path);
  if (!text) return std::unexpected(text.error());
  const auto time = parse_start_time(*text);
  if (!time) return failed(EBADMSG, "parse", root_, path);
  return *time;
}

Result<std::vector<pid_t>> OpenProcess::children(std::span<const pid_t> threads) const {
  std::vector<pid_t> children;
  for (const pid_t tid : threads) {
    const auto text = read_file(root_, ProcPath(pid_, "/task/", tid, "/children"), Kind::list);
    // The thread has ended, or the kernel has no such file.
    if (!text && ended(text.error())) continue;
    if (!text) return std::unexpected(text.error());
    const std::vector<pid_t> found = parse_pids(*text);
    children.insert(children.end(), found.begin(), found.end());
  }
  return if_alive(Result<std::vector<pid_t>>(std::move(children)));
}

}  // namespace

void StatusPace::took(std::chrono::nanoseconds time) {
  constexpr std::chrono::milliseconds lengthy{4};
  constexpr Cooldown pause{4};
  if (time >= lengthy) next_ = std::chrono::steady_clock::now() + pause.after(time);
}

Result<std::unique_ptr<Process>> ProcFs::open(pid_t pid) const {
  const ProcPath path(pid, "/comm");
  UniqueFd comm(::openat(root_.fd(), path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!comm) return failed("open", root_, path);
  return std::make_unique<OpenProcess>(root_, namespace_root_, containers_, *command_lines_,
                                       status_pace_, calls_, pid, std::move(comm));
}

// The kernel lists the first thread first, whichever thread is asked for, and keeps it in the list
// until the others have ended (first_tid in fs/proc/base.c). While another thread executes a
// program, it may be listed under that one's id for a moment: the exec event follows.
Result<pid_t> ProcFs::process_of(pid_t tid) const {
  std::optional<pid_t> first;
  const ProcPath path(tid, "/task");
  const auto listed = each_number<for_two>(root_, path, [&](pid_t thread) {
    first = thread;
    return false;
  });
  if (!listed) return std::unexpected(listed.error());
  if (!first) return failed(ESRCH, "list", root_, path);
  return *first;
}

bool ProcFs::is_alone(pid_t pid) const {
  // The link count of a directory is that of its subdirectories and two more.
  struct stat status{};
  if (::fstatat(root_.fd(), ProcPath(pid, "/task").c_str(), &status, 0) < 0)
    return errno == ENOENT || errno == ESRCH;
  if (status.st_nlink > 3) return false;
  const ProcPath path(pid, "/task/", pid, "/children");
  const UniqueFd fd(::openat(root_.fd(), path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return errno == ENOENT || errno == ESRCH;
  char first;
  return ::read(fd.get(), &first, 1) == 0;
}

Result<std::vector<pid_t>> ProcFs::list() const { return list_numbers(root_, ProcPath(".")); }

}  // namespace rdtd::proc
