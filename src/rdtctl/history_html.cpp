#include "history_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "html.hpp"
#include "plot.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"
#include "time_point.hpp"

namespace rdtd {

namespace {

using observe::Curve;
using observe::DomainTraffic;
using observe::Series;

constexpr double bytes_per_mib = 1 << 20;
// A line is drawn for a ceiling that does not press the curves to the ground.
constexpr double highest_ceiling = 5;  // times the highest curve
constexpr size_t most_episodes = 200;

// The pictures of one domain, which share the time.
class Pictures {
 public:
  Pictures(const History& history, const FoundContention& found, std::string resource,
           DomainId domain);
  [[nodiscard]] std::string body() const;

 private:
  [[nodiscard]] double at(size_t point, size_t points) const {
    return seconds_ * static_cast<double>(point) / static_cast<double>(points);
  }
  [[nodiscard]] double at(uint64_t time_usec, int64_t clock_ahead_usec) const;
  [[nodiscard]] std::string occupancy() const;
  [[nodiscard]] std::string traffic() const;
  [[nodiscard]] Plot plot(const std::vector<double>& values, const char* unit) const;
  void add_lines(Plot& plot, size_t series, Curve Series::* curve) const;
  void add_marks(Plot& plot) const;

  const History& history_;
  const FoundContention& found_;
  std::string resource_;
  DomainId domain_;
  double seconds_;
  std::vector<const Series*> series_;
  const DomainTraffic* carried_ = nullptr;  // null: nothing is known of a ceiling
};

Pictures::Pictures(const History& history, const FoundContention& found, std::string resource,
                   DomainId domain)
    : history_(history),
      found_(found),
      resource_(std::move(resource)),
      domain_(domain),
      seconds_(std::max(history.seconds, 1e-3)) {
  for (const Series& series : history.fine)
    if (series.resource == resource_ && series.domain == domain_) series_.push_back(&series);
  for (const DomainTraffic& traffic : found.domains)
    if (traffic.resource == resource_ && traffic.domain == domain_ && traffic.ceiling)
      carried_ = &traffic;
}

double Pictures::at(uint64_t time_usec, int64_t clock_ahead_usec) const {
  const auto since = static_cast<int64_t>(time_usec) - clock_ahead_usec -
                     static_cast<int64_t>(history_.begin_usec);
  return static_cast<double>(since) / 1e6;
}

Plot Pictures::plot(const std::vector<double>& values, const char* unit) const {
  Plot out(axis_of({0, seconds_}, false, "s"), axis_of(values, false, unit));
  for (const FoundEpisode& one : found_.episodes)
    if (one.episode.resource == resource_ && one.episode.domain == domain_)
      out.add_span(at(one.episode.begin_usec, one.clock_ahead_usec),
                   at(one.episode.end_usec, one.clock_ahead_usec));
  return out;
}

// Marks have the numbers of their list.
void Pictures::add_marks(Plot& plot) const {
  if (history_.marks.size() > marks_shown) return;
  for (size_t i = 0; i < history_.marks.size(); ++i)
    plot.add_mark(history_.marks[i].seconds, std::to_string(i + 1));
}

// A gap is a gap in the line.
void Pictures::add_lines(Plot& plot, size_t series, Curve Series::* curve) const {
  const Curve& all = series_[series]->*curve;
  std::vector<Point> points;
  for (size_t k = 0; k <= all.size(); ++k) {
    if (k < all.size() && all[k])
      points.push_back({at(k, all.size()), *all[k] / bytes_per_mib});
    else if (!points.empty())
      plot.add_line(std::exchange(points, {}), series);
  }
}

// Control groups one above the other. What a monitoring group has is part of its control group's.
std::string Pictures::occupancy() const {
  struct Area {
    size_t series;
    std::vector<Point> lower, upper;
  };
  std::vector<Area> areas;
  std::vector<double> values = {0}, heights;
  bool has_lines = false;
  for (size_t i = 0; i < series_.size(); ++i) {
    const Curve& curve = series_[i]->occupancy;
    heights.resize(std::max(heights.size(), curve.size()));
    const bool is_part = is_mon_group(series_[i]->group);
    bool goes_on = false;
    for (size_t k = 0; k < curve.size(); ++k) {
      if (!curve[k]) {
        goes_on = false;
        continue;
      }
      const double value = *curve[k] / bytes_per_mib;
      if (is_part) has_lines = true;
      values.push_back(is_part ? value : heights[k] + value);
      if (is_part) continue;
      if (!std::exchange(goes_on, true)) areas.push_back({i, {}, {}});
      areas.back().lower.push_back({at(k, curve.size()), heights[k]});
      areas.back().upper.push_back({at(k, curve.size()), heights[k] += value});
    }
  }
  if (values.size() == 1) return {};
  Plot out = plot(values, "MiB");
  for (const Area& area : areas) out.add_area(area.lower, area.upper, area.series);
  for (size_t i = 0; i < series_.size(); ++i)
    if (is_mon_group(series_[i]->group)) add_lines(out, i, &Series::occupancy);
  add_marks(out);
  return fmt::format("<h3>Occupancy</h3>\n<p>The control groups, one above the other.{}</p>\n{}\n",
                     has_lines ? " A line is a monitoring group, which is part of one." : "",
                     out.svg());
}

std::string Pictures::traffic() const {
  std::vector<double> values = {0};
  for (const Series* series : series_)
    for (const auto& value : series->traffic)
      if (value) values.push_back(*value / bytes_per_mib);
  if (values.size() == 1) return {};
  std::string text;
  double ceiling = 0;
  if (carried_ != nullptr) {
    ceiling = *carried_->ceiling / bytes_per_mib;
    text = fmt::format("<p>{}: {}.</p>\n",
                       carried_->is_measured() ? "What the domain can carry, measured"
                                               : "The most that the domain was seen to carry",
                       observe::rate_text(*carried_->ceiling));
  }
  const bool is_drawn = ceiling > 0 && ceiling <= highest_ceiling * std::ranges::max(values);
  if (is_drawn) values.push_back(ceiling);
  Plot out = plot(values, "MiB/s");
  for (size_t i = 0; i < series_.size(); ++i) add_lines(out, i, &Series::traffic);
  if (is_drawn) out.add_level(ceiling, carried_->is_measured() ? "ceiling" : "most seen");
  add_marks(out);
  return fmt::format("<h3>Traffic</h3>\n{}{}\n", text, out.svg());
}

std::string Pictures::body() const {
  std::vector<std::string> names;
  for (const Series* series : series_) names.push_back(group_label(series->group));
  return fmt::format("<h2>{} {}</h2>\n{}\n{}{}", html_escaped(resource_), to_string(domain_),
                     legend(names), occupancy(), traffic());
}

std::string episodes_list(const std::vector<FoundEpisode>& episodes) {
  if (episodes.empty()) return {};
  std::string out = "<h2>Episodes</h2>\n<p>Shaded in the pictures.</p>\n<ul>\n";
  for (const FoundEpisode& one : episodes)
    out += fmt::format("<li>{}{} {}</li>\n", time_text(one.episode.begin_usec),
                       one.running ? ", and goes on:" : ":", html_escaped(sentence(one.episode)));
  return out + "</ul>\n";
}

std::string marks_list(const std::vector<History::Mark>& marks) {
  if (marks.empty()) return {};
  std::string out = "<h2>Marks</h2>\n<ol>\n";
  for (const History::Mark& mark : marks)
    out += fmt::format("<li>{} {}</li>\n", time_text(mark.time_usec), html_escaped(mark.text));
  return out + "</ol>\n";
}

}  // namespace

std::string history_html(const History& history, FoundContention found, const std::string& origin) {
  if (found.episodes.size() > most_episodes)
    found.episodes.erase(found.episodes.begin(), found.episodes.end() - most_episodes);
  std::set<std::pair<std::string, DomainId>> domains;
  for (const Series& series : history.fine) domains.emplace(series.resource, series.domain);
  std::string body =
      fmt::format("<p>{}, {} to {}</p>\n", html_escaped(history.read.header.host),
                  time_text(history.read.from_usec), time_text(history.read.to_usec));
  for (const auto& [resource, domain] : domains)
    body += Pictures(history, found, resource, domain).body();
  body += episodes_list(found.episodes) + marks_list(history.marks);
  return html_page("rdtctl history", body, origin);
}

}  // namespace rdtd
