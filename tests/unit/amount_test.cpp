// Amounts of cache and bandwidth and spans of time, as a policy writes them.
#include "rdtd/policy/amount.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rdtd/policy/parse.hpp"

namespace rdtd {
namespace {

std::string error_text(const AmountError& error) {
  return error.hint.empty() ? error.message : error.message + "; " + error.hint;
}

TEST(Amount, Cache) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {
      {"40%", ""},
      {"12.5%", ""},
      {"4 ways", ""},
      {"1 way", ""},
      {"ways 4-7", ""},
      {"ways 3", ""},
      {"6 MiB", ""},
      {"512KiB", ""},
      {"1.5 GiB", ""},
      {"0xf0", ""},
      {"all", ""},
      {"remainder", ""},
      {"0%", "'0%' is not above 0%; write \"1%\""},
      {"101%", "'101%' is more than 100%; write \"100%\""},
      {"x%", "'x%' is not a percentage"},
      {"0 ways", "'0 ways' is no cache at all: the minimum is 1 way; write \"1 way\""},
      {"none", "'none' is no cache at all: the minimum is 1 way; write \"1 way\""},
      {"0", "'0' is no cache at all: the minimum is 1 way; write \"1 way\""},
      {"exclusive",
       "'exclusive' is not a cache amount; write exclusive = true in [group.NAME], and here how "
       "much, such as \"4 ways\""},
      {"4 ways exclusive",
       "'4 ways exclusive' is not a cache amount; write \"4 ways\", and exclusive = true in "
       "[group.NAME]"},
      {"Exclusive 6 MiB",
       "'Exclusive 6 MiB' is not a cache amount; write \"6 MiB\", and exclusive = true in "
       "[group.NAME]"},
      {"1..6 ways, dedicated",
       "'1..6 ways, dedicated' is not a cache amount; write \"1..6 ways\", and exclusive = true in "
       "[group.NAME]"},
      {"0x0", "'0x0' is a mask without any way"},
      {"0x1ffffffff", "'0x1ffffffff' is not a mask of at most 32 bits"},
      {"ways 7-4", "'ways 7-4' is not a range of the ways 0 to 31; write \"ways 4-7\""},
      {"0 MiB", "'0 MiB' is no cache at all: the minimum is 1 way; write \"1 way\""},
      {"6 MB", "'6 MB' is not a cache amount; write \"6 MiB\""},
      {"4MB", "'4MB' is not a cache amount; write \"4 MiB\""},
      {"512k", "'512k' is not a cache amount; write \"512 KiB\""},
      {"1 gib", "'1 gib' is not a cache amount; write \"1 GiB\""},
      {"max", "'max' is not a cache amount; write \"all\""},
      {"Unlimited", "'Unlimited' is not a cache amount; write \"all\""},
      {"rest", "'rest' is not a cache amount; write \"remainder\""},
      {"way 3", "'way 3' is not a cache amount; write \"ways 3\""},
      {"ways 0\xe2\x80\x93"
       "3",
       "'ways 0\xe2\x80\x93"
       "3' is not a range of the ways 0 to 31; write \"ways 0-3\""},
      {"ways 0,2", "'ways 0,2' is not a range of the ways 0 to 31; write \"2 ways\""},
      {"ways 0-3,5", "'ways 0-3,5' is not a range of the ways 0 to 31; write \"5 ways\""},
      {"ways 3-99", "'ways 3-99' is not a range of the ways 0 to 31; write \"ways 4-7\""},
      {"1-6 ways",
       "'1-6 ways' is not a cache amount; write \"ways 1-6\" for exactly these ways, or "
       "\"1..6 ways\" for a number between"},
      {"10% to 40%", "'10% to 40%' is not a percentage; write \"10%..40%\""},
      {"51-100%",
       "'51-100%' is not a percentage; write \"50%\" for as much of the cache, or \"51..100%\" for "
       "a "
       "number between"},
      {"0-50%", "'0-50%' is not a percentage; write \"50%\" for as much of the cache"},
      {"0-0%", "'0-0%' is not a percentage"},
      {"60-40%", "'60-40%' is not a percentage"},
      {"0b1111", "'0b1111' is not a cache amount; write \"0xf\""},
      {"four ways", "'four ways' is not a cache amount; write \"4 ways\""},
      {"shared", "'shared' is not a cache amount; write \"all\""},
      {"ff", "'ff' is not a cache amount; write \"0xff\""},
      {"bad",
       "'bad' is not a cache amount; write \"40%\", \"4 ways\", \"ways 4-7\", \"6 MiB\", "
       "\"0xf0\" or \"all\""},
      {"4-7", "'4-7' is not a cache amount; write \"ways 4-7\""},
      {"w4-7", "'w4-7' is not a cache amount; write \"ways 4-7\""},
      {"bits 4-11", "'bits 4-11' is not a cache amount; write \"ways 4-11\""},
      {"bit 4", "'bit 4' is not a cache amount; write \"ways 4\""},
      {"MASK 0xff0", "'MASK 0xff0' is not a cache amount; write \"0xff0\""},
      {"cbm = 0xf0", "'cbm = 0xf0' is not a cache amount; write \"0xf0\""},
      {"mask:0xf", "'mask:0xf' is not a cache amount; write \"0xf\""},
      {"4", "'4' is not a cache amount; write \"4 ways\""},
      {"1", "'1' is not a cache amount; write \"1 way\""},
      {"40", "'40' is not a cache amount; write \"40%\""},
      {"25 percent", "'25 percent' is not a cache amount; write \"25%\""},
      {"25 per cent", "'25 per cent' is not a cache amount; write \"25%\""},
      {"4 Ways", "'4 Ways' is not a cache amount; write \"4 ways\""},
      {"f0", "'f0' is not a cache amount; write \"0xf0\""},
      {"ALL", "'ALL' is not a cache amount; write \"all\""},
      {"4294967297 ways", "'4294967297 ways' is not a cache amount; a cache has at most 32 ways"},
      {"-1 ways", "'-1 ways' is not a cache amount; a number of ways is whole: write \"1 way\""},
      {"",
       "'' is not a cache amount; write \"40%\", \"4 ways\", \"ways 4-7\", \"6 MiB\", "
       "\"0xf0\" or \"all\""},
      {"lots",
       "'lots' is not a cache amount; write \"40%\", \"4 ways\", \"ways 4-7\", \"6 MiB\", "
       "\"0xf0\" or \"all\""},
      {"1.2.3 MB",
       "'1.2.3 MB' is not a cache amount; write \"40%\", \"4 ways\", \"ways 4-7\", \"6 "
       "MiB\", \"0xf0\" or \"all\""}};
  for (const auto& row : rows) {
    const auto amount = parse_cache_amount(row.text);
    EXPECT_EQ(amount ? "" : error_text(amount.error()), row.error) << row.text;
  }
}

TEST(Amount, RangeOfCache) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {
      {"1..6 ways", ""},
      {"1 way..6 ways", ""},
      {"2 ways..2 ways", ""},
      {"10..40%", ""},
      {"10% .. 40%", ""},
      {"512 KiB..2 MiB", ""},
      {"2 ways..all", ""},
      {"6..1 ways",
       "'6..1 ways' is not a range: its first end is the larger one; write \"1..6 ways\""},
      {"1 way..50%",
       "'1 way..50%' is not a range: its ends are not two sizes of one kind; write both in one "
       "unit, as in \"1..6 ways\""},
      {"all..2 ways",
       "'all..2 ways' is not a range: its ends are not two sizes of one kind; write both in one "
       "unit, as in \"1..6 ways\""},
      {"0x1..0xf",
       "'0x1..0xf' is not a range: its ends are not two sizes of one kind; write both in one unit, "
       "as in \"1..6 ways\""},
      {"ways 1..6", "'ways 1..6' is not a range of the ways 0 to 31; write \"ways 1-6\""},
      {"1..2..3 ways",
       "'1..2..3 ways' is not a range: it has more than two ends; write \"1..6 ways\""},
      {"0..6 ways",
       "'0..6 ways' is not a range: '0 ways' is no cache at all: the minimum is 1 way; write "
       "\"1..6 ways\""},
      {"..6 ways", "'..6 ways' is not a range: '' is not a cache amount; write \"1..6 ways\""},
      {"1..6", "'1..6' is not a range: '1' is not a cache amount; write \"1..6 ways\""},
  };
  for (const auto& row : rows) {
    const auto amount = parse_cache_amount(row.text);
    EXPECT_EQ(amount ? "" : error_text(amount.error()), row.error) << row.text;
    EXPECT_EQ(amount && amount->least, *row.error == '\0') << row.text;
  }
}

