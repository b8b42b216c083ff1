// Recordings: written and read again, cut off, and what is none; and their curves.
#include "rdtd/observe/recording.hpp"

#include "rdtd/observer/ceilings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <cmath>

#include "rdtd/observe/series.hpp"

namespace rdtd::observe {
namespace {

Sample sample(uint64_t second, uint64_t occupancy, uint64_t traffic) {
  return {
      1'700'000'000'000'000 + second * 1'000'000,
      second * 1'000'000,
      {{"redis", "L3", DomainId{0}, {{"llc_occupancy", occupancy}, {"mbm_total_bytes", traffic}}}},
      {}};
}

const std::string header = header_line({"host", "6.12", "0.3", 1});

TEST(Recording, IsReadAsItWasWritten) {
  Sample first = sample(1, 100, 200);
  first.counters.push_back({"redis/mon_groups/web",
                            "L3",
                            DomainId{65536},
                            {{"llc_occupancy", NoCount::unavailable}, {"core_energy", 1.5}}});
  first.schemata = {{"redis", "L3:0=f"}, {"gone", ""}};
  const auto read = parse_recording(header + sample_line(first) + sample_line(sample(2, 1, 2)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->header.host, "host");
  EXPECT_EQ(read->header.kernel, "6.12");
  EXPECT_EQ(read->header.interval, 1);
  EXPECT_FALSE(read->cut_off);
  ASSERT_EQ(read->samples.size(), 2U);
  EXPECT_EQ(sample_line(read->samples[0]), sample_line(first));
  EXPECT_EQ(read->samples[0].schemata, first.schemata);
}

TEST(Recording, TheHeaderSaysWhatIsKnownOfTheMachine) {
  Header full{"host", "6.12", "0.3", 0.5};
  full.way_bytes["L3"] = {{DomainId{0}, 1 << 20}, {DomainId{1}, 0}};
  full.ceilings["L3"] = {{DomainId{0}, 2.5e9}, {DomainId{7}, 1}};
  full.mba_mbps = true;
  full.mb = {false, 125e6, 125e6};
  const auto read = parse_recording(header_line(full));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->header.way_bytes, full.way_bytes);
  EXPECT_EQ(read->header.ceilings, full.ceilings);
  EXPECT_TRUE(read->header.mba_mbps);
  EXPECT_EQ(read->header.mb, full.mb);
  // A ceiling that is none is left out.
  const auto odd = parse_recording(
      R"({"format":"rdtd-recording","schema":1,"ceilings":{"L3":{"0":-1,"1":"2","x":3,"2":4}}})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->header.ceilings, (decltype(full.ceilings){{"L3", {{DomainId{2}, 4}}}}));
}

TEST(Ceilings, AreReadAsTheyWereWritten) {
  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() / ("rdtd-ceilings-" + std::to_string(::getpid()));
  EXPECT_TRUE(read_ceilings(directory.string()).empty());
  Header measured{"host", "6.12", "0.3", 0};
  measured.ceilings["L3"] = {{DomainId{0}, 2.5e9}};
  ASSERT_TRUE(write_ceilings(directory.string(), measured));
  EXPECT_EQ(read_ceilings(directory.string()), measured.ceilings);
  std::ofstream(directory / ceilings_file) << "garbage";
  EXPECT_TRUE(read_ceilings(directory.string()).empty());
  std::filesystem::remove_all(directory);
}

// Each prefix of a recording is one, or is refused with its line.
TEST(Recording, CutOffAnywhere) {
  const std::string text = header + sample_line(sample(1, 1, 1)) + sample_line(sample(2, 2, 2));
  for (size_t length = 0; length < text.size(); ++length) {
    const auto read = parse_recording(text.substr(0, length));
    EXPECT_EQ(read.has_value(), length >= header.size() - 1) << length;
    if (read) {
      EXPECT_LE(read->samples.size(), 2U);
    }
  }
}

TEST(Recording, WhatIsNone) {
  const std::string good = sample_line(sample(5, 1, 1));
  const struct {
    std::string text;
    size_t line;
    const char* why;
  } rows[] = {
      {"", 1, "the file is empty"},
      {"hello\n", 1, "this is no recording of rdtd"},
      {"{}\n", 1, "this is no recording of rdtd"},
      {"[[[[[[[[\n", 1, "this is no recording of rdtd"},
      {R"({"format":"rdtd-recording","schema":2})"
       "\n",
       1, "a newer rdtd wrote it: its format is not known here"},
      {header + "\n", 2, "this is no sample"},
      {header + "{}\n" + good, 2, "this is no sample"},
      {header + R"({"t":1,"m":-1,"counters":[]})" + "\n" + good, 2, "this is no sample"},
      {header + R"({"t":4000000000000001,"m":1,"counters":[]})" + "\n" + good, 2,
       "this is no sample"},
      {header + R"({"t":1,"m":18446744073709551615,"counters":[]})" + "\n" + good, 2,
       "this is no sample"},
      {header + R"({"t":1,"m":1,"counters":[["a","L3",4294967296,{}]]})" + "\n" + good, 2,
       "this is no sample"},
      {header + R"({"t":1,"m":1,"counters":[["a","L3",0,{"x":"Word"}]]})" + "\n" + good, 2,
       "this is no sample"},
      {header + R"({"t":1,"m":1,"counters":[["a","L3",0,{"x":-0.5}]]})" + "\n" + good, 2,
       "this is no sample"},
      {header + R"({"t":1,"m":1,"counters":[["a","L3",0,{"x":[]}]]})" + "\n" + good, 2,
       "this is no sample"},
      {header + R"({"t":1,"m":1,"counters":[],"schemata":{"a":1}})" + "\n" + good, 2,
       "this is no sample"},
      {header + good + sample_line(sample(4, 1, 1)), 3, "it is older than the sample before"},
  };
  for (const auto& row : rows) {
    const auto read = parse_recording(row.text);
    ASSERT_FALSE(read) << row.text;
    EXPECT_EQ(read.error().line, row.line) << row.text;
    EXPECT_EQ(read.error().why, row.why) << row.text;
  }
}

std::string text(const Curve& curve) {
  std::string out;
  for (const auto& value : curve) out += value ? std::to_string(std::lround(*value)) + " " : "- ";
  return out;
}

std::vector<Series> series_of(const std::vector<Sample>& samples, size_t points) {
  SeriesBuilder builder(points, 1);
  for (const Sample& sample : samples) builder.add(sample);
  return builder.series();
}

// Rates are between samples; what has no number, a group that is not there, and a counter that
// begins again are gaps, never zeros.
TEST(Series, HasGaps) {
  std::vector<Sample> samples = {sample(0, 10, 1000), sample(1, 20, 3000), sample(2, 30, 100),
                                 sample(3, 40, 400)};
  samples[1].counters[0].counters["llc_occupancy"] = NoCount::unavailable;
  auto all = series_of(samples, 4);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(text(all[0].occupancy), "10 - 30 40 ");
  EXPECT_EQ(text(all[0].traffic), "- 2000 - 300 ");
  samples[2].counters.clear();
  all = series_of(samples, 4);
  EXPECT_EQ(text(all[0].occupancy), "10 - - 40 ");
  EXPECT_EQ(text(all[0].traffic), "- 2000 - - ");
  EXPECT_EQ(text(series_of(samples, 2)[0].occupancy), "10 40 ");
  EXPECT_TRUE(series_of({}, 3).empty());
  std::vector<Sample> far = {sample(0, 1, 1), sample(1, 2, 2)};
  far[1].monotonic_usec = UINT64_MAX;
  EXPECT_EQ(text(series_of(far, 2)[0].occupancy), "1 2 ");
}

TEST(Series, Extent) {
  EXPECT_FALSE(extent_of({std::nullopt}));
  const auto extent = extent_of({1.0, std::nullopt, 3.0});
  ASSERT_TRUE(extent);
  EXPECT_EQ(extent->least, 1);
  EXPECT_EQ(extent->mean, 2);
  EXPECT_EQ(extent->most, 3);
}

}  // namespace
}  // namespace rdtd::observe
