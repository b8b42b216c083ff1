// history: a recording as curves.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "history_html.hpp"
#include "html.hpp"
#include "output.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/observe/series.hpp"
#include "recording_source.hpp"
#include "sparkline.hpp"
#include "time_point.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

using observe::Curve;
using observe::Series;

// More points than that show nothing more, and a file with many groups must not cost their square.
constexpr size_t widest_curve = 32, narrowest_curve = 8, points_of_picture = 400,
                 most_points = 1000;
constexpr double mib = 1 << 20;

// Of all curves of one kind, so that those of several groups can be compared.
double most_of(const std::vector<Series>& all, Curve Series::* curve) {
  double out = 0;
  for (const Series& series : all)
    if (const auto extent = observe::extent_of(series.*curve)) out = std::max(out, extent->most);
  return out;
}

std::string mean_text(const Curve& curve, bool rate) {
  const auto extent = observe::extent_of(curve);
  if (!extent) return "-";
  return rate ? fmt::format("{:.1f}", extent->mean / mib)
              : fmt::format("{:.2f}", extent->mean / mib);
}

std::string domain_of(const Series& series) {
  const std::string id = to_string(series.domain);
  return series.resource == "L3" ? id : series.resource + " " + id;
}

// The columns of a terminal's line that the names and numbers of the table leave to each of its two
// curves.
size_t curve_columns(const Context& context) {
  constexpr size_t others = 45;
  if (context.columns == 0) return widest_curve;
  const size_t room = context.columns - std::min<size_t>(context.columns, others);
  return std::clamp(room / 2, narrowest_curve, widest_curve);
}

void print_marks(const Context& context, const History& shown) {
  const std::vector<History::Mark>& marks = shown.marks;
  if (marks.empty()) return;
  const size_t first = marks.size() - std::min(marks.size(), marks_shown);
  print("\n");
  if (const size_t left_out = shown.marks_before + first; left_out > 0)
    print("{} before these:\n", counted(left_out, "mark"));
  for (size_t i = first; i < marks.size(); ++i)
    print("{}\n", wrapped(context,
                          fmt::format("{}  {}", time_text(marks[i].time_usec), marks[i].text), 21));
}

void print_curves(const Context& context, const History& shown) {
  const std::vector<Series>& all = shown.coarse;
  print("{}\n\n",
        wrapped(context,
                fmt::format("{}  {} to {}, {} of {:g} s", shown.read.header.host,
                            time_text(shown.read.from_usec), time_text(shown.read.to_usec),
                            counted(shown.read.samples, "sample"), shown.read.header.interval),
                2));
  const double most_occupancy = most_of(all, &Series::occupancy);
  const double most_traffic = most_of(all, &Series::traffic);
  std::vector<std::vector<std::string>> rows;
  for (const Series& series : all) {
    // A package has counters, but neither of these.
    if (!observe::extent_of(series.occupancy) && !observe::extent_of(series.traffic) &&
        series.resource == "PERF_PKG")
      continue;
    rows.push_back(
        {group_label(series.group), domain_of(series), mean_text(series.occupancy, false),
         sparkline(series.occupancy, most_occupancy, context.utf8), mean_text(series.traffic, true),
         sparkline(series.traffic, most_traffic, context.utf8)});
  }
  const Column occupancy{.name = "OCCUPANCY", .whole = true},
      traffic{.name = "TRAFFIC", .whole = true};
  print_table(context,
              {{"GROUP"}, {"DOMAIN", true}, {"MiB", true}, occupancy, {"MiB/s", true}, traffic},
              rows);
  print("\n{}\n",
        wrapped(context,
                fmt::format("The highest bar is {:.2f} MiB, and {:.1f} MiB/s. A blank is a gap: no "
                            "number, or no such group.",
                            most_occupancy / mib, most_traffic / mib),
                0));
  if (shown.read.cut_off) print("The last sample is cut off, and left out.\n");
  print_marks(context, shown);
}

int report_no_counters(const verbs::RecordingSource& source, const ReadRecording& read) {
  note("rdtctl: {}: no group has a counter in {}\n",
       source.file.empty() ? "the history" : source.file, counted(read.samples, "sample"));
  return Exit::failed;
}