// What was meant is tried by the parser, which asks for what was meant: once.
TEST(Amount, ManySignsOfARange) {
  const std::string text = "1:1-1:1-1:1-1:1-1:1-1:1-1:1-1:1%";
  EXPECT_EQ(error_text(parse_cache_amount(text).error()), "'" + text + "' is not a percentage");
  EXPECT_EQ(error_text(parse_bandwidth_amount(text).error()), "'" + text + "' is not a percentage");
}

TEST(Amount, RangeOfBandwidth) {
  const auto range = parse_bandwidth_amount("1..8 GB/s");
  ASSERT_TRUE(range && range->least);
  EXPECT_EQ(std::get<Rate>(*range->least).bytes_per_second, 1'000'000'000U);
  EXPECT_EQ(std::get<Rate>(range->value).bytes_per_second, 8'000'000'000U);
  EXPECT_EQ(range->text, "1..8 GB/s");
  EXPECT_TRUE(parse_bandwidth_amount("10%..unlimited")->least);
  EXPECT_EQ(error_text(parse_bandwidth_amount("50%..10%").error()),
            "'50%..10%' is not a range: its first end is the larger one; write \"10%..50%\"");
  EXPECT_EQ(error_text(parse_bandwidth_amount("10%..8 GB/s").error()),
            "'10%..8 GB/s' is not a range: its ends are not two sizes of one kind; write both in "
            "one unit, as in "
            "\"10%..100%\"");
}

TEST(Amount, Bandwidth) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {
      {"50%", ""},
      {"8 GB/s", ""},
      {"800 MiB/s", ""},
      {"unlimited", ""},
      {"0%", "'0%' is not above 0%; write \"1%\""},
      {"8 GB", "'8 GB' is not a bandwidth; write \"8 GB/s\""},
      {"6GB", "'6GB' is not a bandwidth; write \"6 GB/s\""},
      {"8 GBps", ""},
      {"800mib/s", "'800mib/s' is not a bandwidth; write \"800 MiB/s\""},
      {"1 GiB/sec", "'1 GiB/sec' is not a bandwidth; write \"1 GiB/s\""},
      {"max", "'max' is not a bandwidth; write \"unlimited\""},
      {"all", "'all' is not a bandwidth; write \"unlimited\""},
      {"50", "'50' is not a bandwidth; write \"50%\"; on AMD's processors, 50 is \"6.25 GB/s\""},
      {"2048",
       "'2048' is not a bandwidth; add a unit: \"2048 MiB/s\", or of AMD's schemata \"256 GB/s\""},
      {"10%-100%", "'10%-100%' is not a percentage; write \"10%..100%\""},
      {"10 to 60%", "'10 to 60%' is not a percentage; write \"10..60%\""},
      {"1-8 GB/s", "'1-8 GB/s' is not a bandwidth; write \"1..8 GB/s\""},
      {"50 percent", "'50 percent' is not a bandwidth; write \"50%\""},
      {"50 per cent", "'50 per cent' is not a bandwidth; write \"50%\""},
      {"no limit", "'no limit' is not a bandwidth; write \"unlimited\""},
      {"0 GB/s", "'0 GB/s' is no bandwidth at all; write \"1 MB/s\""},
      {"inf%", "'inf%' is not a percentage"},
      {"4 ways", "'4 ways' is not a bandwidth; it is a part of a cache: write l3 = \"4 ways\""},
      {"", "'' is not a bandwidth; write \"50%\", \"8 GB/s\", \"800 MiB/s\" or \"unlimited\""}};
  for (const auto& row : rows) {
    const auto amount = parse_bandwidth_amount(row.text);
    EXPECT_EQ(amount ? "" : error_text(amount.error()), row.error) << row.text;
  }
}

TEST(Duration, AsSystemdWritesThem) {
  using std::chrono::microseconds;
  const struct {
    const char* text;
    int64_t usec;
  } rows[] = {{"0", 0},
              {"30", 30'000'000},
              {"30s", 30'000'000},
              {"1min 30s", 90'000'000},
              {"2h", 7'200'000'000},
              {"5ms", 5000},
              {"1d", 86'400'000'000}};
  for (const auto& row : rows)
    EXPECT_EQ(parse_duration(row.text), microseconds(row.usec)) << row.text;
  EXPECT_EQ(parse_duration("-1s").error(),
            "'-1s' is not a time span; write \"30s\", \"5min\" or \"0\"");
  EXPECT_EQ(parse_duration("").error(), "'' is not a time span; write \"30s\", \"5min\" or \"0\"");
  EXPECT_EQ(parse_duration("1 fortnight").error(),
            "'1 fortnight' is not a time span; write \"30s\", \"5min\" or \"0\"");
  // Also spans that have too many microseconds for a number.
  for (const std::string text :
       {"200d", "101d", "30500569w", "30500570w", "4294967295w", "1d 4294967295weeks"})
    EXPECT_EQ(parse_duration(text).error(), fmt::format("'{}' is longer than 100 days", text));
  EXPECT_EQ(parse_duration("99d 24h"), std::chrono::days(100));
}

}  // namespace
}  // namespace rdtd
