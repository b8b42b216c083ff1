// record: what the groups use, a sample at each interval, into a file for `history`.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "interruption.hpp"
#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/schemata.hpp"
#include "rdtd/observe/recording.hpp"
#include "rdtd/resctrl/read.hpp"
#include "usage_view.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

timespec now_of(clockid_t clock) {
  timespec time{};
  (void)::clock_gettime(clock, &time);
  return time;
}

uint64_t microseconds(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<uint64_t>(time.tv_nsec) / 1000;
}

// The file is the caller's own: what is there already is another recording, or something else.
Result<UniqueFd> create(const std::string& file) {
  const std::filesystem::path path(file);
  const std::string parent = path.parent_path().string();
  const auto directory = Directory::open(parent.empty() ? "." : parent);
  if (!directory) return std::unexpected(directory.error());
  auto created = directory->open_file(path.filename().string(),
                                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!created) return std::unexpected(Error{"create", file, created.error().code, {}});
  return created;
}

Result<void> append(const UniqueFd& file, const std::string& name, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return std::unexpected(Error{"write", name, errno, {}});
    text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

class Recorder {
 public:
  explicit Recorder(Tree tree) : tree_(std::move(tree)) {}

  Result<observe::Sample> sample() {
    observe::Sample out;
    out.monotonic_usec = microseconds(now_of(CLOCK_MONOTONIC));
    out.time_usec = microseconds(now_of(CLOCK_REALTIME));
    auto counters = tree_.read_counters();
    if (!counters) return std::unexpected(counters.error());
    out.counters = std::move(*counters);
    std::map<std::string, std::string> now;
    for (const DomainCounters& of : out.counters)
      if (const std::string label = group_label(of.group);
          !is_mon_group(of.group) && !now.contains(label))
        now.emplace(label, schemata_of(of.group));
    for (const auto& [group, text] : now)
      if (const auto known = schemata_.find(group);
          known == schemata_.end() || known->second != text)
        out.schemata.emplace(group, text);
    for (const auto& [group, text] : schemata_)
      if (!now.contains(group)) out.schemata.emplace(group, "");
    schemata_ = std::move(now);
    return out;
  }

 private:
  [[nodiscard]] std::string schemata_of(const std::string& group) const {
    const auto text = tree_.filesystem().read(resctrl::file_of(group, "schemata"));
    if (!text) return "";
    const auto parsed = parse_schemata(*text);
    return parsed ? schemata_line(*parsed) : "";
  }

  Tree tree_;
  std::map<std::string, std::string> schemata_;  // in the last sample
};

observe::Header header_for(double interval) {
  utsname system{};
  (void)::uname(&system);
  return {system.nodename, system.release, RDTD_VERSION, interval};
}

// Until the time of CLOCK_MONOTONIC, or a signal.
void sleep_until(uint64_t usec) {
  const timespec until{static_cast<time_t>(usec / 1'000'000),
                       static_cast<long>(usec % 1'000'000 * 1000)};
  if (!interrupted()) (void)::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

}  // namespace

int verbs::record(const Context& context, const RecordOptions& options) {
  auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  if (!monitors(context, *tree)) return Exit::no_resctrl;
  const auto file = create(options.file);
  if (!file) return report_file(file.error());
  note_interruptions();
  Recorder recorder(std::move(*tree));
  auto written = append(*file, options.file, header_line(header_for(options.interval)));
  const auto step = static_cast<uint64_t>(std::llround(options.interval * 1e6));
  const uint64_t begin = microseconds(now_of(CLOCK_MONOTONIC));
  const uint64_t end =
      options.seconds > 0 ? begin + static_cast<uint64_t>(options.seconds * 1e6) : UINT64_MAX;
  size_t samples = 0;
  for (uint64_t due = begin; written && !interrupted() && due <= end;) {
    const auto sample = recorder.sample();
    if (!sample) return report(sample.error());
    written = append(*file, options.file, sample_line(*sample));
    if (written) samples++;
    // A sample that took longer than the interval leaves some out.
    const uint64_t now = microseconds(now_of(CLOCK_MONOTONIC));
    due += std::max<uint64_t>(1, (now - due + step - 1) / step) * step;
    if (due <= end) sleep_until(due);
  }
  if (!written) return report_file(written.error());
  note("{} of {:g} s in {}: rdtctl history {}\n", counted(samples, "sample"), options.interval,
       options.file, options.file);
  return Exit::ok;
}

}  // namespace rdtd
