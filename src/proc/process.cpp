#include "rdtd/proc/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// "PID/FILE" on the stack: this is the path from event to group.
struct ProcPath {
  template <class... Args>
  explicit ProcPath(fmt::format_string<Args...> format, Args... args) {
    *fmt::vformat_to_n(text.data(), text.size() - 1, format, fmt::make_format_args(args...)).out =
        '\0';
  }
  std::array<char, 64> text{};
};

// A command line is looked at this far.
constexpr size_t longest_fact = 65536;

std::optional<std::string> read_file(int root, const ProcPath& path) {
  const UniqueFd fd(::openat(root, path.text.data(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::string out;
  std::array<char, 4096> buffer;
  while (out.size() < longest_fact) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0) return std::nullopt;
    out.append(buffer.data(), static_cast<size_t>(n));
    // A short read is the end of a file in /proc: one system call fewer.
    if (static_cast<size_t>(n) < buffer.size()) break;
  }
  return out;
}

std::string without_newline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// The unified hierarchy, else systemd's own of the legacy layout. A bare systemd hierarchy that
// somebody mounted beside the unified one, for old containers, has everything in its root.
std::string systemd_cgroup(std::string_view text) {
  std::string unified, named;
  for (const std::string_view line : split(text, '\n')) {
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controllers == "name=systemd") named = line.substr(second + 1);
    if (controllers.empty()) unified = line.substr(second + 1);
  }
  return named.empty() || unified.size() > 1 ? unified : named;
}

// A number of /proc/PID/status, the `column`th behind its key: "Uid:\tREAL\tEFFECTIVE\t...".
std::optional<uint32_t> status_number(std::string_view status, std::string_view key,
                                      size_t column) {
  for (const std::string_view line : split(status, '\n')) {
    if (!line.starts_with(key)) continue;
    const auto fields = split(line, '\t');
    return fields.size() > column ? parse_unsigned<uint32_t>(fields[column]) : std::nullopt;
  }
  return std::nullopt;
}

// Directory entries that are numbers.
std::vector<pid_t> numbers_in(int root, const ProcPath& path) {
  std::vector<pid_t> out;
  UniqueFd fd(::openat(root, path.text.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return out;
  DIR* stream = ::fdopendir(fd.get());
  if (stream == nullptr) return out;
  (void)fd.release();  // closedir closes it
  while (const dirent* entry = ::readdir(stream))
    if (const auto id = parse_unsigned<uint32_t>(entry->d_name))
      out.push_back(static_cast<pid_t>(*id));
  ::closedir(stream);
  return out;
}

// The link count of the folder `task`: one for each thread, and two as every folder has.
size_t count_threads(int root, pid_t pid) {
  struct stat status{};
  if (::fstatat(root, ProcPath("{}/task", pid).text.data(), &status, 0) < 0 || status.st_nlink < 2)
    return 0;
  return status.st_nlink - 2;
}

}  // namespace

std::optional<std::string> Process::read_name() const {
  std::array<char, 64> buffer;
  const ssize_t n = ::pread(comm_.get(), buffer.data(), buffer.size(), 0);
  if (n <= 0) return std::nullopt;
  return without_newline(std::string(buffer.data(), static_cast<size_t>(n)));
}

void Process::read(Fact fact, ProcessFacts& facts) const {
  switch (fact) {
    case Fact::name: facts.name = read_name().value_or(""); break;
    case Fact::exe: {
      std::array<char, 4096> target;
      const ssize_t n =
          ::readlinkat(proc_, ProcPath("{}/exe", pid_).text.data(), target.data(), target.size());
      std::string path(target.data(), n < 0 ? 0 : static_cast<size_t>(n));
      // What was replaced by an upgrade still is that program.
      if (constexpr std::string_view deleted = " (deleted)"; path.ends_with(deleted))
        path.resize(path.size() - deleted.size());
      facts.exe = std::move(path);
      break;
    }
    case Fact::cgroup:
      facts.cgroup = systemd_cgroup(read_file(proc_, ProcPath("{}/cgroup", pid_)).value_or(""));
      break;
    case Fact::cmdline: {
      std::string arguments = read_file(proc_, ProcPath("{}/cmdline", pid_)).value_or("");
      while (arguments.ends_with('\0')) arguments.pop_back();
      std::ranges::replace(arguments, '\0', ' ');
      facts.cmdline = std::move(arguments);
      break;
    }
    case Fact::identity: {
      const std::string status = read_file(proc_, ProcPath("{}/status", pid_)).value_or("");
      facts.identity = Identity{status_number(status, "Uid:", 2).value_or(UINT32_MAX),
                                status_number(status, "Gid:", 2).value_or(UINT32_MAX)};
      break;
    }
  }
}

size_t Process::thread_count() const { return count_threads(proc_, pid_); }

std::vector<pid_t> Process::threads() const { return numbers_in(proc_, ProcPath("{}/task", pid_)); }

std::optional<std::string> Process::read_thread_name(pid_t tid) const {
  auto name = read_file(proc_, ProcPath("{}/task/{}/comm", pid_, tid));
  if (!name) return std::nullopt;
  return without_newline(std::move(*name));
}

pid_t Process::read_process() const {
  const std::string status = read_file(proc_, ProcPath("{}/status", pid_)).value_or("");
  return static_cast<pid_t>(status_number(status, "Tgid:", 1).value_or(0));
}

pid_t Process::read_parent() const {
  const std::string status = read_file(proc_, ProcPath("{}/status", pid_)).value_or("");
  return static_cast<pid_t>(status_number(status, "PPid:", 1).value_or(0));
}

// Field 22 of /proc/PID/stat (proc(5)); the second, the name in parentheses, may have spaces and
// parentheses of its own.
uint64_t Process::read_start_time() const {
  const std::string stat = read_file(proc_, ProcPath("{}/stat", pid_)).value_or("");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  const auto fields = split(std::string_view(stat).substr(name_end), ' ');
  return fields.size() > 20 ? parse_unsigned<uint64_t>(fields[20]).value_or(0) : 0;
}

std::optional<std::string> Process::read_thread_group(pid_t tid) const {
  const auto text = read_file(proc_, ProcPath("{}/task/{}/cpu_resctrl_groups", pid_, tid));
  if (!text) return std::nullopt;
  // "res:redis"; "res:/" is the default group; "res:" without a mounted resctrl.
  const std::string_view line = split(*text, '\n').front();
  if (!line.starts_with("res:") || line.size() == 4) return std::nullopt;
  return std::string(line.substr(line == "res:/" ? 5 : 4));
}

std::optional<Process> ProcFs::open(pid_t pid) const {
  UniqueFd comm(::openat(root_.fd(), ProcPath("{}/comm", pid).text.data(), O_RDONLY | O_CLOEXEC));
  if (!comm) return std::nullopt;
  return Process(root_.fd(), pid, std::move(comm));
}

size_t ProcFs::thread_count(pid_t pid) const { return count_threads(root_.fd(), pid); }

std::vector<pid_t> ProcFs::children(pid_t pid) const {
  std::vector<pid_t> out;
  const std::string text =
      read_file(root_.fd(), ProcPath("{}/task/{}/children", pid, pid)).value_or("");
  for (const std::string_view part : split(text, ' '))
    if (const auto child = parse_unsigned<uint32_t>(part))
      out.push_back(static_cast<pid_t>(*child));
  return out;
}

std::vector<pid_t> ProcFs::processes() const { return numbers_in(root_.fd(), ProcPath(".")); }

}  // namespace rdtd
