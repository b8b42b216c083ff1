// Controls that the policy language has no word for: what their amounts come to.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../../src/plan/control_value.hpp"
#include "support.hpp"

namespace rdtd {
namespace {

// "5", or why not.
std::string value(const std::string& text, const Resource& name, const Control& control) {
  const auto amount = parse_control_amount(text);
  if (!amount) return fmt::format("{} [{}]", amount.error().message, amount.error().hint);
  const auto value = control_value(*amount, name, control);
  if (value) return name.is_bitmap() ? fmt::format("{:x}", *value) : std::to_string(*value);
  return fmt::format("{}{} [{}]", value.error().unsupported ? "unsupported: " : "",
                     value.error().message, value.error().hint);
}

TEST(Controls, Amounts) {
  Control unknown;
  Control flag;
  flag.minimum = 0;
  flag.maximum = 1;
  Control percent;
  percent.unit = "percent";
  percent.granularity = 5;
  percent.minimum = 10;
  Control share;
  share.unit = "all";
  share.resolution = 64;
  share.maximum = 64;
  Control below_whole = share;
  below_whole.maximum = 63;
  Control rate;
  rate.unit = "GBps";
  rate.resolution = 8;
  rate.maximum = 8192;
  Control mask;
  mask.maximum = 0xff;
  Control two_ways = mask;
  two_ways.min_bits = 2;
  Control two_ways_of_generic = two_ways;
  two_ways_of_generic.resource = "L3";
  Control gaps = mask;
  gaps.sparse = true;
  const Resource number("NAME", false), bitmap("MASK", true);
  const struct {
    const char* text;
    const Resource& name;
    const Control& control;
    const char* result;
  } rows[] = {
      {"3", number, unknown, "3"},
      {"0", number, unknown, "0"},
      {"50%", number, unknown,
       "unsupported: '50%' is a percentage, and NAME counts in a unit that the kernel does not "
       "name "
       "here [write the number for schemata]"},
      {"unlimited", number, unknown,
       "unsupported: 'unlimited' is no number, and NAME counts in a unit that the kernel does not "
       "name here [write the number for schemata]"},
      {"1", number, flag, "1"},
      {"2", number, flag, "'2' is out of range: NAME takes 0 to 1 []"},
      {"unlimited", number, flag, "1"},
      {"0%", number, percent, "10"},
      {"3%", number, percent, "10"},
      {"12%", number, percent, "15"},
      {"100%", number, percent, "100"},
      {"unlimited", number, percent, "100"},
      {"12", number, percent, "15"},
      {"3", number, percent, "'3' is out of range: NAME takes 10 to 100 []"},
      {"8 GB/s", number, percent,
       "unsupported: '8 GB/s' is a rate, and NAME counts percent here [write a percentage "
       "such as \"50%\"]"},
      {"0%", number, share, "0"},
      {"1%", number, share, "1"},
      {"50%", number, share, "32"},
      {"100%", number, share, "64"},
      {"100%", number, below_whole, "63"},
      {"64", number, below_whole, "'64' is out of range: NAME takes 0 to 63 []"},
      {"100 GB/s", number, rate, "800"},
      {"130 MB/s", number, rate, "2"},
      {"2000 GB/s", number, rate,
       "'2000 GB/s' is out of range: NAME takes 0 to 8192 in schemata []"},
      {"unlimited", number, rate, "8192"},
      {"50%", number, rate,
       "unsupported: '50%' is a percentage, and NAME counts GBps here [write \"8 GB/s\", or the "
       "number for schemata]"},
      {"0xf0", number, rate,
       "unsupported: '0xf0' is a mask, and NAME counts GBps here [write \"8 GB/s\", or the number "
       "for schemata]"},
      {"0xf0", bitmap, mask, "f0"},
      {"0x4", bitmap, two_ways,
       "'0x4' is too little: a mask of MASK has at least 2 ways (min_cbm_bits) []"},
      {"0x4", bitmap, two_ways_of_generic,
       "'0x4' is too little: a mask of MASK has at least 2 ways (min_bits) []"},
      {"0xc", bitmap, two_ways, "c"},
      {"0x5", bitmap, mask, "'0x5' has gaps; masks of MASK must be contiguous [write \"0x7\"]"},
      {"0x5", bitmap, gaps, "5"},
      {"0x100", bitmap, mask, "'0x100' is out of range: the mask of MASK is 0xff []"},
      {"unlimited", bitmap, mask, "ff"},
      {"4", bitmap, mask,
       "unsupported: '4' is a number, and MASK counts ways in a bit mask here [write \"0xf0\"]"},
      {"4 ways", number, unknown,
       "'4 ways' is not an amount of a control [write 1, \"50%\", \"8 GB/s\", \"0xf0\" or "
       "\"unlimited\"]"},
      {"0x", number, unknown, "'0x' is not a mask of at most 32 bits []"},
      {"101%", number, share, "'101%' is more than 100% [write \"100%\"]"},
      {"x%", number, share, "'x%' is not a percentage []"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(value(row.text, row.name, row.control), row.result) << row.text;
}

std::string errors_of(const std::string& policy) {
  const ParsedPolicy parsed = test::parse(policy);
  return format_diagnostics(parsed.diagnostics, {});
}

TEST(Controls, ErrorsOfThePolicy) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {
      {"control = 1",
       "p.toml:2:11: error: 'control' must be a table, not an integer\n      | write control = { "
       "NAME = 1 }\n"},
      {"control = { MB = 1 }",
       "p.toml:2:13: error: 'MB' has a key of its own\n      | write mb in [group.NAME]\n"},
      {"mb_min = \"20%\"\ncontrol = { MB_MIN = 1 }",
       "p.toml:2:1: error: 'mb_min' and the control MB_MIN are the same\n      | remove one of "
       "them\n"},
      {"control = { \"a b\" = 1 }",
       "p.toml:2:13: error: 'a b' cannot be the name of a control\n      | write the name of a row "
       "of schemata\n"},
      {"control = { X = 1.5 }",
       "p.toml:2:17: error: 'X' must be a number or a string or a table that maps domains to "
       "amounts, not a float\n"},
      {"control = { X = -1 }",
       "p.toml:2:17: error: '-1' is not an amount of a control\n      | write 1, \"50%\", \"8 "
       "GB/s\", \"0xf0\" or \"unlimited\"\n"},
      {"control = { X = {} }", "p.toml:2:17: error: 'X' names no domain\n"},
      {"mb_min = \"4 ways\"",
       "p.toml:2:10: error: '4 ways' is not a bandwidth\n      | it is a part of a cache: write l3 "
       "= \"4 ways\"\n"},
      {"mb_hlim = 1",
       "p.toml:2:1: error: unknown key 'mb_hlim' in [group.a]\n      | write control = { "
       "MB_HLIM = 1 }\n"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(errors_of(std::string("[group.a]\n") + row.text + "\n"), row.error) << row.text;
  EXPECT_EQ(
      errors_of(
          "[partition.p]\nl3 = \"1 way\"\ncontrol = { X = 1 }\n[group.a]\npartition = \"p\"\n"),
      "p.toml:3:1: error: unknown key 'control' in [partition.p]\n      | the keys are override, "
      "exclusive, l3, l3code, l3data, l2, l2code, l2data\n");
}

TEST(Controls, StepsAreDescribed) {
  Control control;
  EXPECT_EQ(describe(Resource("NAME", false), control), "a number");
  control.granularity = 2;
  EXPECT_EQ(describe(Resource("NAME", false), control), "a number, in steps of 2");
}

}  // namespace
}  // namespace rdtd
