// history: a recording as curves.
#include <fmt/format.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <set>
#include <string>

#include "html.hpp"
#include "output.hpp"
#include "plot.hpp"
#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/observe/series.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

using observe::Curve;
using observe::Series;

constexpr size_t most_bytes = size_t{1} << 30;
// More points than that show nothing more, and a file with many groups must not cost their square.
constexpr size_t curve_columns = 32, points_of_picture = 400, most_points = 1000;
constexpr double mib = 1 << 20;

std::string clock_text(uint64_t usec) {
  const auto time = static_cast<std::time_t>(usec / 1'000'000);
  std::array<char, 64> out{};
  std::tm local{};
  (void)std::strftime(out.data(), out.size(), "%F %T", ::localtime_r(&time, &local));
  return out.data();
}

// A column for each value, from the least possible, 0, to `most`. A gap is a blank.
std::string sparkline(const Context& context, const Curve& curve, double most) {
  static constexpr std::array<const char*, 8> blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::string_view ascii = "_.,-=+*#";
  std::string out;
  for (const auto& value : curve) {
    if (!value) {
      out += ' ';
      continue;
    }
    const double part = most > 0 ? *value / most : 0;
    const size_t level = std::min<size_t>(7, static_cast<size_t>(std::lround(part * 7)));
    if (context.utf8)
      out += blocks[level];
    else
      out += ascii[level];
  }
  return out;
}

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

void print_curves(const Context& context, const observe::Recording& recording,
                  const std::vector<Series>& all) {
  const uint64_t from = recording.samples.front().time_usec,
                 to = recording.samples.back().time_usec;
  print("{}  {} to {}, {} of {:g} s\n\n", recording.header.host, clock_text(from), clock_text(to),
        counted(recording.samples.size(), "sample"), recording.header.interval);
  const double most_occupancy = most_of(all, &Series::occupancy);
  const double most_traffic = most_of(all, &Series::traffic);
  std::vector<std::vector<std::string>> rows;
  for (const Series& series : all)
    rows.push_back(
        {group_label(series.group), domain_of(series), mean_text(series.occupancy, false),
         sparkline(context, series.occupancy, most_occupancy), mean_text(series.traffic, true),
         sparkline(context, series.traffic, most_traffic)});
  print_table(
      context,
      {{"GROUP"}, {"DOMAIN", true}, {"MiB", true}, {"OCCUPANCY"}, {"MiB/s", true}, {"TRAFFIC"}},
      rows);
  print(
      "\nThe highest bar is {:.2f} MiB, and {:.1f} MiB/s. A blank is a gap: no number, or no such "
      "group.\n",
      most_occupancy / mib, most_traffic / mib);
  if (recording.cut_off) print("The last sample is cut off, and left out.\n");
}

JsonValue json_of(const Curve& curve) {
  JsonValue out = JsonValue::array();
  for (const auto& value : curve) out.push_back(value ? JsonValue(*value) : JsonValue());
  return out;
}

void print_as_json(const Context& context, const observe::Recording& recording,
                   const std::vector<Series>& all) {
  JsonValue series = JsonValue::array();
  for (const Series& one : all)
    series.push_back({{"group", group_label(one.group)},
                      {"resource", one.resource},
                      {"domain", static_cast<uint32_t>(one.domain)},
                      {"occupancy_bytes", json_of(one.occupancy)},
                      {"total_bytes_per_second", json_of(one.traffic)}});
  print_json(context, {{"host", recording.header.host},
                       {"from_usec", recording.samples.front().time_usec},
                       {"to_usec", recording.samples.back().time_usec},
                       {"samples", recording.samples.size()},
                       {"cut_off", recording.cut_off},
                       {"series", std::move(series)}});
}

