// record: what the groups use, a sample at each interval, into a file for `history`.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "argument_vector.hpp"
#include "interruption.hpp"
#include "rdtd/base/directory.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/observer/ceilings.hpp"
#include "rdtd/observer/sampler.hpp"
#include "usage_view.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// The file is the caller's own: what is there already is another recording, or something else.
class NewFile {
 public:
  [[nodiscard]] static Result<NewFile> create(const std::string& file) {
    const std::filesystem::path path(file);
    const std::string parent = path.parent_path().string(), name = path.filename().string();
    auto directory = Directory::open(parent.empty() ? "." : parent);
    if (!directory) return std::unexpected(directory.error());
    auto created = directory->open_file(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (!created) return std::unexpected(Error{"create", file, created.error().code, {}});
    return NewFile(file, name, std::move(*directory), std::move(*created));
  }
  [[nodiscard]] Result<void> append(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(fd_.get(), text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return std::unexpected(Error{"write", file_, errno, {}});
      text.remove_prefix(static_cast<size_t>(written));
    }
    return {};
  }
  // So that it is not in the way of the next attempt. In the directory in which it was made: that
  // may have another name by now. What is there under its name may be another file too.
  void remove() const {
    struct stat own{}, found{};
    if (::fstat(fd_.get(), &own) == 0 &&
        ::fstatat(directory_.fd(), name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
        own.st_dev == found.st_dev && own.st_ino == found.st_ino)
      (void)::unlinkat(directory_.fd(), name_.c_str(), 0);
  }

 private:
  NewFile(std::string file, std::string name, Directory directory, UniqueFd fd)
      : file_(std::move(file)),
        name_(std::move(name)),
        directory_(std::move(directory)),
        fd_(std::move(fd)) {}
  std::string file_, name_;  // as it was given, and in the directory
  Directory directory_;
  UniqueFd fd_;
};

// The program whose use is recorded, where one is given. It has rdtctl's groups and terminal.
class Command {
 public:
  [[nodiscard]] static Result<Command> start(std::vector<std::string> words) {
    Command out;
    out.pid_ = ::fork();
    if (out.pid_ < 0) return errno_error("start", words.front());
    if (out.pid_ == 0) {
      ArgumentVector arguments(std::move(words));
      const int error = arguments.execute();
      note("rdtctl: {}\n", arguments.failure(error));
      ::_exit(error == ENOENT ? 127 : 126);
    }
    return out;
  }
  [[nodiscard]] bool ended() {
    if (!status_) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    }
    return status_.has_value();
  }
  // As a shell's $?. It gets the signal that ends the recording too.
  [[nodiscard]] int wait() {
    int status = 0;
    for (bool told = false; !status_ && ::waitpid(pid_, &status, 0) != pid_;) {
      if (errno != EINTR) break;
      if (interrupted() && !std::exchange(told, true)) (void)::kill(pid_, SIGTERM);
    }
    const int last = status_.value_or(status);
    return WIFSIGNALED(last) ? 128 + WTERMSIG(last) : WEXITSTATUS(last);
  }
  void end() const {
    if (!status_) (void)::kill(pid_, SIGTERM);
  }

 private:
  Command() = default;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

// Until the time of CLOCK_MONOTONIC, or a signal: the end of the command is one.
void sleep_until(uint64_t usec) {
  const timespec until{static_cast<time_t>(usec / 1'000'000),
                       static_cast<long>(usec % 1'000'000 * 1000)};
  if (!interrupted()) (void)::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

// Counts the samples.
Result<void> record_until_end(Sampler& sampler, size_t& samples, const NewFile& file,
                              const verbs::RecordOptions& options,
                              std::optional<Command>& command) {
  const auto step = static_cast<uint64_t>(std::llround(options.interval * 1e6));
  const uint64_t begin = clock_usec(CLOCK_MONOTONIC);
  const uint64_t end =
      options.seconds > 0 ? begin + static_cast<uint64_t>(options.seconds * 1e6) : UINT64_MAX;
  bool over = false;
  for (uint64_t due = begin; !interrupted() && due <= end && !over; samples++) {
    // The last sample is taken after the end of the command, so that it has all that this used.
    over = command && command->ended();
    const auto sample = sampler.sample();
    if (!sample) return std::unexpected(sample.error());
    if (auto written = file.append(sample_line(*sample)); !written)
      return std::unexpected(written.error());
    // A sample that took longer than the interval leaves some out.
    const uint64_t now = clock_usec(CLOCK_MONOTONIC);
    due += std::max<uint64_t>(1, (now - due + step - 1) / step) * step;
    if (due <= end && !over && !(command && command->ended())) sleep_until(due);
  }
  return {};
}

}  // namespace

int verbs::record(const Context& context, const RecordOptions& options) {
  auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  if (!monitors(context, *tree)) return Exit::no_resctrl;
  const auto file = NewFile::create(options.file);
  if (!file) return report_file(file.error());
  note_interruptions();
  Sampler sampler(std::move(*tree));
  observe::Header header = sampler.header(options.interval);
  if (auto ceilings = read_ceilings(state_directory(context), header))
    header.ceilings = std::move(*ceilings);
  else
    note("rdtctl: warning: {}, ignoring the measured ceilings\n", ceilings.error().text());
  header.mba_mbps = mount_options(context, sampler.tree()).mba_MBps;
  if (const auto begun = file->append(header_line(header)); !begun) {
    file->remove();
    return report_file(begun.error());
  }
  // Before the command does anything.
  const auto tried = sampler.sample();
  if (!tried || tried->counters.empty()) {
    file->remove();
    return tried ? report_file({"record", options.file, 0,
                                "no group has counters: 'rdtctl doctor' says what the machine has"})
                 : report_file(tried.error());
  }
  sampler.begin_recording();
  std::optional<Command> command;
  if (!options.command.empty()) {
    note_child_ends();
    auto started = Command::start(options.command);
    if (!started) {
      file->remove();
      return report(started.error());
    }
    command = *started;
  }
  size_t samples = 0;
  const auto recorded = record_until_end(sampler, samples, *file, options, command);
  if (!recorded) {
    if (samples == 0) file->remove();
    // The command is not left behind, nor does it run on without being recorded.
    if (command) command->end();
    const int exit = report_file(recorded.error());
    if (command) (void)command->wait();
    return exit;
  }
  note("{} of {:g} s in {}: rdtctl history {}\n", counted(samples, "sample"), options.interval,
       options.file, options.file);
  if (command && interrupted()) command->end();
  return command ? command->wait() : Exit::ok;
}

}  // namespace rdtd
