// The page of `history`, on curves in values.
#include "history_html.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rdtd::history_page {
namespace {

using observe::Curve;

constexpr double of_mib = 1 << 20;
constexpr DomainId zero{0}, one{1};

Curve curve(std::initializer_list<double> values) {
  Curve out;
  for (const double value : values)
    out.push_back(value < 0 ? std::nullopt : std::optional(value * of_mib));
  return out;
}

History history(std::vector<observe::Series> series) {
  History out;
  out.read.header.host = "<host>";
  out.fine = std::move(series);
  out.begin_usec = 5'000'000;
  out.seconds = 100;
  return out;
}

size_t count(const std::string& page, std::string_view what) {
  size_t out = 0;
  for (size_t at = 0; (at = page.find(what, at)) != std::string::npos; at += what.size()) out++;
  return out;
}

// The corners of the only polygon of the class, without the fractions of a pixel.
std::string corners(const std::string& page, const std::string& of) {
  const std::string begin = "<polygon class=\"" + of + "\" points=\"";
  const size_t from = page.find(begin);
  if (from == std::string::npos) return "none";
  return page.substr(from + begin.size(),
                     page.find('"', from + begin.size()) - from - begin.size());
}

TEST(HistoryHtml, ControlGroupsStandOneAboveTheOther) {
  const std::string page =
      history_html(history({{"a", "L3", zero, curve({1, 1}), {}},
                            {"b", "L3", zero, curve({3, 3}), {}},
                            {"b/mon_groups/m", "L3", zero, curve({2, 2}), {}}}),
                   {}, "");
  EXPECT_EQ(count(page, "<polygon class"), 2U);
  EXPECT_EQ(count(page, "<polyline class=\"s2\""), 1U);
  EXPECT_NE(page.find("A line is a monitoring group, which is part of one."), std::string::npos);
  // The lower edge of b is the upper edge of a, read backwards.
  const std::string a = corners(page, "s0"), b = corners(page, "s1");
  const size_t middle = a.find(' ', a.find(' ') + 1) + 1;
  const std::string first = a.substr(0, a.find(' ') + 1),
                    second = a.substr(first.size(), middle - first.size());
  EXPECT_EQ(b.substr(b.size() - second.size() - first.size()), second + first);
}

// What is not known of one group moves no other one to where its own amount is wrong.
TEST(HistoryHtml, AGapIsAGap) {
  const std::string page =
      history_html(history({{"a", "L3", zero, curve({1, -1, 1}), curve({-1, 5, -1})}}), {}, "");
  EXPECT_EQ(count(page, "<polygon class=\"s0\""), 2U);
  EXPECT_EQ(count(page, "<polyline"), 1U);
  EXPECT_EQ(count(page, "<svg"), 2U);
  EXPECT_EQ(
      count(history_html(history({{"a", "L3", zero, curve({-1}), curve({-1})}}), {}, ""), "<svg"),
      0U);
}

TEST(HistoryHtml, TheCeilingIsDrawnWhereItFits) {
  struct Case {
    double ceiling;
    std::optional<double> measured;
    const char *text, *line;
  };
  for (const Case& row :
       {Case{40, 40, "What the domain can carry, measured: 40.0 MiB/s.", ">ceiling<"},
        {40, {}, "The most that the domain was seen to carry: 40.0 MiB/s.", ">most seen<"},
        {40, 30, "The most that the domain was seen to carry: 40.0 MiB/s.", ">most seen<"},
        {60, 60, "What the domain can carry, measured: 60.0 MiB/s.", nullptr}}) {
    FoundContention found;
    found.domains.push_back(
        {.resource = "L3",
         .domain = one,
         .ceiling = row.ceiling * of_mib,
         .measured = row.measured ? std::optional(*row.measured * of_mib) : row.measured,
         .groups = {}});
    const std::string page =
        history_html(history({{"a", "L3", one, {}, curve({10, 5})}}), found, "");
    EXPECT_NE(page.find(row.text), std::string::npos) << page;
    EXPECT_EQ(page.find(row.line != nullptr ? row.line : ">ceiling<") != std::string::npos,
              row.line != nullptr)
        << row.ceiling;
  }
}

TEST(HistoryHtml, EpisodesAndMarksAreOnTheSameAxis) {
  History shown = history(
      {{"a", "L3", zero, curve({1, 1}), curve({1, 1})}, {"a", "L3", one, curve({1, 1}), {}}});
  shown.marks.push_back({1'000'050'000'000, 50, "drift: <a>"});
  observe::Episode episode;
  episode.resource = "L3";
  episode.takers.push_back({.group = "noisy"});
  episode.sufferers.push_back({.group = "a"});
  // At 50 s to 60 s from the begin, although the clock was set meanwhile.
  episode.begin_usec = 2'000'055'000'000;
  episode.end_usec = 2'000'065'000'000;
  FoundContention found;
  found.episodes.push_back({episode, true, 2'000'000'000'000});
  const std::string page = history_html(shown, found, "");
  // Only in the domain that it is of, in both of its pictures.
  EXPECT_EQ(count(page, "<rect class=\"episode\" "), 2U);
  EXPECT_EQ(count(page, "<line class=\"mark\""), 3U);
  const auto left_of = [&](const char* begin) {
    const size_t at = page.find(begin) + std::string_view(begin).size();
    return page.substr(at, page.find('"', at) - at);
  };
  EXPECT_EQ(left_of("<rect class=\"episode\" x=\""), left_of("<line class=\"mark\" x1=\""));
  EXPECT_NE(page.find(", and goes on: L3 0: "), std::string::npos) << page;
  EXPECT_NE(page.find("drift: &lt;a&gt;</li>"), std::string::npos);
  EXPECT_NE(page.find("<p>&lt;host&gt;, "), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
}

// A recording of years has any number of them.
TEST(HistoryHtml, OnlyTheLastEpisodesAreListed) {
  FoundContention found;
  observe::Episode episode;
  episode.resource = "L3";
  episode.takers.push_back({.group = "noisy"});
  episode.sufferers.push_back({.group = "a"});
  for (int i = 0; i < 1000; i++) found.episodes.push_back({episode, false, 0});
  const std::string page =
      history_html(history({{"a", "L3", zero, curve({1, 1}), {}}}), std::move(found), "");
  EXPECT_EQ(count(page, "<rect"), 200U);
  EXPECT_EQ(count(page, "<li>"), 200U);
}

}  // namespace
}  // namespace rdtd::history_page
