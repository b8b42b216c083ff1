#include <fnmatch.h>
#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "rdtd/base/break_lines.hpp"
#include "rdtd/base/error.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/inheriting_mutex.hpp"
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

TEST(Text, LowerIsOfAsciiAlone) {
  EXPECT_EQ(lower("L3 Ways, 50%_@[`{Zz"), "l3 ways, 50%_@[`{zz");
  EXPECT_EQ(lower("\xc3\x84"), "\xc3\x84");  // a capital letter of Latin-1
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
              {"[[:alpha:]_]", ""},
              {"[[:Alpha:]", ""},
              {"[abc", "its '[' has no ']'"},
              {"[]", "its '[' has no ']'"},
              {"[!]", "its '[' has no ']'"},
              {"[a\\]", "its '[' has no ']'"},
              {"[[:alpha:]", "its '[' has no ']'"},
              {"[[:letter:]]", "it contains an unknown character class"},
              {"[[.a.]]", "it contains '[.' or '[=', which are not supported"},
              {"[[=a=]]", "it contains '[.' or '[=', which are not supported"},
              {"x\\", "it ends in a lone '\\'"}};
  for (const auto& row : rows) {
    EXPECT_EQ(glob_problem(row.pattern).value_or(""), row.problem) << row.pattern;
    EXPECT_EQ(path_glob_problem("/a/" + std::string(row.pattern) + "/b").value_or(""), row.problem)
        << row.pattern;
  }
}

TEST(Glob, PathProblems) {
  const struct {
    const char* pattern;
    const char* problem;
  } rows[] = {{"/", ""},
              {"/**/a/**", ""},
              {"/**/**/a/**/**/b", ""},
              {"/**/a/**/b/**", "it has more than two '**'"},
              {"**/a/**/b/**/c", "it has more than two '**'"},
              {"/x[a/b]", "its '[' has no ']'"},
              {"/a\\/b", "it ends in a lone '\\'"}};
  for (const auto& row : rows)
    EXPECT_EQ(path_glob_problem(row.pattern).value_or(""), row.problem) << row.pattern;
}

TEST(Glob, PathMatch) {
  const struct {
    const char* pattern;
    const char* path;
    bool matches;
    bool ancestor_matches;
  } rows[] = {{"/a/*", "/a/b", true, true},
              {"/a/*", "/a", false, false},
              {"/a/*", "/a/b/c", false, true},
              {"/a/**", "/a/b/c", true, true},
              {"/a/**", "/a", true, true},
              {"/a/**", "/b/a", false, false},
              {"/**/c", "/a/b/c", true, true},
              {"/**/c", "/c", true, true},
              {"/**/c", "/a/c/b", false, true},
              {"/a/**/c", "/a/c", true, true},
              {"/a/**/c", "/a/b/d", false, false},
              {"/a/**/**/c", "/a/c", true, true},
              {"**/x", "/a/x", true, true},
              {"**", "/", true, true},
              {"/**", "/", true, true},
              {"/", "/", true, true},
              {"/", "/a", false, true},
              {"/*", "/", false, false},
              {"/*", "/a/b", false, true},
              {"/a/**/b/**/c", "/a/b/b/x/c", true, true},
              {"/a/**/b/c/**/c", "/a/b/b/c", false, false},
              {"/**/ab/a", "/ab/ab/a", true, true},
              {"/**/ab/a/**", "/ab/ab/a/b", true, true},
              {"/a?c", "/abc", true, true},
              {"/a?c", "/a/c", false, false},
              {"**", "", false, false},
              {"**/a", "a", false, false},
              {"/a", "a", false, false}};
  for (const auto& row : rows) {
    EXPECT_EQ(path_glob_match(row.pattern, row.path), row.matches)
        << row.pattern << " " << row.path;
    EXPECT_EQ(path_glob_match_ancestor(row.pattern, row.path), row.ancestor_matches)
        << row.pattern << " " << row.path;
  }
}

// Random texts from few parts, so that many of them match.
class Texts {
 public:
  std::string operator()(std::span<const std::string_view> parts, size_t most) {
    std::string out;
    for (size_t n = random_() % (most + 1); n > 0; n--) out += parts[random_() % parts.size()];
    return out;
  }

 private:
  std::mt19937 random_{1};
};

