// Recordings: written and read again, cut off, and what is none; and their curves.
#include "rdtd/observe/recording.hpp"

#include "rdtd/base/text.hpp"
#include "rdtd/observer/ceilings.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <cmath>
#include <nlohmann/json.hpp>

#include "rdtd/observe/detector.hpp"
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
  full.boot = "8f6b6a3c";
  full.mb = {false, 125e6, 125e6};
  const auto read = parse_recording(header_line(full));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->header.way_bytes, full.way_bytes);
  EXPECT_EQ(read->header.ceilings, full.ceilings);
  EXPECT_TRUE(read->header.mba_mbps);
  EXPECT_EQ(read->header.boot, full.boot);
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
  Header machine;
  machine.way_bytes["L3"] = {{DomainId{0}, 1 << 20}, {DomainId{1}, 1 << 20}};
  EXPECT_TRUE(read_ceilings(directory.string(), machine).value().empty());
  Header measured{"host", "6.12", "0.3", 0};
  measured.ceilings["L3"] = {{DomainId{0}, 2.5e9}};
  // rdtd-observer, another user, has its recordings below that directory.
  const mode_t mask = ::umask(0077);
  const bool written = write_ceilings(directory.string(), measured).has_value();
  ::umask(mask);
  ASSERT_TRUE(written);
  EXPECT_EQ(std::filesystem::status(directory).permissions(), std::filesystem::perms(0755));
  EXPECT_EQ(read_ceilings(directory.string(), machine).value(), measured.ceilings);
  // A measurement of another domain takes nothing away.
  Header other;
  other.ceilings["L3"] = {{DomainId{1}, 3e9}};
  ASSERT_TRUE(write_ceilings(directory.string(), other));
  other.ceilings["L3"] = {{DomainId{1}, 4e9}};
  ASSERT_TRUE(write_ceilings(directory.string(), other));
  measured.ceilings["L3"][DomainId{1}] = 4e9;
  EXPECT_EQ(read_ceilings(directory.string(), machine).value(), measured.ceilings);
  // Nor do they hold on a machine with other caches, where the file came with an image.
  other.way_bytes = machine.way_bytes;
  ASSERT_TRUE(write_ceilings(directory.string(), other));
  machine.way_bytes["L3"][DomainId{1}] = 3 << 19;
  measured.ceilings["L3"].erase(DomainId{1});
  EXPECT_EQ(read_ceilings(directory.string(), machine).value(), measured.ceilings);
  // What cannot be read is not written over: it may have other domains.
  for (const auto& [text, why] : {std::pair("", "the file is empty"),
                                  std::pair("garbage\n", "this is not a recording of rdtd")}) {
    std::ofstream(directory / ceilings_file) << text;
    const auto read = read_ceilings(directory.string(), machine);
    const auto refused = write_ceilings(directory.string(), other);
    ASSERT_TRUE(!read && !refused);
    EXPECT_EQ(read.error().text(), "cannot understand " + (directory / ceilings_file).string() +
                                       ": " + why + "; remove it, and measure all domains again");
    EXPECT_EQ(refused.error().text(), read.error().text());
    EXPECT_EQ(Directory::open(directory.string())->read(ceilings_file).value(), text);
  }
  std::filesystem::remove(directory / ceilings_file);
  std::filesystem::create_directory(directory / ceilings_file);
  const auto unread = write_ceilings(directory.string(), other);
  ASSERT_FALSE(unread);
  EXPECT_EQ(unread.error().text(),
            "cannot read " + (directory / ceilings_file).string() + ": Is a directory");
  EXPECT_EQ(read_ceilings(directory.string(), machine).error().code, EISDIR);
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

// zstdcat(1) of a ring. The writer of the first may have been killed.
TEST(Recording, ThoseThatWereJoined) {
  Header other;
  other.interval = 5;
  const std::string first = header + sample_line(sample(5, 5, 1)) + sample_line(sample(6, 6, 2)),
                    second = header_line(other) + sample_line(sample(2, 2, 3));
  for (const size_t cut : {size_t{0}, size_t{1}, size_t{9}}) {
    const auto read = parse_recording(first.substr(0, first.size() - cut) + second);
    ASSERT_TRUE(read) << read.error().why;
    ASSERT_EQ(read->samples.size(), cut == 0 ? 3U : 2U);
    EXPECT_TRUE(read->samples.front().begins_file);
    EXPECT_TRUE(read->samples.back().begins_file);
    EXPECT_EQ(read->samples.back().monotonic_usec, 2'000'000U);
    EXPECT_EQ(read->header.interval, 5);
  }
}

