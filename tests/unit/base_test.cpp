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

TEST(Text, NearestName) {
  const std::vector<std::string> keys = {"l3", "mb", "exclusive", "partition"};
  const struct {
    const char* name;
    const char* nearest;
  } rows[] = {{"mba", "mb"},
              {"exclusiv", "exclusive"},
              {"partitoin", "partition"},
              {"l4", "l3"},
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