TEST(Glob, AgreesWithFnmatch) {
  constexpr std::array<std::string_view, 20> pattern_parts = {
      "a",   "b",    "c",   "*",  "*", "?", "[ab]",        "[!a]",          "[a-c]", "[^b-c]",
      "[]]", "[a-]", "\\*", "\\", "[", "]", "[[:alpha:]]", "[![:punct:]*]", "-",     "[\\]a]"};
  constexpr std::array<std::string_view, 9> text_parts = {"a", "b", "c",  "*",   "-",
                                                          "]", "[", "\\", "\xc3"};
  Texts random;
  int matches = 0;
  for (int i = 0; i < 200'000; i++) {
    const std::string pattern = random(pattern_parts, 6);
    if (glob_problem(pattern)) continue;
    const std::string text = random(text_parts, 6);
    const bool expected = ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
    ASSERT_EQ(glob_match(pattern, text), expected) << pattern << " " << text;
    matches += expected ? 1 : 0;
  }
  EXPECT_GT(matches, 5'000);
}

// In UTF-8 what is compared are characters. A byte that is none counts as one: the kernel cuts
// names.
TEST(Glob, ComparesCharacters) {
  const struct {
    const char *pattern, *text;
    bool matches;
  } rows[] = {{"gr?n", "grün", true},     {"gr??n", "grün", false},    {"gr[äöü]n", "grün", true},
              {"gr[!ü]n", "grün", false}, {"gr[!u]n", "grün", true},   {"gr[ö-ý]n", "grün", true},
              {"*?€", "a€", true},        {"*??", "€", false},         {"*[€]", "a€", true},
              {"?", "\xc3", true},        {"??", "ü", false},          {"gr*n", "grün", true},
              {"[\\ü]", "ü", true},       {"[[:alpha:]]", "ü", false}, {"a?", "a\xe2\x82", false}};
  for (const auto& row : rows)
    EXPECT_EQ(glob_match(row.pattern, row.text), row.matches) << row.pattern << " " << row.text;
}

// With other letters in the same order, it is the same.
TEST(Glob, CharactersMatchAsAsciiDoes) {
  constexpr std::array<std::string_view, 11> pattern_parts = {
      "a", "ü", "€", "*", "?", "[aü]", "[!ü]", "[ö-ý]", "[^€]", "[]]", "\\ü"};
  constexpr std::array<std::string_view, 5> text_parts = {"a", "ü", "ö", "€", "]"};
  const auto in_ascii = [](std::string text) {
    for (const auto& [from, to] : {std::pair("ö", "m"), {"ü", "n"}, {"ý", "o"}, {"€", "z"}})
      for (size_t at = 0; (at = text.find(from)) != std::string::npos;)
        text.replace(at, std::string_view(from).size(), to);
    return text;
  };
  Texts random;
  int matches = 0;
  for (int i = 0; i < 100'000; i++) {
    const std::string pattern = random(pattern_parts, 5);
    const std::string text = random(text_parts, 5);
    const bool expected = glob_match(in_ascii(pattern), in_ascii(text));
    ASSERT_EQ(glob_match(pattern, text), expected) << pattern << " " << text;
    matches += expected ? 1 : 0;
  }
  EXPECT_GT(matches, 2'000);
}

// Path globs as they are defined: `**` is nothing, or one component and `**`.
bool matches_by_definition(std::span<const std::string_view> pattern,
                           std::span<const std::string_view> path) {
  if (pattern.empty()) return path.empty();
  if (pattern[0] == "**")
    return matches_by_definition(pattern.subspan(1), path) ||
           (!path.empty() && matches_by_definition(pattern, path.subspan(1)));
  return !path.empty() && glob_match(pattern[0], path[0]) &&
         matches_by_definition(pattern.subspan(1), path.subspan(1));
}

TEST(Glob, PathMatchAgreesWithItsDefinition) {
  constexpr std::array<std::string_view, 9> pattern_parts = {"/a",  "/b",  "/ab", "/aab", "/*",
                                                             "/**", "/**", "/a*", "/?b"};
  constexpr std::array<std::string_view, 4> path_parts = {"/a", "/b", "/ab", "/aab"};
  Texts random;
  int matches = 0;
  for (int i = 0; i < 100'000; i++) {
    const std::string pattern = "/b" + random(pattern_parts, 7);
    const std::string path = "/b" + random(path_parts, 8);
    const auto wanted = split(std::string_view(pattern).substr(1), '/');
    const auto components = split(std::string_view(path).substr(1), '/');
    const std::span all(components);
    const bool whole = matches_by_definition(wanted, all);
    bool ancestor = false;
    for (size_t n = 0; n <= all.size(); n++)
      ancestor |= matches_by_definition(wanted, all.first(n));
    ASSERT_EQ(path_glob_match(pattern, path), whole) << pattern << " " << path;
    ASSERT_EQ(path_glob_match_ancestor(pattern, path), ancestor) << pattern << " " << path;
    matches += whole ? 1 : 0;
  }
  EXPECT_GT(matches, 5'000);
}

std::string repeated(std::string_view part, size_t times) {
  std::string out;
  while (times-- > 0) out += part;
  return out;
}

template <class Match>
uint64_t steps_of(Match match) {
  const uint64_t before = glob_steps();
  (void)match();
  return glob_steps() - before;
}

// What stands behind a '*' is searched for, not compared at each place.
TEST(Glob, SearchesForText) {
  const std::string text = std::string(65'536, '-') + "-name web -x";
  EXPECT_TRUE(glob_match("*-name web *", text));
  EXPECT_LE(steps_of([&] { return glob_match("*-name web *", text); }), text.size() + 100);
  EXPECT_FALSE(glob_match("*-nam? web", text));
  EXPECT_TRUE(glob_match("*-nam? web*x", text));
  EXPECT_TRUE(glob_match("*\u00e9?b", "\u00e9\u00e9\u00e9b"));
}

// Long texts are searched another way than short ones, with the same result.
TEST(Glob, MatchesInLongTexts) {
  constexpr std::array<std::string_view, 12> parts = {
      "a", "b", "*", "?", "[ab]", "[!a]", "*b", "[[:digit:]]", "\\a", "*[a-b]", "?b", "[!0-9]"};
  std::mt19937 random(7);
  size_t matches = 0;
  for (int n = 0; n < 4'000; n++) {
    std::string pattern = "*", text;
    for (auto count = 1 + random() % 5; count > 0; count--)
      pattern += parts[random() % parts.size()];
    // Little of it ends what begins to match.
    for (auto size = random() % 900; size > 0; size--) text += random() % 60 == 0 ? 'b' : 'a';
    if (random() % 2 == 0) text += "7ab";
    const bool expected = ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
    ASSERT_EQ(glob_match(pattern, text), expected) << pattern << " " << text;
    matches += expected ? 1 : 0;
  }
  EXPECT_GT(matches, 500U);
  EXPECT_LT(matches, 3'500U);
  const std::string many(3'000, 'x'), umlauts = repeated("ü", 3'000);
  const struct {
    std::string pattern, text;
    bool matches;
  } rows[] = {{"*[ü]?[€]b", umlauts + "€b", true},
              {"*[ü]?[€]b", umlauts + "€c", false},
              {"*[!x]?ü*b", umlauts + "ab", true},
              {"*[!ü]?", umlauts + "ab", true},
              {"*[!ü]?", umlauts, false},
              {"*[!x]?", many + "ü", false},
              {"*[!x]", many + "ü", true},
              {"*[!x]x", many + "\xc3x", true},
              {"*?[[:alpha:]]ü", umlauts, false},
              {"*[x]\\[", many + "[", true},
              {"*[x][y", many + "[y", true},
              {"*[x]\\*", many + "*", true},
              {"*[x][x]*[x]b*c", many + "b*c", true}};
  for (const auto& row : rows)
    EXPECT_EQ(glob_match(row.pattern, row.text), row.matches) << row.pattern;
  // More elements than are compared at once.
  const std::string long_part = "*" + repeated("[x]", 70);
  EXPECT_TRUE(glob_match(long_part + "b", many + "b"));
  EXPECT_FALSE(glob_match(long_part + "b", many));
}

// The owner of a process chooses its command line, of two megabytes.
TEST(Glob, WorkIsThatOfTheTextAlone) {
  const std::string text(2 << 20, 'a');
  for (const char* pattern :
       {"*[a-z][a-z][a-z][a-z][a-z][a-z][0-9]", "*[a-z][a-z]*[a-z][a-z][0-9]*[a-z]x",
        "*a?a?a?a?a?b", "*aaaaaaaaaa[bc]", "*[[:alpha:]_][[:alnum:]_][[:alnum:]_][[:alnum:]_]=*"})
    EXPECT_LE(steps_of([&] { return glob_match(pattern, text); }), text.size() + 4'000) << pattern;
}

// Twice the text costs twice the work, whatever the pattern.
TEST(Glob, WorkIsLinearInTheText) {
  for (const char* pattern : {"*a*a*a*b", "*aaaaaaaab", "*a*?a*[ab]*b", "?*?*?*b", "a*a*a*a*c"}) {
    const auto steps = [&](size_t n) {
      return steps_of([&] { return glob_match(pattern, std::string(n, 'a')); });
    };
    EXPECT_LE(steps(8'000), 2 * steps(4'000) + 100) << pattern;
    EXPECT_LE(steps(4'000), 4'000 * 2 * std::string_view(pattern).size()) << pattern;
  }
  for (const char* pattern : {"/**/b", "/**/a/**/b", "/**/a/a/a/a/b", "/**/a/**/a/a/b/c", "**",
                              "/*/*/**/*/b", "/**/*a*a/**/b", "/a/**/a"}) {
    const auto steps = [&](size_t n) {
      const std::string path = repeated("/a", n);
      return steps_of([&] { return path_glob_match(pattern, path); }) +
             steps_of([&] { return path_glob_match_ancestor(pattern, path); });
    };
    EXPECT_LE(steps(4'000), 2 * steps(2'000) + 100) << pattern;
    EXPECT_LE(steps(2'000), 2'000 * 4 * std::string_view(pattern).size()) << pattern;
  }
}

TEST(BreakLines, Rows) {
  const struct {
    const char* text;
    size_t width, indent;
    const char* lines;
  } rows[] = {
      {"", 8, 0, ""},
      {"0=1;1=2", 8, 0, "0=1;1=2"},
      {"0=1;1=2;2=3", 8, 0, "0=1;1=2;\n2=3"},
      {"A:0=1 B:0=1", 8, 0, "A:0=1\nB:0=1"},
      {"g  0=1;1=2;2=3;3=4", 11, 3, "g  0=1;1=2;\n   2=3;3=4"},
      // An entry that is longer than a line.
      {"0,2,4,6,8=f;1=e", 8, 0, "0,2,4,6,\n8=f;1=e"},
      {"verb  name-that-is-long 0=1", 10, 6, "verb  name-that-is-long\n      0=1"},
      {"abcdefghij;k", 4, 0, "abcdefghij;\nk"},
      {"0=1; 1=2", 4, 2, "0=1;\n  1=2"},
      {"abcdefghij", 4, 6, "abcdefghij"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(break_lines(row.text, row.width, row.indent), row.lines) << row.text;
}

TEST(Counted, AgreesWithTheNumber) {
  EXPECT_EQ(counted(0, "group"), "0 groups");
  EXPECT_EQ(counted(1, "group"), "1 group");
  EXPECT_EQ(counted(12, "group"), "12 groups");
  EXPECT_EQ(counted(1, "process", "processes"), "1 process");
  EXPECT_EQ(counted(2, "process", "processes"), "2 processes");
}

TEST(Text, ValuesInMessagesAreCut) {
  const std::string name(64, 'a'), path = "/" + std::string(254, 'b');
  const std::string umlauts(63, 'c');
  const struct {
    std::string text, cut;
  } rows[] = {
      {"", ""},
      {"no group", "no group"},
      {"'" + name + "'", "'" + name + "'"},
      {"'" + name + "b' is none; 'x'", "'" + name + "...' is none; 'x'"},
      {"rdtd's '" + name + name + "'s of users' 'y'", "rdtd's '" + name + "...' 'y'"},
      {"(of='" + name + "bc'), '" + name + "d'", "(of='" + name + "...'), '" + name + "...'"},
      {"'" + umlauts + "\u00e4x'", "'" + umlauts + "...'"},
      {"'" + path + "' '" + path + "b'", "'" + path + "' '" + path + "...'"},
      {"'" + name + "b is open", "'" + name + "b is open"},
  };
  for (const auto& row : rows) EXPECT_EQ(with_short_values(row.text), row.cut) << row.text;
}

// The kernel finds the holder by the futex, which has its thread id if priority is inherited
// (FUTEX_LOCK_PI in futex(2)); that of other mutexes has 1. It is the first word of a mutex.
TEST(InheritingMutex, TheKernelKnowsItsHolder) {
  InheritingMutex mutex;
  const auto futex = [&] {
    uint32_t word = 0;
    std::memcpy(&word, static_cast<const void*>(&mutex), sizeof word);
    return static_cast<pid_t>(word);
  };
  EXPECT_EQ(futex(), 0);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(futex(), ::gettid());
}

TEST(InheritingMutex, AWaitHasAnEnd) {
  InheritingMutex mutex;
  const auto locked = [&](std::chrono::milliseconds wait) {
    bool out = false;
    std::thread([&] {
      out = mutex.lock_until(InheritingMutex::Clock::now() + wait);
      if (out) mutex.unlock();
    }).join();
    return out;
  };
  EXPECT_TRUE(locked(std::chrono::seconds(10)));
  const std::lock_guard lock(mutex);
  EXPECT_FALSE(locked(std::chrono::milliseconds(5)));
}

}  // namespace
}  // namespace rdtd
