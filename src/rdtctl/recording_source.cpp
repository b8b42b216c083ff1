#include "recording_source.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>

#include "print.hpp"
#include "rdtd/base/clock.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"
#include "rdtd/policy/search.hpp"
#include "time_point.hpp"

namespace rdtd {

namespace {

std::expected<Period, int> period_of(const verbs::RecordingSource& source) {
  const uint64_t now = clock_usec(CLOCK_REALTIME);
  Period out;
  for (const auto& [text, to] :
       {std::pair(&source.since, &out.since_usec), std::pair(&source.until, &out.until_usec)}) {
    if (text->empty()) continue;
    const auto usec = parse_time(*text, now);
    if (!usec) {
      note("rdtctl: {}\n", usec.error());
      return std::unexpected(static_cast<int>(Exit::usage));
    }
    *to = *usec;
  }
  if (!source.since.empty() && !source.until.empty() && out.until_usec < out.since_usec) {
    note("rdtctl: --until is a time before --since\n");
    return std::unexpected(static_cast<int>(Exit::usage));
  }
  return out;
}

std::expected<ReadRecording, int> read_files(const Result<Directory>& directory,
                                             const Period& period, const UseSample& use) {
  if (!directory) return std::unexpected(report_file(directory.error()));
  auto read = read_ring(*directory, period, use);
  if (!read) return std::unexpected(report_file(read.error()));
  return std::move(*read);
}

std::expected<ReadRecording, int> read_file(const verbs::RecordingSource& source,
                                            const Period& period, const UseSample& use) {
  const std::string& file = source.file;
  if (file == "-")
    return std::unexpected(report_file({"open", "-", 0, "a recording is read from a file only"}));
  const std::filesystem::path path(file);
  // A copy of what rdtd-observer keeps.
  if (std::error_code unknown; std::filesystem::is_directory(path, unknown))
    return read_files(Directory::open(file), period, use);
  const std::string parent = path.parent_path().string();
  const auto directory = Directory::open(parent.empty() ? "." : parent);
  if (!directory) return std::unexpected(report_file(directory.error()));
  auto read = read_recording(*directory, path.filename().string(), period, use);
  if (read) return std::move(*read);
  Unreadable bad = std::move(read.error());
  bad.error.path = file;
  if (bad.error.code == ENOENT && parse_time(file, clock_usec(CLOCK_REALTIME)))
    bad.error.detail = fmt::format("a time is given by -S {}", file);
  else if (bad.error.code == ENOENT && parent.empty() && source.has_group && !file.contains('.'))
    bad.error.detail = fmt::format("a group is named by -g {}", file);
  if (bad.why.empty()) return std::unexpected(report_file(bad.error));
  note("rdtctl: {}\n", bad.text());
  return std::unexpected(static_cast<int>(Exit::failed));
}

// Whether the policy turns the recording off.
bool keeps_no_history(const Context& context) {
  return parse_policy(find_policy_files(context.root)).policy.observer.record_bytes == 0;
}

constexpr const char* no_history =
    "record = \"0\" in [observer] of the policy: nothing is recorded, and 'rdtctl status' shows "
    "the contention of the last hour";

std::expected<ReadRecording, int> read_kept(const Context& context, const Period& period,
                                            const UseSample& use) {
  const std::string path = state_directory(context) + "/history";
  const auto directory = Directory::open_untrusted(path);
  if (!directory && directory.error().code == ENOENT) {
    note("rdtctl: {}\n", keeps_no_history(context)
                             ? no_history
                             : "nothing is recorded here: systemctl enable --now rdtd-observer, or "
                               "name a file of rdtctl record");
    return std::unexpected(static_cast<int>(Exit::failed));
  }
  return read_files(directory, period, use);
}

std::expected<ReadRecording, int> read_source(const Context& context,
                                              const verbs::RecordingSource& source,
                                              const Period& period, const UseSample& use) {
  return source.file.empty() ? read_kept(context, period, use) : read_file(source, period, use);
}

int report_none(const Context& context, const verbs::RecordingSource& source,
                const ReadRecording& read) {
  const std::string what = source.file.empty() ? "the history" : source.file;
  const bool asked = !source.since.empty() || !source.until.empty();
  if (source.file.empty() && keeps_no_history(context)) {
    note("rdtctl: {}\n", no_history);
    return Exit::failed;
  }
  if (!asked) {
    note("rdtctl: {} has no sample yet{}\n", what,
         source.file.empty()
             ? ": rdtd-observer writes them every 5 s, or at each interval if that is longer"
             : "");
    return Exit::failed;
  }
  if (!read.all)
    note("rdtctl: {} has no sample of that time\n", what);
  else
    note("rdtctl: {} has no sample of that time: its first is of {}, its last of {}\n", what,
         time_text(read.all->from_usec), time_text(read.all->to_usec));
  return Exit::failed;
}

}  // namespace

void warn_of_more(const std::string& what) {
  note("rdtctl: warning: there are more than {0} {1}: only the last ones are shown\n", most_found,
       what);
}

int report_no_group(const verbs::RecordingSource& source, const std::string& group,
                    const std::vector<std::string>& known) {
  const bool kept = source.file.empty();
  auto nearest = nearest_name(group, known);
  if (!nearest) nearest = nearest_name(lower(group), known);
  note("rdtctl: {} has no group '{}'; {}\n", kept ? "the history" : source.file, group,
       nearest ? did_you_mean(*nearest)
               : fmt::format("'rdtctl history{}{}' names those that it has", kept ? "" : " ",
                             source.file));
  return Exit::failed;
}

std::expected<ReadRecording, int> read_samples(const Context& context,
                                               const verbs::RecordingSource& source,
                                               const UseSample& use, uint64_t lead_usec) {
  auto period = period_of(source);
  if (period) period->lead_usec = lead_usec;
  if (!period) return std::unexpected(period.error());
  auto read = read_source(context, source, *period, use);
  if (read)
    for (const std::string& problem : read->problems) note("rdtctl: warning: {}\n", problem);
  if (!read || read->samples > 0) return read;
  return std::unexpected(report_none(context, source, *read));
}

}  // namespace rdtd
