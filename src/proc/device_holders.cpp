#include "rdtd/proc/device_holders.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd::proc {

namespace {

// "510:127"; nothing if there is no such device.
std::optional<dev_t> number_of(const std::string& devices, const std::string& name) {
  const auto directory = Directory::open(devices + "/" + name);
  const auto text = directory ? directory->read("dev") : std::unexpected(directory.error());
  if (!text) return std::nullopt;
  const auto parts = split(trim(*text), ':');
  const auto high = parse_unsigned<unsigned>(parts.front());
  const auto low = parse_unsigned<unsigned>(parts.back());
  if (parts.size() != 2 || !high || !low) return std::nullopt;
  return makedev(*high, *low);
}

// The device number of the filesystem that has the devices, as /proc/PID/maps writes it.
std::string number_of_devtmpfs(const Directory& proc) {
  const auto mounts = proc.read("1/mountinfo");  // proc_pid_mountinfo(5)
  if (mounts)
    for (const std::string_view line : split(*mounts, '\n')) {
      const auto words = split(line, ' ');
      if (!line.contains(" - devtmpfs ") || words.size() < 3) continue;
      const auto numbers = split(words[2], ':');
      const auto high = parse_unsigned<unsigned>(numbers.front());
      const auto low = parse_unsigned<unsigned>(numbers.back());
      if (high && low) return fmt::format(" {:02x}:{:02x} ", *high, *low);
    }
  return " ";
}

enum class Seen { no, yes, unknown };

// Without a question to a file system that somebody's process serves, and without what opened only
// the name (O_PATH): that anybody may.
bool is_open(const Directory& process, const Directory& descriptors, const std::string& number,
             dev_t device) {
  constexpr unsigned path_only = O_PATH;
  struct statx status{};
  if (::statx(descriptors.fd(), number.c_str(), AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_TYPE,
              &status) != 0 ||
      !S_ISCHR(status.stx_mode) || makedev(status.stx_rdev_major, status.stx_rdev_minor) != device)
    return false;
  const auto info = process.read("fdinfo/" + number);  // proc_pid_fdinfo(5)
  const size_t flags = info ? info->find("flags:") : std::string::npos;
  if (flags == std::string::npos) return true;
  const std::string_view rest = std::string_view(*info).substr(flags + 6);
  return (parse_unsigned<unsigned>(trim(rest.substr(0, rest.find('\n'))), 8).value_or(0) &
          path_only) == 0;
}

Seen has_descriptor(const Directory& process, dev_t device) {
  const auto descriptors = process.open_directory("fd");
  const auto entries = descriptors ? descriptors->list() : std::unexpected(descriptors.error());
  if (!entries)
    return entries.error().code == ENOENT || entries.error().code == ESRCH ? Seen::no
                                                                           : Seen::unknown;
  for (const Directory::Entry& entry : *entries)
    if (is_open(process, *descriptors, entry.name, device)) return Seen::yes;
  return Seen::no;
}

// A map of the device: `in_devices` stands before its inode, and `path` ends the line. There may be
// more lines than memory.
Seen has_map(const Directory& process, const std::string& in_devices, const std::string& path) {
  const auto gone = [](int error) { return error == ENOENT || error == ESRCH || error == 0; };
  const auto file = process.open_file("maps", O_RDONLY);
  if (!file) return gone(file.error().code) ? Seen::no : Seen::unknown;
  std::string text;
  std::array<char, 1 << 16> buffer{};
  while (true) {
    const ssize_t count = ::read(file->get(), buffer.data(), buffer.size());
    if (count <= 0) return count == 0 || gone(errno) ? Seen::no : Seen::unknown;
    text.append(buffer.data(), static_cast<size_t>(count));
    const size_t end = text.rfind('\n');
    for (const std::string_view line :
         split(std::string_view(text).substr(0, end == std::string::npos ? 0 : end), '\n'))
      if (line.ends_with(path) && line.contains(in_devices)) return Seen::yes;
    if (end != std::string::npos) text.erase(0, end + 1);
  }
}

}  // namespace

struct DeviceHolders::Search {
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  std::chrono::steady_clock::time_point end;  // when it was done
  std::string answer;                         // empty: nobody
  std::atomic<unsigned> looking_at = 0;
  std::string proc, name;
  dev_t device = 0;
  unsigned first = 0;  // a process to look at first, if not 0
  unsigned holder = 0;

