#include "rdtd/proc/device_holders.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <system_error>
#include <thread>

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

bool has_descriptor(const Directory& process, dev_t device) {
  const auto descriptors = process.open_directory("fd");
  const auto entries = descriptors ? descriptors->list() : std::unexpected(descriptors.error());
  if (!entries) return false;
  for (const Directory::Entry& entry : *entries) {
    // Without a question to a file system that somebody's process serves.
    struct statx status{};
    if (::statx(descriptors->fd(), entry.name.c_str(), AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
                STATX_TYPE, &status) == 0 &&
        S_ISCHR(status.stx_mode) && makedev(status.stx_rdev_major, status.stx_rdev_minor) == device)
      return true;
  }
  return false;
}

}  // namespace

struct DeviceHolders::Search {
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  std::string holder;  // empty: nobody
  std::atomic<int> looking_at = 0;
  std::string proc, name;
  dev_t device = 0;

  void run() {
    (void)::prctl(PR_SET_NAME, "rdtd-holders");
    std::string found = look();
    const std::lock_guard lock(mutex);
    holder = std::move(found);
    done = true;
    finished.notify_one();
  }

  std::string look() {
    const auto directory = Directory::open(proc);
    const auto entries = directory ? directory->list() : std::unexpected(directory.error());
    if (!entries) return entries.error().text();
    const std::string in_devices = number_of_devtmpfs(*directory);
    const std::string path = "/pseudo_lock/" + name;
    const auto maps_it = [&](const Directory& process) {
      const auto maps = process.read("maps");
      if (maps)
        for (const std::string_view line : split(*maps, '\n'))
          if (line.ends_with(path) && line.contains(in_devices)) return true;
      return false;
    };
    for (const Directory::Entry& entry : *entries) {
      const auto pid = parse_unsigned<unsigned>(entry.name);
      if (!pid) continue;
      looking_at = static_cast<int>(*pid);
      const auto process = directory->open_directory(entry.name);
      if (process && (has_descriptor(*process, device) || maps_it(*process)))
        return fmt::format("process {} ({}) has /dev/pseudo_lock/{} open", *pid,
                           printable(trim(process->read("comm").value_or(""))), name);
    }
    return {};
  }
};

std::optional<std::string> DeviceHolders::find(const std::string& name) {
  const auto device = number_of(devices_, name);
  if (!device) return std::nullopt;
  const auto not_yet = [&](const std::shared_ptr<Search>& search) {
    running_ = search;
    return fmt::format("process {} keeps rdtd from seeing who has /dev/pseudo_lock/{} open",
                       search->looking_at.load(), name);
  };
  if (running_) {
    const std::lock_guard lock(running_->mutex);
    if (!running_->done) return not_yet(running_);
  }
  const auto search = std::make_shared<Search>();
  search->proc = proc_;
  search->name = name;
  search->device = *device;
  try {
    std::thread([search] { search->run(); }).detach();
  } catch (const std::system_error& error) {
    return fmt::format("it cannot be seen who has /dev/pseudo_lock/{} open: {}", name,
                       error.what());
  }
  std::unique_lock lock(search->mutex);
  if (!search->finished.wait_for(lock, max_wait_, [&] { return search->done; }))
    return not_yet(search);
  running_.reset();
  return search->holder.empty() ? std::nullopt : std::optional(search->holder);
}

}  // namespace rdtd::proc
