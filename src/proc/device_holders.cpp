#include "rdtd/proc/device_holders.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "rdtd/base/clock.hpp"
#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/proc/command_lines.hpp"
#include "rdtd/proc/parse.hpp"
#include "rdtd/proc/processes.hpp"

namespace rdtd::proc {

namespace {

// "510:127". ENOENT: there is no such device.
Result<dev_t> number_of(const std::string& devices, const std::string& name) {
  const auto directory = Directory::open(devices + "/" + name);
  const auto text = directory ? directory->read("dev") : std::unexpected(directory.error());
  if (!text) return std::unexpected(text.error());
  const auto parts = split(trim(*text), ':');
  const auto high = parse_unsigned<unsigned>(parts.front());
  const auto low = parse_unsigned<unsigned>(parts.back());
  if (parts.size() != 2 || !high || !low)
    return std::unexpected(Error{"parse", directory->path_of("dev"), EBADMSG, {}});
  return makedev(*high, *low);
}

// The device number of the filesystem that has the devices, as /proc/PID/maps writes it; empty if
// there is none.
Result<std::string> number_of_devtmpfs(const Directory& proc) {
  const auto line = proc.find_line("1/mountinfo", [](std::string_view mount) {
    return mount.contains(" - devtmpfs ");  // proc_pid_mountinfo(5)
  });
  if (!line) return std::unexpected(line.error());
  const auto words = split(*line, ' ');
  if (words.size() < 3) return "";
  const auto numbers = split(words[2], ':');
  const auto high = parse_unsigned<unsigned>(numbers.front());
  const auto low = parse_unsigned<unsigned>(numbers.back());
  return high && low ? fmt::format("{:02x}:{:02x}", *high, *low) : "";
}

// A line of /proc/PID/fdinfo/FD.
std::optional<uint64_t> number_in(std::string_view info, std::string_view key, int base = 10) {
  for (const std::string_view line : split(info, '\n'))
    if (line.starts_with(key)) return parse_unsigned<uint64_t>(trim(line.substr(key.size())), base);
  return std::nullopt;
}

// Without a question to a file system that somebody's process serves, and without what opened only
// the name (O_PATH): that anybody may.
bool is_open(const Directory& process, const Directory& descriptors, const std::string& number,
             dev_t device) {
  constexpr uint64_t path_only = O_PATH;
  struct statx node{};
  if (::statx(descriptors.fd(), number.c_str(), AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
              STATX_TYPE | STATX_INO | STATX_MNT_ID, &node) != 0 ||
      !S_ISCHR(node.stx_mode) || makedev(node.stx_rdev_major, node.stx_rdev_minor) != device)
    return false;
  const auto info = process.read("fdinfo/" + number);  // proc_pid_fdinfo(5)
  if (!info) return !ended(info.error());
  if ((number_in(*info, "flags:", 8).value_or(0) & path_only) != 0) return false;
  // Another file may have the number by now: a program can exchange them all the time.
  const auto mount = number_in(*info, "mnt_id:"), inode = number_in(*info, "ino:");
  const bool other_mount =
      mount && (node.stx_mask & STATX_MNT_ID) != 0 && *mount != node.stx_mnt_id;
  return !other_mount && (!inode || *inode == node.stx_ino);
}

using Clock = std::chrono::steady_clock;
using Time = std::chrono::nanoseconds;

// When a look at a process must end, by a clock; never without one.
struct End {
  Time (*now)() = nullptr;
  Time at{};
  [[nodiscard]] bool over() const { return now != nullptr && now() >= at; }
};

std::unexpected<Error> no_time_for(const Directory& directory) {
  return std::unexpected(Error{"read", directory.path(), EBUSY, {}});
}

// EBUSY: there was no time for all of them.
Result<bool> has_descriptor(const Directory& process, dev_t device, const End& end) {
  const auto descriptors = process.open_directory("fd");
  if (!descriptors) return std::unexpected(descriptors.error());
  bool in_time = true;
  const auto found = descriptors->any_name([&](const std::string& name) {
    in_time = !end.over();
    return !in_time || is_open(process, *descriptors, name, device);
  });
  if (!in_time) return no_time_for(*descriptors);
  return found;
}

// A line of /proc/PID/maps: "ADDRESS PERMISSIONS OFFSET DEVICE INODE   PATH". The path is the
// user's choice, apart from its end; it contains no newline.
bool maps_device(std::string_view line, std::string_view filesystem, std::string_view path) {
  const auto words = split(line, ' ');
  return words.size() > 5 && (filesystem.empty() || words[3] == filesystem) && line.ends_with(path);
}

// The line that maps the device, or nothing.
Result<std::string> find_map(const Directory& process, const std::string& filesystem,
                             const std::string& path) {
  return process.find_line(
      "maps", [&](std::string_view line) { return maps_device(line, filesystem, path); });
}

// Capabilities and access control lists aside.
bool may_open(const Credentials& process, const struct stat& node) {
  const auto has = [](const auto& ids, uint32_t id) {
    return std::ranges::find(ids, id) != ids.end();
  };
  return process.users.empty() || has(process.users, 0) || has(process.users, node.st_uid) ||
         ((node.st_mode & 0060U) != 0 && has(process.groups, node.st_gid)) ||
         (node.st_mode & 0006U) != 0;
}

}  // namespace

// Reads of memory maps. Who could not open the device takes no place from the others.
struct DeviceHolders::Maps {
  static constexpr std::chrono::milliseconds patience{200};
  CommandLines of_possible_holders{patience, patience}, of_others{patience, patience};
};

// How long the processes of those who could not open the device are looked at, by one clock.
class TimeOfOthers {
 public:
  TimeOfOthers(Time (*clock)(), Time of_user) : now_(clock), of_user_(of_user) {}
  [[nodiscard]] Time now() const { return now_(); }
  // When a look at a process of the user must end that begins then.
  [[nodiscard]] End end(uid_t user, Time begin) const {
    const auto spent = of_each_.find(user);
    const Time left = of_user_ - (spent == of_each_.end() ? Time(0) : spent->second);
    return {now_, begin + std::min(left, of_all * of_user_ - all_)};
  }
  void spend(uid_t user, Time time) {
    of_each_[user] += time;
    all_ += time;
  }