  void run() {
    (void)::prctl(PR_SET_NAME, "rdtd-holders");
    std::string found = look();
    const std::lock_guard lock(mutex);
    answer = std::move(found);
    end = std::chrono::steady_clock::now();
    done = true;
    finished.notify_one();
  }

  [[nodiscard]] std::string text(unsigned pid, const Directory& process, Seen seen) {
    holder = pid;
    return fmt::format(
        "process {} ({}) {}", pid, printable(trim(process.read("comm").value_or(""))),
        seen == Seen::yes
            ? fmt::format("has /dev/pseudo_lock/{} open", name)
            : fmt::format("cannot be examined: it may have /dev/pseudo_lock/{} open", name));
  }

  // The threads of a process share its memory and, nearly always, its descriptors. That of a
  // process whose first thread has ended are those of the others.
  template <class Look>
  static Seen look_at(const Directory& process, const Look& look) {
    const Seen seen = look(process);
    if (seen != Seen::no || !trim(process.read("cmdline").value_or("x")).empty()) return seen;
    const auto tasks = process.open_directory("task");
    const auto entries = tasks ? tasks->list() : std::unexpected(tasks.error());
    if (!entries) return Seen::no;
    for (const Directory::Entry& entry : *entries)
      if (const auto task = tasks->open_directory(entry.name))
        if (const Seen there = look(*task); there != Seen::no) return there;
    return Seen::no;
  }

  // First all descriptors, then the maps: a process can hold up who reads its own.
  [[nodiscard]] std::string look() {
    const auto directory = Directory::open_untrusted(proc);
    const auto entries = directory ? directory->list() : std::unexpected(directory.error());
    if (!entries) return entries.error().text();
    std::vector<unsigned> pids;
    if (first != 0) pids.push_back(first);
    for (const Directory::Entry& entry : *entries)
      if (const auto pid = parse_unsigned<unsigned>(entry.name)) pids.push_back(*pid);
    const std::string in_devices = number_of_devtmpfs(*directory), path = "/pseudo_lock/" + name;
    const auto each = [&](const auto& look) -> std::string {
      for (const unsigned pid : pids) {
        looking_at = pid;
        const auto process = directory->open_directory(std::to_string(pid));
        if (!process) continue;
        if (const Seen seen = look_at(*process, look); seen != Seen::no)
          return text(pid, *process, seen);
      }
      return {};
    };
    std::string found = each([&](const Directory& one) { return has_descriptor(one, device); });
    if (found.empty())
      found = each([&](const Directory& one) { return has_map(one, in_devices, path); });
    return found;
  }
};

// The answer of a search, which is done.
std::optional<std::string> DeviceHolders::answer_of(const Search& search) {
  last_holder_ = search.holder;
  running_.reset();
  return search.answer.empty() ? std::nullopt : std::optional(search.answer);
}

std::optional<std::string> DeviceHolders::find(const std::string& name) {
  const auto device = number_of(devices_, name);
  if (!device) return std::nullopt;
  const auto not_yet = [&](const std::shared_ptr<Search>& search) {
    running_ = search;
    return fmt::format(
        "it is not known yet who has /dev/pseudo_lock/{} open; process {} is being "
        "examined",
        name, search->looking_at.load());
  };
  // A search may take longer than anybody waits: its result serves the next question.
  if (const std::shared_ptr<Search> earlier = running_) {
    const std::lock_guard lock(earlier->mutex);
    if (!earlier->done) return not_yet(earlier);
    if (earlier->name == name && std::chrono::steady_clock::now() - earlier->end < fresh)
      return answer_of(*earlier);
  }
  const auto search = std::make_shared<Search>();
  search->proc = proc_;
  search->name = name;
  search->device = *device;
  search->first = last_holder_;
  try {
    std::thread([search] { search->run(); }).detach();
  } catch (const std::system_error& error) {
    return fmt::format("it cannot be seen who has /dev/pseudo_lock/{} open: {}", name,
                       error.what());
  }
  std::unique_lock lock(search->mutex);
  if (!search->finished.wait_for(lock, max_wait_, [&] { return search->done; }))
    return not_yet(search);
  return answer_of(*search);
}

}  // namespace rdtd::proc