JsonValue json_of(const Curve& curve) {
  JsonValue out = JsonValue::array();
  for (const auto& value : curve) out.push_back(value ? JsonValue(*value) : JsonValue());
  return out;
}

void print_as_json(const Context& context, const History& shown) {
  JsonValue series = JsonValue::array(), marks = JsonValue::array();
  for (const Series& one : shown.coarse)
    series.push_back({{"group", group_label(one.group)},
                      {"resource", one.resource},
                      {"domain", static_cast<uint32_t>(one.domain)},
                      {"occupancy_bytes", json_of(one.occupancy)},
                      {"total_bytes_per_second", json_of(one.traffic)}});
  for (const History::Mark& mark : shown.marks)
    marks.push_back({{"time_usec", mark.time_usec}, {"text", mark.text}});
  print_json(context, {{"host", shown.read.header.host},
                       {"from_usec", shown.read.from_usec},
                       {"to_usec", shown.read.to_usec},
                       {"samples", shown.read.samples},
                       {"cut_off", shown.read.cut_off},
                       {"series", std::move(series)},
                       {"marks", std::move(marks)}});
}

std::expected<History, int> read(const Context& context, const verbs::HistoryOptions& options) {
  History out;
  LastFound<History::Mark> marks;
  std::optional<observe::SeriesBuilder> coarse, fine;
  std::optional<uint64_t> begin_usec;
  const size_t points = context.json != Json::off ? most_points : curve_columns(context);
  auto recording = read_samples(
      context, options.source, [&](const observe::Header& header, const observe::Sample& sample) {
        if (!begin_usec) {
          begin_usec = out.begin_usec = sample.monotonic_usec;
          coarse.emplace(points, header.interval);
          fine.emplace(points_of_picture, header.interval);
        }
        out.seconds = static_cast<double>(sample.monotonic_usec - *begin_usec) / 1e6;
        coarse->add(header, sample);
        if (!options.html.empty()) fine->add(header, sample);
        for (const std::string& text : sample.marks)
          marks.add({sample.time_usec, out.seconds, text});
      });
  if (!recording) return std::unexpected(recording.error());
  out.marks = marks.take();
  out.marks_before = marks.left_out();
  out.read = std::move(*recording);
  out.coarse = coarse->series();
  out.fine = fine->series();
  return out;
}

}  // namespace

int verbs::history(const Context& context, const HistoryOptions& options) {
  const auto html = HtmlFile::open(options.html);
  if (!html) return html.error();
  std::error_code unknown;
  if (std::filesystem::equivalent(options.html, options.source.file, unknown)) {
    note("rdtctl: {} is the recording itself: --html takes the name of a new file\n", options.html);
    return Exit::usage;
  }
  auto shown = read(context, options);
  if (!shown) return shown.error();
  if (shown->coarse.empty() && options.group.empty())
    return report_no_counters(options.source, shown->read);
  std::vector<std::string> known;
  for (const Series& series : shown->coarse) known.push_back(group_label(series.group));
  for (std::vector<Series>* all : {&shown->coarse, &shown->fine})
    std::erase_if(*all, [&](const Series& series) {
      return !options.group.empty() && group_label(series.group) != options.group;
    });
  if (shown->coarse.empty()) return report_no_group(options.source, options.group, known);
  if (!options.html.empty()) {
    auto found = find_contention(context, options.source, options.group);
    if (!found) return found.error();
    const std::string page = history_html(*shown, *std::move(found), origin_of(context));
    // The recording of rdtd-observer is not for everybody, and the caller's umask does not know
    // that.
    const mode_t mode = options.source.file.empty() ? 0600 : 0666;
    if (const int failed = html->write(page, mode); failed != Exit::ok) return failed;
  }
  if (context.json != Json::off && shown->marks_before > 0) warn_of_more("marks");
  if (context.json != Json::off)
    print_as_json(context, *shown);
  else
    print_curves(context, *shown);
  return Exit::ok;
}

}  // namespace rdtd