// One picture a domain and kind; the groups share its axes.
std::string picture(const std::vector<const Series*>& of_domain, Curve Series::* curve,
                    const std::string& unit, double seconds) {
  std::vector<double> values = {0};
  for (const Series* series : of_domain)
    for (const auto& value : series->*curve)
      if (value) values.push_back(*value / mib);
  if (values.size() == 1) return {};
  Plot plot(axis_of({0, seconds}, false, "s"), axis_of(values, false, unit));
  for (size_t i = 0; i < of_domain.size(); ++i) {
    const Curve& all = of_domain[i]->*curve;
    std::vector<Point> points;
    for (size_t k = 0; k <= all.size(); ++k) {
      if (k < all.size() && all[k])
        points.push_back(
            {seconds * static_cast<double>(k) / static_cast<double>(all.size()), *all[k] / mib});
      else if (!points.empty())
        plot.add_line(std::exchange(points, {}), i);
    }
  }
  return plot.svg();
}

std::string page_of(const Context& context, const observe::Recording& recording,
                    const std::vector<Series>& all) {
  std::set<std::pair<std::string, DomainId>> domains;
  for (const Series& series : all) domains.emplace(series.resource, series.domain);
  const double seconds = static_cast<double>(recording.samples.back().monotonic_usec -
                                             recording.samples.front().monotonic_usec) /
                         1e6;
  std::string body = fmt::format("<p>{}, {} to {}</p>\n", html_escaped(recording.header.host),
                                 clock_text(recording.samples.front().time_usec),
                                 clock_text(recording.samples.back().time_usec));
  for (const auto& [resource, domain] : domains) {
    std::vector<const Series*> of_domain;
    std::vector<std::string> names;
    for (const Series& series : all)
      if (series.resource == resource && series.domain == domain) {
        of_domain.push_back(&series);
        names.push_back(group_label(series.group));
      }
    body += fmt::format("<h2>{} {}</h2>\n{}\n", html_escaped(resource), to_string(domain),
                        legend(names));
    for (const auto& [curve, unit, what] : {std::tuple(&Series::occupancy, "MiB", "Occupancy"),
                                            std::tuple(&Series::traffic, "MiB/s", "Traffic")})
      if (const std::string svg = picture(of_domain, curve, unit, std::max(seconds, 1e-3));
          !svg.empty())
        body += fmt::format("<h3>{}</h3>\n{}\n", what, svg);
  }
  return html_page("rdtctl history", body, origin_of(context));
}

std::expected<observe::Recording, int> read(const std::string& file) {
  const std::filesystem::path path(file);
  const std::string parent = path.parent_path().string();
  const auto directory = Directory::open(parent.empty() ? "." : parent);
  if (!directory) return std::unexpected(report_file(directory.error()));
  const auto opened = directory->open_file(path.filename().string(), O_RDONLY | O_NONBLOCK);
  if (!opened) return std::unexpected(report_file(Error{"open", file, opened.error().code, {}}));
  const auto text = read_all(opened->get(), file, most_bytes);
  if (!text) return std::unexpected(report_file(text.error()));
  auto recording = observe::parse_recording(*text);
  if (recording) return std::move(*recording);
  note("rdtctl: {}:{}: {}\n", file, recording.error().line, recording.error().why);
  return std::unexpected(static_cast<int>(Exit::failed));
}

}  // namespace

int verbs::history(const Context& context, const HistoryOptions& options) {
  if (const int refused = check_html(options.html); refused != Exit::ok) return refused;
  const auto recording = read(options.file);
  if (!recording) return recording.error();
  if (recording->samples.empty()) {
    note("rdtctl: {} has no sample yet\n", options.file);
    return Exit::failed;
  }
  const bool whole = context.json != Json::off;
  std::vector<Series> all = observe::series_of(
      recording->samples, whole ? std::min(most_points, recording->samples.size()) : curve_columns);
  const auto other_group = [&](const Series& series) {
    return !options.group.empty() && group_label(series.group) != options.group;
  };
  std::erase_if(all, other_group);
  if (all.empty()) {
    note("rdtctl: {} has no group '{}'\n", options.file, options.group);
    return Exit::failed;
  }
  if (!options.html.empty()) {
    auto fine = observe::series_of(recording->samples,
                                   std::min(points_of_picture, recording->samples.size()));
    std::erase_if(fine, other_group);
    if (const int failed = write_html(options.html, page_of(context, *recording, fine));
        failed != Exit::ok)
      return failed;
  }
  if (whole)
    print_as_json(context, *recording, all);
  else
    print_curves(context, *recording, all);
  return Exit::ok;
}

}  // namespace rdtd