 private:
  // As many as of this number of users. A user can have the ids of many.
  static constexpr int of_all = 10;
  Time (*now_)();
  Time of_user_, all_{0};
  std::map<uid_t, Time> of_each_;
};

struct DeviceHolders::Search {
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  Clock::time_point done_at;                    // when it was done
  std::optional<Clock::time_point> asked = {};  // for its answer, last
  std::string answer;                           // empty: nobody
  std::atomic<unsigned> looking_at = 0;
  std::string proc, name;
  std::shared_ptr<Maps> maps;
  std::string filesystem;  // that has the devices
  std::chrono::milliseconds of_user{0};
  dev_t device = 0;
  unsigned first = 0;  // a process to look at first, if not 0
  unsigned holder = 0;
  // Reads that a busy machine kept from beginning, in all: users can keep it busy.
  int tries = 6;
  static constexpr std::chrono::milliseconds between_tries{200};
  // A map is waited for by the clock on the wall, and one that is held up takes all the patience.
  static constexpr int of_maps = 3;
  // A shorter read of `status` counts as none: else so would those of a user with many processes.
  static constexpr std::chrono::milliseconds lengthy{1};

  void run() {
    (void)::prctl(PR_SET_NAME, "rdtd-holders");
    std::string found = look();
    const std::lock_guard lock(mutex);
    answer = std::move(found);
    done_at = Clock::now();
    done = true;
    finished.notify_one();
  }

  [[nodiscard]] std::string not_yet(const std::string& asked_for) const {
    return fmt::format(
        "it is not known yet who has /dev/pseudo_lock/{} open; process {} is being examined",
        asked_for, looking_at.load());
  }

  [[nodiscard]] std::string text(const Directory& all, unsigned pid, const Result<bool>& seen) {
    holder = pid;
    const auto comm = all.read(fmt::format("{}/comm", pid));
    const std::string process = comm ? fmt::format("process {} ({})", pid, printable(trim(*comm)))
                                     : fmt::format("process {}", pid);
    if (seen) return fmt::format("{} has /dev/pseudo_lock/{} open", process, name);
    if (CommandLines::machine_was_busy(seen.error())) return not_yet(name);
    if (seen.error().code != EAGAIN)
      return fmt::format("{} cannot be examined: it may have /dev/pseudo_lock/{} open", process,
                         name);
    return fmt::format(
        "{} keeps its memory map from being read, and may have /dev/pseudo_lock/{} open: end it, "
        "or remove the region's directory with rmdir(1)",
        process, name);
  }

  // A process as the first look has seen it: to read its `status` again could take long.
  struct Candidate {
    unsigned pid;
    uid_t user = 0;                   // the real one
    bool first_thread_ended = false;  // and others go on
  };