TEST(Recording, JoinedAndCutOffAnywhere) {
  Header other;
  other.interval = 5;
  const std::string first = header + sample_line(sample(5, 5, 1)), second = header_line(other);
  for (size_t length = 0; length < second.size(); ++length) {
    const auto alone = parse_recording(first + second.substr(0, length));
    ASSERT_TRUE(alone) << length << ": " << alone.error().why;
    EXPECT_EQ(alone->samples.size(), 1U) << length;
    // One of its own follows in the same line, as with zstdcat(1).
    const auto more =
        parse_recording(first + second.substr(0, length) + second + sample_line(sample(2, 2, 3)));
    ASSERT_TRUE(more) << length << ": " << more.error().why;
    EXPECT_EQ(more->samples.size(), 2U) << length;
  }
}

// What is no time between samples is not known.
TEST(Recording, Intervals) {
  for (const auto& [text, interval] : {std::pair("-1e308", 0), {"0", 0}, {"1e9", 0}, {"30", 30}}) {
    const std::string line =
        R"({"format":"rdtd-recording","schema":1,"interval":)" + std::string(text) + "}\n";
    EXPECT_EQ(parse_recording(line)->header.interval, interval) << text;
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
      {"hello\n", 1, "this is not a recording of rdtd"},
      {"{}\n", 1, "this is not a recording of rdtd"},
      {"[[[[[[[[\n", 1, "this is not a recording of rdtd"},
      {R"({"format":"rdtd-recording","schema":2})"
       "\n",
       1, "its format is not known here: another version of rdtd wrote it"},
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

std::string row_of(const std::string& group, const std::string& resource = "L3",
                   const std::string& counter = "x", size_t domain = 0) {
  return nlohmann::json({group, resource, domain, {{counter, 1}}}).dump();
}

std::string line_of(const std::vector<std::string>& rows, const std::string& more = "") {
  return R"({"t":1,"m":1,"counters":[)" + join(rows, ",") + "]" + more + "}\n";
}

// Whatever a machine cannot have, so that what is kept of a sample has its bounds.
TEST(Recording, HasBounds) {
  const std::string long_name(513, 'x'), longest(512, 'x'), name(255, 'x');
  std::vector<std::string> groups, rows, counters;
  for (size_t i = 0; i <= 100'000; ++i) {
    const std::string number = std::to_string(i);
    if (i <= 2000) groups.push_back(row_of("g" + number));
    if (i <= 64) counters.push_back(row_of("g", "L3", "c" + number));
    rows.push_back(row_of("g", "L3", "x", i));
  }
  std::string marks;
  for (size_t i = 0; i <= 1000; ++i) marks += i > 0 ? ",\"\"" : "\"\"";
  const auto less = [](std::vector<std::string> all) {
    all.pop_back();
    return all;
  };
  constexpr const char* long_text = "it has a name of more than 512 bytes";
  constexpr const char* no_group = "it has a group that resctrl cannot have";
  const struct {
    std::string line;
    const char* why;  // null: it is read
  } table[] = {
      {line_of({row_of(name, longest, longest)}), nullptr},
      {line_of({row_of(name + "/mon_groups/" + name)}), nullptr},
      {line_of({row_of(""), row_of("mon_groups/a")}), nullptr},
      {line_of({row_of("a", long_name)}), long_text},
      {line_of({row_of("a", "L3", long_name)}), long_text},
      {line_of({row_of(std::string(523, 'x'))}), long_text},
      {line_of({}, R"(,"schemata":{")" + std::string(523, 'x') + R"(":"L3:0=f"})"), long_text},
      {line_of({row_of(name + "x")}), no_group},
      {line_of({row_of("a\nb")}), no_group},
      {line_of({row_of("..")}), no_group},
      {line_of({row_of("a/b")}), no_group},
      {line_of({row_of("a/mon_groups/")}), no_group},
      {line_of({row_of("a/b/mon_groups/c")}), no_group},
      {line_of({}, R"(,"schemata":{"a\nb":"L3:0=f"})"), no_group},
      {line_of(groups), "it has more than 2000 groups in a domain"},
      {line_of(less(groups)), nullptr},
      {line_of(rows), "it has more than 100000 rows"},
      {line_of(less(rows)), nullptr},
      {line_of(counters), "it has more than 64 counters"},
      {line_of(less(counters)), nullptr},
      {line_of({}, ",\"marks\":[" + marks + "]"), "it has more than 1000 marks"},
      {line_of({}, ",\"marks\":[" + marks.substr(3) + "]"), nullptr},
      {line_of({}, ",\"other\":[[[[[[[]]]]]]]"), nullptr},
      {line_of({}, ",\"other\":[[[[[[[[]]]]]]]]"), "this is no sample"},
      {line_of({}, R"(,"other":"[[[[[[[[[[[[\"[[[[")"), nullptr},
  };
  for (const auto& row : table) {
    const auto read = parse_recording(header + row.line);
    EXPECT_EQ(read.has_value(), row.why == nullptr) << row.line.substr(0, 200);
    if (read || row.why == nullptr) continue;
    EXPECT_EQ(read.error().line, 2U);
    EXPECT_EQ(read.error().why, row.why);
  }
  for (const char* key : {"host", "kernel", "version"}) {
    const auto read = parse_recording(R"({"format":"rdtd-recording","schema":1,")" +
                                      std::string(key) + "\":\"" + long_name + "\"}\n");
    ASSERT_FALSE(read) << key;
    EXPECT_EQ(read.error().line, 1U);
    EXPECT_EQ(read.error().why, long_text);
  }
}

// An object with many keys takes no time in their square.
TEST(Recording, HasAnyNumberOfKeys) {
  std::string keys;
  for (size_t i = 0; i < 300'000; ++i) keys += ",\"" + std::to_string(i) + "\":0";
  EXPECT_TRUE(parse_recording(header + line_of({}, keys)));
}

// Nobody's terminal is driven by a file, and no text in it looks like another line of the output.
TEST(Recording, IsPrintable) {
  const std::string forged = "a\n2023-11-14 22:13:20  b\x1b[2J\u202e";
  Header evil{forged, forged, forged, 1};
  Sample one = sample(1, 1, 1);
  one.counters[0].group = "a\x1b[2J/mon_groups/\u202e";
  one.counters[0].resource = forged;
  one.counters[0].counters = {{forged, uint64_t{1}}};
  one.schemata = {{"a\x1b[2J/\u202e", "MB:0=" + forged}};
  one.marks = {forged, std::string(1021, 'x') + "\u00e4\u00e4", std::string(1024, 'x')};
  const auto read = parse_recording(header_line(evil) + sample_line(one));
  ASSERT_TRUE(read);
  const std::string plain = "a?2023-11-14 22:13:20  b?[2J?";
  EXPECT_EQ(read->header.host, plain);
  EXPECT_EQ(read->header.kernel, plain);
  EXPECT_EQ(read->header.version, plain);
  const Sample& found = read->samples.at(0);
  EXPECT_EQ(found.counters.at(0).group, "a?[2J/mon_groups/?");
  EXPECT_EQ(found.counters.at(0).resource, plain);
  EXPECT_EQ(found.counters.at(0).counters.begin()->first, plain);
  EXPECT_EQ(found.schemata, (std::map<std::string, std::string>{{"a?[2J/?", "MB:0=" + plain}}));
  // What is cut off is cut off between characters, and says so.
  EXPECT_EQ(found.marks, (std::vector<std::string>{plain, std::string(1021, 'x') + "...",
                                                   std::string(1024, 'x')}));
  EXPECT_EQ(sample_line(parse_recording(header + sample_line(found))->samples.at(0)),
            sample_line(found));
}

// They are shown as integers of 64 bits.
TEST(Recording, CountersAreNumbersOfAMachine) {
  const auto read = parse_recording(
      header +
      R"({"t":1,"m":1,"counters":[["a","L3",0,{"a":1e300,"b":18446744073709551615,"c":1e19,"d":-0.0,"e":5}]]})");
  ASSERT_TRUE(read);
  constexpr uint64_t most = uint64_t{1} << 63;
  const double most_decimal = most;
  EXPECT_EQ(read->samples.at(0).counters.at(0).counters,
            (std::map<std::string, CounterValue>{
                {"a", most_decimal}, {"b", most}, {"c", most_decimal}, {"d", 0.0}, {"e", 5UL}}));
  for (const char* value : {"-1", "-1e300", "1e999", "NaN"}) {
    const auto refused = parse_recording(header + R"({"t":1,"m":1,"counters":[["a","L3",0,{"a":)" +
                                         value + "}]]}\n");
    ASSERT_FALSE(refused) << value;
    EXPECT_EQ(refused.error().why, "this is no sample");
  }
}

std::string text(const Curve& curve) {
  std::string out;
  for (const auto& value : curve) out += value ? std::to_string(std::lround(*value)) + " " : "- ";
  return out;
}

std::vector<Series> series_of(const std::vector<Sample>& samples, size_t points,
                              const Header& of = {}) {
  SeriesBuilder builder(points, 1);
  for (const Sample& sample : samples) builder.add(of, sample);
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

// The sum of a control group jumps when a monitoring group comes to it: nobody moved these bytes.
TEST(Series, AJumpIsAGap) {
  constexpr uint64_t gib = 1 << 30;
  const std::vector<Sample> samples = {sample(0, 1, 0), sample(1, 1, gib), sample(2, 1, 50 * gib),
                                       sample(3, 1, 20'000 * gib), sample(4, 1, 20'001 * gib)};
  const auto gibs = [&](const Header& of) {
    Curve curve = series_of(samples, 5, of).at(0).traffic;
    for (auto& value : curve)
      if (value) *value /= gib;
    return text(curve);
  };
  Header of;
  EXPECT_EQ(gibs(of), "- 1 49 - 1 ");
  of.ceilings["L3"][DomainId{0}] = 10 * gib;
  EXPECT_EQ(gibs(of), "- 1 - - 1 ");
  of.ceilings["L3"][DomainId{0}] = 13 * gib;
  EXPECT_EQ(gibs(of), "- 1 49 - 1 ");
  // A counter jumps once: what several samples say is so, and the measurement was wrong.
  of.ceilings["L3"][DomainId{0}] = 0.2 * gib;
  EXPECT_EQ(gibs(of), "- - - - 1 ");
}

// Many curves have fewer points: together they take no more memory.
TEST(Series, ManyCurves) {
  std::vector<Sample> samples = {sample(0, 1, 1), sample(999, 1, 1)};
  EXPECT_EQ(series_of(samples, 1000).at(0).occupancy.size(), 1000U);
  for (uint32_t domain = 1; domain < 4000; ++domain) {
    samples[1].counters.push_back(samples[1].counters[0]);
    samples[1].counters.back().domain = DomainId{domain};
  }
  const auto all = series_of(samples, 1000);
  ASSERT_EQ(all.size(), 4000U);
  EXPECT_EQ(all.at(0).occupancy.size(), 500U);
  EXPECT_EQ(all.at(3999).occupancy.size(), 500U);
}

// In a domain of 2000 groups half of them take cache from the others, again and again.
TEST(Series, EpisodesHaveBounds) {
  Detector detector({"host", "6.12", "0.3", 1});
  for (uint64_t second = 1; second < 40; ++second) {
    Sample one = sample(second, 0, 0);
    one.counters.clear();
    const bool taken = second > 20;
    for (size_t i = 0; i < 200; ++i) {
      const bool victim = i % 2 == 0;
      const uint64_t occupancy = victim == taken ? 1 << 20 : 8 << 20;
      const uint64_t traffic = second * 1'000'000 + (taken ? (second - 20) * 90'000'000 : 0);
      const std::string group = "g" + std::to_string(i);
      one.counters.push_back(
          {group, "L3", DomainId{0}, {{"llc_occupancy", occupancy}, {"mbm_total_bytes", traffic}}});
      if (second == 1) one.schemata[group] = "L3:0=ff";
    }
    EXPECT_TRUE(detector.add(one).empty());
  }
  const auto running = detector.running();
  ASSERT_EQ(running.size(), 100U);
  for (const Episode& episode : running) EXPECT_EQ(episode.takers.size(), 16U);
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
