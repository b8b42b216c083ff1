#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include "rdtd/base/error.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/base/unique_fd.hpp"

namespace rdtd {
namespace {

TEST(Error, Text) {
  EXPECT_EQ((Error{"open", "/x", ENOENT, {}}.text()), "cannot open /x: No such file or directory");
  EXPECT_EQ((Error{"make group", "/x", ENOSPC, "last_cmd_status: Out of CLOSIDs"}.text()),
            "cannot make group /x: No space left on device (last_cmd_status: Out of CLOSIDs)");
  EXPECT_EQ((Error{"use", "/x", 0, "nothing is mounted"}.text()),
            "cannot use /x: nothing is mounted");
}

TEST(UniqueFd, MoveAssignmentClosesTheOld) {
  UniqueFd a(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
      b(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int old = a.get();
  a = std::move(b);
  EXPECT_EQ(::fcntl(old, F_GETFD), -1);
  EXPECT_NE(::fcntl(a.get(), F_GETFD), -1);
}

TEST(Text, ParseUnsigned) {
  EXPECT_EQ(parse_unsigned<uint8_t>("255"), 255);
  EXPECT_EQ(parse_unsigned<uint32_t>("ff", 16), 255U);
  for (const char* bad : {"", "256", "-1", "+1", " 1", "1 ", "0x1"})
    EXPECT_FALSE(parse_unsigned<uint8_t>(bad)) << bad;
}

TEST(Text, Printable) {
  const struct {
    const char* text;
    const char* printed;
  } rows[] = {{"plain", "plain"},
              {"\xc3\xa4", "\xc3\xa4"},
              {"\xc3", "?"},
              {"a\x1b[0m", "a?[0m"},
              {"\t", " "},
              {"\xff\xfe", "??"},
              {"\xe2\x96\x88", "\xe2\x96\x88"},
              {"\xf0\x9f", "??"},
              {"\xed\xa0\x80", "???"},
              {"\xe0\x80\x80", "???"},
              {"\xc0\x80", "??"},
              {"\xf4\x90\x80\x80", "????"},
              {"\xef\xbf\xbe", "???"},
              {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
              {"a\u0080b\u009fc\u00a0", "a?b?c\u00a0"},
              {"\u2028\u2029", "??"},
              {"\u200e\u200f\u202a\u202e\u2066\u2069", "??????"},
              {"\u200d\u2027\u202f\u2065\u206a", "\u200d\u2027\u202f\u2065\u206a"}};
  for (const auto& row : rows) EXPECT_EQ(printable(row.text), row.printed) << row.text;
}

TEST(Text, NearestName) {
  const std::vector<std::string> keys = {"l3", "mb", "exclusive", "partition"};
  const struct {
    const char* name;
    const char* nearest;
  } rows[] = {{"mba", "mb"},
              {"exclusiv", "exclusive"},
              {"partitoin", "partition"},
              {"l4", "l3"},
              {"bm", "mb"},
              {"xeclusive", "exclusive"},
              {"colour", ""},
              {"x", ""}};
  for (const auto& row : rows)
    EXPECT_EQ(nearest_name(row.name, keys).value_or(""), row.nearest) << row.name;
}

TEST(Glob, Problems) {
  const struct {
    const char* pattern;
    const char* problem;
  } rows[] = {{"redis-*", ""},
              {"[a-z]x", ""},
              {"[]]", ""},
              {"[!]]", ""},
              {"a\\*", ""},
              {"\\[x", ""},
              {"[abc", "its '[' has no ']'"},
              {"[]", "its '[' has no ']'"},
              {"[!]", "its '[' has no ']'"},
              {"x\\", "it ends in a lone '\\'"}};
  for (const auto& row : rows)
    EXPECT_EQ(glob_problem(row.pattern).value_or(""), row.problem) << row.pattern;
}

TEST(Glob, PathMatch) {
  const struct {
    const char* pattern;
    const char* path;
    bool matches;
  } rows[] = {{"/a/*", "/a/b", true},    {"/a/*", "/a/b/c", false},    {"/a/**", "/a/b/c", true},
              {"/a/**", "/a", true},     {"/**/c", "/a/b/c", true},    {"/**/c", "/c", true},
              {"/a/**/c", "/a/c", true}, {"/a/**/c", "/a/b/d", false}, {"**/x", "/a/x", true},
              {"/a?c", "/abc", true},    {"/a?c", "/a/c", false}};
  for (const auto& row : rows)
    EXPECT_EQ(path_glob_match(row.pattern, row.path), row.matches)
        << row.pattern << " " << row.path;
}

}  // namespace
}  // namespace rdtd