  // The threads of a process share its memory and, nearly always, its descriptors. That of a
  // process whose first thread has ended are those of the others. EBUSY: there was no time.
  template <class Look>
  static Result<bool> look_at(const Directory& all, const Candidate& candidate, const End& end,
                              const Look& look) {
    auto opened = all.open_directory(std::to_string(candidate.pid));
    if (!opened) return std::unexpected(opened.error());
    const auto process = std::make_shared<const Directory>(std::move(*opened));
    Result<bool> seen = look(process);
    if (!seen || *seen || !candidate.first_thread_ended) return seen;
    const auto tasks = process->open_directory("task");
    if (!tasks) return std::unexpected(tasks.error());
    const auto stopped = tasks->any_name([&](const std::string& name) {
      if (end.over()) {
        seen = no_time_for(*tasks);
        return true;
      }
      auto task = tasks->open_directory(name);
      seen = task ? look(std::make_shared<const Directory>(std::move(*task)))
                  : std::unexpected(task.error());
      if (!seen && ended(seen.error())) seen = false;
      return !seen || *seen;
    });
    if (!stopped) return std::unexpected(stopped.error());
    return seen;
  }

  // The first of these processes that has the device open or, for all that can be seen, may.
  template <class Look>
  [[nodiscard]] std::string find(const Directory& all, const std::vector<Candidate>& candidates,
                                 const Look& look) {
    for (const Candidate& candidate : candidates) {
      looking_at = candidate.pid;
      const Result<bool> seen = look(candidate);
      if (seen ? *seen : !ended(seen.error())) return text(all, candidate.pid, seen);
    }
    return {};
  }

  // The owner of the device, as the first process sees it: the daemon's sandbox has no devices.
  [[nodiscard]] std::optional<struct stat> node() const {
    struct stat status{};
    const bool seen = ::stat((proc + "/1/root/dev/pseudo_lock/" + name).c_str(), &status) == 0;
    return seen ? std::optional(status) : std::nullopt;
  }

  [[nodiscard]] std::string unknown(const Error& error) const {
    return fmt::format("it cannot be seen who has /dev/pseudo_lock/{} open: {}", name,
                       error.text());
  }

  // Those of these processes that could open the device, and the others. Who has started a set-uid
  // program chose what it has open. So the real user counts, and only `status` names it.
  struct Candidates {
    std::vector<Candidate> possible, others;
  };
  [[nodiscard]] std::string sort(const Directory& all, const std::vector<Candidate>& processes,
                                 Candidates& out, TimeOfOthers& time) {
    const auto owned = node();
    return find(all, processes, [&](const Candidate& process) -> Result<bool> {
      const Time begin = time.now();
      const auto status = all.read(fmt::format("{}/status", process.pid));
      if (!status) return std::unexpected(status.error());
      Credentials ids = parse_credentials(*status);
      if (!ids.users.empty()) ids.users.resize(1);
      const Candidate candidate{process.pid, ids.users.empty() ? 0 : ids.users.front(),
                                first_thread_ended(*status)};
      const bool possible = !owned || may_open(ids, *owned);
      (possible ? out.possible : out.others).push_back(candidate);
      if (const Time took = time.now() - begin; !possible && took >= lengthy)
        time.spend(candidate.user, took);
      return false;
    });
  }

  // A process is not to be taken for a holder, or for none, because the machine was busy.
  template <class Look>
  [[nodiscard]] Result<bool> when_not_busy(const Look& look) {
    Result<bool> seen = look();
    for (; !seen && CommandLines::machine_was_busy(seen.error()) && tries > 0; tries--) {
      std::this_thread::sleep_for(between_tries);
      seen = look();
    }
    return seen;
  }

  [[nodiscard]] Result<bool> has_open(const Directory& all, const Candidate& candidate,
                                      const End& end) const {
    return look_at(all, candidate, end, [&](const std::shared_ptr<const Directory>& one) {
      return has_descriptor(*one, device, end);
    });
  }

  // `user`: who is charged for the reads.
  [[nodiscard]] Result<bool> has_map(CommandLines& reads, uid_t user, const Directory& all,
                                     const Candidate& candidate, const End& end) const {
    return look_at(all, candidate, end,
                   [&](const std::shared_ptr<const Directory>& one) -> Result<bool> {
                     const auto found =
                         reads.read(user, static_cast<pid_t>(candidate.pid), one->path_of("maps"),
                                    [one, number = filesystem, path = "/pseudo_lock/" + name] {
                                      return find_map(*one, number, path);
                                    });
                     if (!found) return std::unexpected(found.error());
                     return !found->empty();
                   });
  }

  // First all descriptors, then the maps: a process can hold up who reads its own.
  [[nodiscard]] std::string look_at_possible(const Directory& all,
                                             const std::vector<Candidate>& candidates) {
    std::string found = find(
        all, candidates, [&](const Candidate& candidate) { return has_open(all, candidate, {}); });
    if (!found.empty()) return found;
    return find(all, candidates, [&](const Candidate& candidate) {
      return when_not_busy(
          [&] { return has_map(maps->of_possible_holders, 0, all, candidate, {}); });
    });
  }

