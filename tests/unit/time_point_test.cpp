// Times as people type them, in a time zone that has no summer time.
#include "time_point.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

namespace rdtd {
namespace {

class TimePoint : public testing::Test {
 protected:
  TimePoint() {
    ::setenv("TZ", "HERE-2", 1);  // two hours east
    ::tzset();
  }
  ~TimePoint() override {
    ::unsetenv("TZ");
    ::tzset();
  }
};

TEST_F(TimePoint, Forms) {
  const uint64_t now = 1'764'144'610'000'000;  // 2025-11-26 10:10:10 there
  const struct {
    const char *text, *expected;
  } rows[] = {
      {"now", "2025-11-26 10:10:10"},
      {"today", "2025-11-26 00:00:00"},
      {"yesterday", "2025-11-25 00:00:00"},
      {"2025-11-24", "2025-11-24 00:00:00"},
      {"2025-11-24 08:30", "2025-11-24 08:30:00"},
      {" 2025-11-24 08:30:59 ", "2025-11-24 08:30:59"},
      {"2025-11-24T08:30:59", "2025-11-24 08:30:59"},
      {"2025-11-24T08:30", "2025-11-24 08:30:00"},
      {"08:30", "2025-11-26 08:30:00"},
      {"23:59:59", "2025-11-26 23:59:59"},
      {"-1h", "2025-11-26 09:10:10"},
      {"-1h 10s", "2025-11-26 09:10:00"},
      {"1h", "2025-11-26 09:10:10"},  // as docker and kubectl take it
      {"1 hour", "2025-11-26 09:10:10"},
      {"30min ago", "2025-11-26 09:40:10"},
      {"@1764144000", "2025-11-26 10:00:00"},
      {"tomorrow", "2025-11-27 00:00:00"},
      {"TODAY", "2025-11-26 00:00:00"},
      {"2025-11-24T08:30:59+01:00", "2025-11-24 09:30:59"},
      {"2025-11-24T08:30:59-0130", "2025-11-24 12:00:59"},
      {"+5min", "2025-11-26 10:15:10"},
      {"08:30 UTC", "2025-11-26 10:30:00"},
      {"2025-11-24 23:00 UTC", "2025-11-25 01:00:00"},
      {"2025-11-24T08:30:59Z", "2025-11-24 10:30:59"},
      {"Mon 2025-11-24 08:30:59 UTC", "2025-11-24 10:30:59"},
      {"Mon 2025-11-24 08:30", "2025-11-24 08:30:00"},
      {"Mon 2025-11-24 08:30:59 HERE", "2025-11-24 08:30:59"},
      {"2025-11-24 08:30:59.25", "2025-11-24 08:30:59"},
      {"2025-11-24T08:30:59.123456Z", "2025-11-24 10:30:59"},
      {"2025-11-24T08:30:59.5+01:00", "2025-11-24 09:30:59"},
      {"@1764144000.9", "2025-11-26 10:00:00"},
      {"1 month ago", "2025-10-26 23:36:34"},
      {"-2M", "2025-09-26 13:02:58"},
      {"1y", "2024-11-26 04:10:10"},
  };
  for (const auto& row : rows) {
    const auto usec = parse_time(row.text, now);
    ASSERT_TRUE(usec) << row.text;
    EXPECT_EQ(time_text(*usec), row.expected) << row.text;
  }
  for (const char* text : {"",
                           "soon",
                           "10",
                           "25:00",
                           "2025-13-01",
                           "08:30x",
                           "-",
                           "@",
                           "ago",
                           "08:30:59.",
                           "08:30.5",
                           "@5.abc",
                           "@1.2.3",
                           "@.5",
                           "2025-11-24 08:30:59.x",
                           "0 months ago",
                           "9999y",
                           "+",
                           "-1h ago",
                           "UTC",
                           "Mon",
                           "tomorrow UTC",
                           "+1h UTC",
                           "08:30 CET",
                           "2025-02-30",
                           "2025-11-31 08:00",
                           "2025-02-30T08:00:00+01:00",
                           "2025-02-30T08:00:00Z"}) {
    const auto usec = parse_time(text, now);
    ASSERT_FALSE(usec) << text;
    EXPECT_EQ(usec.error(),
              "'" + std::string(text) +
                  "' is not a time; write \"2026-11-26 08:30\", \"08:30\", \"-1h\" or "
                  "\"yesterday\"" +
                  std::string(text == std::string_view("10") ? "; did you mean \"10s\"?" : ""));
  }
}

// Where the clocks go back, an hour is there twice.
TEST_F(TimePoint, TheZoneSaysWhichHour) {
  ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  const auto usec = [](const char* text) { return parse_time(text, 0).value_or(0); };
  constexpr uint64_t hour = 3'600'000'000;
  EXPECT_EQ(usec("2026-10-25 02:30 CET"), usec("2026-10-25 01:30 UTC"));
  EXPECT_EQ(usec("2026-10-25 02:30 CEST"), usec("2026-10-25 02:30 CET") - hour);
  EXPECT_EQ(usec("2026-07-01 08:30 CEST"), usec("2026-07-01 06:30 UTC"));
  EXPECT_EQ(usec("2026-07-01 08:30 CET"), usec("2026-07-01 07:30 UTC"));
  EXPECT_EQ(usec("2026-07-01 08:30"), usec("2026-07-01 06:30 UTC"));
  EXPECT_EQ(usec("@5.25"), 5'250'000U);
}

TEST_F(TimePoint, ARecordingIsNone) {
  for (const std::string file : {"/tmp/night", "night.rec"})
    EXPECT_EQ(parse_time(file, 0).error(),
              "'" + file + "' is not a time; a recording is named without an option");
}

TEST_F(TimePoint, LongerThanAnybodyKeeps) {
  for (const auto& [text, span] :
       {std::pair("-200d", "200d"), {"101d", "101d"}, {"101d ago", "101d"}, {"+101d", "101d"}})
    EXPECT_EQ(parse_time(text, 0).error(),
              "'" + std::string(span) + "' is longer than 100 days; write a date");
}

TEST_F(TimePoint, Texts) {
  EXPECT_EQ(time_text(0), "never");
  EXPECT_EQ(span_text(119'999'999), "119 s");
  EXPECT_EQ(span_text(120'000'000), "2 min");
  EXPECT_EQ(span_text(7'500'000'000), "2 h 05 min");
}

}  // namespace
}  // namespace rdtd