  // They may have it from another process, but if that cannot be seen in a limited time, they must
  // not keep a region that is none of theirs.
  template <class Look>
  [[nodiscard]] std::string find_in_time(const Directory& all,
                                         const std::vector<Candidate>& candidates,
                                         TimeOfOthers& time, const Look& look) {
    return find(all, candidates, [&](const Candidate& candidate) -> Result<bool> {
      const auto seen = when_not_busy([&]() -> Result<bool> {
        const Time begin = time.now();
        const End end = time.end(candidate.user, begin);
        if (end.at <= begin) return false;
        auto found = look(candidate, end);
        const bool once_more = !found && CommandLines::machine_was_busy(found.error()) && tries > 0;
        if (!once_more) time.spend(candidate.user, time.now() - begin);
        return found;
      });
      return !seen && held_up(seen.error()) ? false : seen;
    });
  }

  [[nodiscard]] std::string look_at_others(const Directory& all,
                                           const std::vector<Candidate>& candidates,
                                           TimeOfOthers& time) {
    std::string found = find_in_time(
        all, candidates, time,
        [&](const Candidate& candidate, const End& end) { return has_open(all, candidate, end); });
    if (!found.empty()) return found;
    TimeOfOthers of_all_maps([] { return Time(monotonic_nanoseconds()); }, of_maps * of_user);
    return find_in_time(all, candidates, of_all_maps,
                        [&](const Candidate& candidate, const End& end) {
                          return has_map(maps->of_others, candidate.user, all, candidate, end);
                        });
  }

  [[nodiscard]] std::string look() {
    const auto all = Directory::open_untrusted(proc);
    const auto entries = all ? all->list() : std::unexpected(all.error());
    if (!entries) return unknown(entries.error());
    const auto number = number_of_devtmpfs(*all);
    if (!number) return unknown(number.error());
    filesystem = *number;
    std::vector<Candidate> processes;
    if (first != 0) processes.push_back({.pid = first});
    for (const Directory::Entry& entry : *entries)
      if (const auto pid = parse_unsigned<unsigned>(entry.name)) processes.push_back({.pid = *pid});
    Candidates candidates;
    TimeOfOthers time(thread_cpu_time, of_user);
    std::string found = sort(*all, processes, candidates, time);
    if (found.empty()) found = look_at_possible(*all, candidates.possible);
    return found.empty() ? look_at_others(*all, candidates.others, time) : found;
  }
};

// The answer of a search, which is done.
std::optional<std::string> DeviceHolders::answer_of(const Search& search) {
  last_holder_ = search.holder;
  return search.answer.empty() ? std::nullopt : std::optional(search.answer);
}

// A search may take longer than anybody waits. Its result serves the next question about its
// device, and those that follow at once, since a load asks several times; meanwhile others may be
// examined.
std::shared_ptr<DeviceHolders::Search> DeviceHolders::known(const std::string& name) {
  const auto now = Clock::now();
  if (const std::shared_ptr<Search> search = running_) {
    const std::lock_guard lock(search->mutex);
    if (search->done) {
      known_[search->name] = search;
      running_.reset();
    }
  }
  std::erase_if(known_, [&](const auto& entry) {
    const Search& search = *entry.second;
    return now - search.done_at >= fresh || (search.asked && now - *search.asked >= same_load);
  });
  const auto found = known_.find(name);
  if (found == known_.end()) return nullptr;
  found->second->asked = now;
  return found->second;
}

std::optional<std::string> DeviceHolders::find(const std::string& name) {
  const auto device = number_of(devices_, name);
  if (!device && device.error().code == ENOENT) return std::nullopt;
  if (const auto search = known(name); search && device && search->device == *device)
    return answer_of(*search);
  if (running_) return running_->not_yet(name);
  const auto search = std::make_shared<Search>();
  search->proc = proc_;
  search->name = name;
  if (!device) return search->unknown(device.error());
  if (!maps_) maps_ = std::make_shared<Maps>();
  search->maps = maps_;
  search->device = *device;
  search->of_user = of_user_;
  search->first = last_holder_;
  try {
    std::thread([search] { search->run(); }).detach();
  } catch (const std::system_error& error) {
    return fmt::format("it cannot be seen who has /dev/pseudo_lock/{} open: {}", name,
                       error.what());
  }
  std::unique_lock lock(search->mutex);
  if (search->finished.wait_for(lock, max_wait_, [&] { return search->done; }))
    return answer_of(*search);
  running_ = search;
  return search->not_yet(name);
}

}  // namespace rdtd::proc
