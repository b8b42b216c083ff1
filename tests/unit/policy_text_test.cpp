// Every error in the form of a policy's text, as TOML, with its whole text; and the forms that must
// stay allowed.
#include <gtest/gtest.h>

#include "support.hpp"

namespace rdtd {
namespace {

std::string diagnostics(const std::string& text) {
  const ParsedPolicy parsed = test::parse(text);
  return format_diagnostics(parsed.diagnostics, parsed.policy.sources);
}

TEST(PolicyText, Errors) {
  const struct {
    const char* text;
    const char* errors;
  } rows[] = {
      {"[\n",
       R"(p.toml:1:1: error: a name must follow '['
    1 | [
      | ^
)"},
      {"[\xc3\xa9]\n",
       R"(p.toml:1:2: error: 'é' is not allowed in a key without quotes
    1 | [é]
      |  ^ quote the key: "é"
)"},
      {"[.a]\n",
       R"(p.toml:1:2: error: a name must come before '.'
    1 | [.a]
      |  ^
)"},
      {"[#\n",
       R"(p.toml:1:1: error: a name must follow '['
    1 | [#
      | ^
)"},
      {"[[=\n",
       R"(p.toml:1:1: error: a name must follow '[['
    1 | [[=
      | ^~
)"},
      {"[]\n",
       R"(p.toml:1:1: error: a name must follow '['
    1 | []
      | ^
)"},
      {"[a.]\n",
       R"(p.toml:1:3: error: a name must follow '.'
    1 | [a.]
      |   ^
)"},
      {"[group.a\n",
       R"(p.toml:1:1: error: ']' is missing after the name
    1 | [group.a
      | ^~~~~~~~
)"},
      {"[[rule]\n",
       R"(p.toml:1:1: error: ']]' is missing after the name
    1 | [[rule]
      | ^~~~~~
)"},
      {"[a] x\n",
       R"(p.toml:1:5: error: unexpected 'x' after ']'
    1 | [a] x
      |     ^
)"},
      {"[a]]\n",
       R"(p.toml:1:4: error: unexpected ']' after ']'
    1 | [a]]
      |    ^
)"},
      {"=1\n",
       R"(p.toml:1:1: error: a name must come before '='
    1 | =1
      | ^
)"},
      {".a = 1\n",
       R"(p.toml:1:1: error: a name must come before '.'
    1 | .a = 1
      | ^
)"},
      {"]\n",
       R"(p.toml:1:1: error: unexpected ']'; a key must stand here
    1 | ]
      | ^
)"},
      {"l3\n",
       R"(p.toml:1:3: error: '=' is missing after the key 'l3'
    1 | l3
      |   ^
)"},
      {"l3 \"4 ways\"\n",
       R"(p.toml:1:4: error: '=' is missing after the key 'l3'
    1 | l3 "4 ways"
      |    ^
)"},
      {"a b = 1\n",
       R"(p.toml:1:3: error: '=' is missing after the key 'a'
    1 | a b = 1
      |   ^ quote the key: "a b"
)"},
      {"\xc3\xa9 = 1\n",
       R"(p.toml:1:1: error: 'é' is not allowed in a key without quotes
    1 | é = 1
      | ^ quote the key: "é"
)"},
      {"\"\"\"a\"\"\" = 1\n",
       R"(p.toml:1:1: error: a key cannot be a multi-line string
    1 | """a""" = 1
      | ^~~
)"},
      {"a =\n",
       R"(p.toml:1:4: error: a value is missing
    1 | a =
      |    ^
)"},
      {"a = # 1\n",
       R"(p.toml:1:5: error: a value is missing
    1 | a = # 1
      |     ^
)"},
      {"a = 25%\n",
       R"(p.toml:1:5: error: '25%' is not in quotes
    1 | a = 25%
      |     ^~~ quote it: "25%"
)"},
      {"a = 4 ways\n",
       R"(p.toml:1:5: error: '4 ways' is not in quotes
    1 | a = 4 ways
      |     ^~~~~~ quote it: "4 ways"
)"},
      {"a = 0-3,8\n",
       R"(p.toml:1:5: error: '0-3,8' is not in quotes
    1 | a = 0-3,8
      |     ^~~~~ quote it: "0-3,8"
)"},
      {"a = 8GB\n",
       R"(p.toml:1:5: error: '8GB' is not in quotes
    1 | a = 8GB
      |     ^~~ quote it: "8GB"
)"},
      {"a = [redis]\n",
       R"(p.toml:1:6: error: 'redis' is not in quotes
    1 | a = [redis]
      |      ^~~~~ quote it: "redis"
)"},
      {"a = \xe2\x80\x9c"
       "50%\xe2\x80\x9d\n",
       R"(p.toml:1:5: error: '“50%”' is not in quotes
    1 | a = “50%”
      |     ^~~~~ quote it: "50%"
)"},
      {"a = \\[x\n",
       R"(p.toml:1:5: error: '\[x' is not in quotes
    1 | a = \[x
      |     ^~~ quote it: '\[x'
)"},
      {"a = yes\n",
       R"(p.toml:1:5: error: 'yes' is not a value
    1 | a = yes
      |     ^~~ write true
)"},
      {"a = off\n",
       R"(p.toml:1:5: error: 'off' is not a value
    1 | a = off
      |     ^~~ write false
)"},
      {"a = 1 b = 2\n",
       R"(p.toml:1:5: error: '1 b = 2' is not a value
    1 | a = 1 b = 2
      |     ^~~~~~~
)"},
      {"a = ]\n",
       R"(p.toml:1:5: error: ']' is not a value
    1 | a = ]
      |     ^
)"},
      {"a = 4 ways\"\n",
       R"(p.toml:1:5: error: the opening " is missing
    1 | a = 4 ways"
      |     ^~~~~~~
)"},
      {"a = 1 way'\n",
       R"(p.toml:1:5: error: the opening ' is missing
    1 | a = 1 way'
      |     ^~~~~~
)"},
      {"a = \"1 way\n",
       R"(p.toml:1:5: error: the closing " is missing
    1 | a = "1 way
      |     ^~~~~~
)"},
      {"a = 'x\n",
       R"(p.toml:1:5: error: the closing ' is missing
    1 | a = 'x
      |     ^~
)"},
      {"[group.\"a b]\n",
       R"(p.toml:1:8: error: the closing " is missing
    1 | [group."a b]
      |        ^~~~~
)"},
      {"a = \"\"\"x\n\n\n",
       R"(p.toml:1:5: error: the closing """ is missing
    1 | a = """x
      |     ^~~~
)"},
      {"a = '''x\n",
       R"(p.toml:1:5: error: the closing ''' is missing
    1 | a = '''x
      |     ^~~~
)"},
      {"a = \"x\" y\n",
       R"(p.toml:1:9: error: unexpected 'y' after the value
    1 | a = "x" y
      |         ^
)"},
      {"a = [1,\n\n\n",
       R"(p.toml:1:5: error: ']' is missing: this array does not end
    1 | a = [1,
      |     ^
)"},
      {"a = [\"x\" \"y\"]\n",
       R"(p.toml:1:10: error: ',' or ']' is missing in the array
    1 | a = ["x" "y"]
      |          ^
)"},
      {"a = { b = 1\n}\n",
       R"(p.toml:1:5: error: '}' is missing: a table in braces must end on its own line
    1 | a = { b = 1
      |     ^~~~~~~
)"},
      {"a = { b = \"x\", }\n",
       R"(p.toml:1:14: error: remove the ',' before '}'
    1 | a = { b = "x", }
      |              ^
)"},
      {"a = { b = \"x\" c = 2 }\n",
       R"(p.toml:1:15: error: ',' or '}' is missing in the table
    1 | a = { b = "x" c = 2 }
      |               ^
)"},
      {"a = { * = \"x\" }\n",
       R"(p.toml:1:7: error: '*' is not allowed in a key without quotes
    1 | a = { * = "x" }
      |       ^ quote the key: "*"
)"},
      {"a = { 0-1,4 = \"x\" }\n",
       R"(p.toml:1:10: error: '=' is missing after the key '0-1'
    1 | a = { 0-1,4 = "x" }
      |          ^ quote the key: "0-1,4"
)"},
      {"a = \"\\[x\"\n",
       R"(p.toml:1:6: error: '\[' is not an escape sequence
    1 | a = "\[x"
      |      ^~ write "\\" for a backslash, or use single quotes
)"},
      {"a = \"\\\xc3\xa9\"\n",
       R"(p.toml:1:6: error: '\é' is not an escape sequence
    1 | a = "\é"
      |      ^~ write "\\" for a backslash, or use single quotes
)"},
      {"a = \"\"\"x\\\n \xc3\xa9\"\"\"\n",
       R"(p.toml:2:2: error: a line that continues another must begin with an ASCII character
    2 |  é"""
      |  ^
)"},
      {"a = 1\na = 2\n",
       R"(p.toml:2:1: error: 'a' is set twice: here and in p.toml:1
    2 | a = 2
      | ^
)"},
      {"a = { b = 1, b = 2 }\n",
       R"(p.toml:1:14: error: 'b' is set twice: here and in p.toml:1
    1 | a = { b = 1, b = 2 }
      |              ^
)"},
      {"[a]\n[b]\n[a]\n",
       R"(p.toml:3:1: error: [a] is defined twice: here and in p.toml:1
    3 | [a]
      | ^~~
)"},
      {"[[a]]\n[a]\n",
       R"(p.toml:2:1: error: [a] is defined twice: here and in p.toml:1
    2 | [a]
      | ^~~
)"},
      {"[a]\n[[a]]\n",
       R"(p.toml:2:1: error: [[a]] is defined twice: here and in p.toml:1
    2 | [[a]]
      | ^~~~~
)"},
      {"a = 1\n[a.b]\n",
       R"(p.toml:2:1: error: 'a' already has a value, in p.toml:1
    2 | [a.b]
      | ^~~~~
)"},
      {"a = 1\na.b = 2\n",
       R"(p.toml:2:1: error: 'a' already has a value, in p.toml:1
    2 | a.b = 2
      | ^~~
)"},
      {"a.b = 1\n[a]\n",
       R"(p.toml:2:1: error: [a] is defined twice: here and in p.toml:1
    2 | [a]
      | ^~~
)"},
      {"a = 1979-05-27 1\n",
       R"(p.toml:1:5: error: '1979-05-27 1' is not in quotes
    1 | a = 1979-05-27 1
      |     ^~~~~~~~~~~~ quote it: "1979-05-27 1"
)"},
      {"a\x01"
       "b = 1\n",
       R"(p.toml:1:2: error: control character U+0001
    1 | a?b = 1
      |  ^ write \u0001 in a string
)"},
      {"a = \"\x1b[31m\"\n",
       R"(p.toml:1:6: error: control character U+001B
    1 | a = "?[31m"
      |      ^ write \u001B in a string
)"},
      {"a = \"\xff\"\n",
       R"(p.toml:1:6: error: byte 0xff is not valid UTF-8
    1 | a = "?"
      |      ^
)"},
      {"a = \"x\x0dy\"\n",
       R"(p.toml:1:7: error: control character U+000D
    1 | a = "x?y"
      |       ^ write \u000D in a string
)"},
      {"\n\ta = \"x\ty\" z\n",
       R"(p.toml:2:12: error: unexpected 'z' after the value
    2 |  a = "x y" z
      |            ^
)"},
      {"a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = 1\n",
       R"(p.toml:1:1: error: a key has at most 16 parts
    1 | a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = 1
      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
)"},
      {"a = [[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]\n",
       R"(p.toml:1:22: error: values are nested more than 16 levels deep
    1 | a = [[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]
      |                      ^
)"},
  };
  for (const auto& row : rows) EXPECT_EQ(diagnostics(row.text), row.errors) << row.text;
}

// The keys are unknown, so each text has errors, but none of its form: with one more line behind
// it, that line is reported as well.
TEST(PolicyText, AllOfToml) {
  const char* const texts[] = {
      "",
      "# only a comment",
      "\xef\xbb\xbf"
      "a = 1\n",
      "a = 1\x0d\nb = 2\x0d\n",
      "a = \"\\b\\t\\n\\f\\r\\\"\\\\\\u00e9\\U0001F600\xc3\xa9\"\n",
      "a = 'C:\\\\x'\n",
      "a = \"\"\"x\n\"y\" \"\"z\"\"\"\"\" # c\n",
      "a = '''x\n'y' ''z'''''\n",
      "a = \"\"\"x\\\n   y\\ \n\n z\"\"\"\n",
      "\"a b\" = 1\n'c' = 2\n\"\" = 3\ne.b . \"c d\" = 4\n",
      "[ a . \"b\" ]\n[a]\n[a.c]\n",
      "[[a]]\nb = 1\n[a.c]\n[[a]]\nb = 2\n[a.c]\n",
      "a = [ # c\n  1, [2], { b = 3 }, # d\n]\n",
      "a = [{ b = 1 }, { b = 2 }]\n",
      "a = {}\nb = []\nc = { d.e = 1, d.f = 2 }\n",
      "a = true\nb = false\nc = +1_000\nd = -1.5e-3\ne = inf\nf = -nan\ng = 0xdead_BEEF\nh = "
      "0o17\ni = 0b11\n",
      "a = 1979-05-27\nb = 07:32:00.5\nc = 1979-05-27 07:32:00Z\nd = "
      "1979-05-27t07:32:00.25-08:00\n",
  };
  for (const std::string text : texts)
    EXPECT_NE(diagnostics(text + "\n[last]\n").find(": unknown key 'last' in a policy"),
              std::string::npos)
        << text << diagnostics(text);
}

// toml++ has its own words for values that it cannot represent; they differ between its versions.
TEST(PolicyText, ErrorsOfTomlPlusPlus) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {{"a = 1979-13-01", "p.toml:1:12: error: not TOML: "},
              {"a = 99999999999999999999", "p.toml:1:25: error: not TOML: "},
              {"a = \"\\ud800\"", "p.toml:1:12: error: not TOML: "}};
  for (const auto& row : rows)
    EXPECT_TRUE(diagnostics(row.text).starts_with(row.error)) << diagnostics(row.text);
}

TEST(PolicyText, NulByte) {
  EXPECT_EQ(diagnostics(std::string("a = 1\0", 6)), R"(p.toml:1:6: error: control character U+0000
    1 | a = 1?
      |      ^ write \u0000 in a string
)");
}

TEST(PolicyText, Bounds) {
  const auto repeated = [](const std::string& text, size_t times) {
    std::string out;
    for (size_t i = 0; i < times; i++) out += text;
    return out;
  };
  EXPECT_EQ(diagnostics(repeated("# comment\n", 104'858)),
            "p.toml: error: is larger than 1 MiB, which no policy is\n");
  EXPECT_EQ(diagnostics(repeated("[[x-a]]\n", 100'001)),
            R"(p.toml:100001:1: error: a file has at most 100000 keys and tables
100001 | [[x-a]]
      | ^
)");
  EXPECT_EQ(diagnostics(repeated("[[x-a]]\n", 100'000)), "");
  // Texts that reach the bounds of depth: without them, they exhaust the stack.
  EXPECT_NE(diagnostics("a" + repeated(".a", 500'000) + " = 1"), "");
  EXPECT_NE(diagnostics("[a" + repeated(".a", 500'000) + "]"), "");
  EXPECT_NE(diagnostics("a = " + repeated("[", 1'000'000)), "");
  EXPECT_NE(diagnostics("a = " + repeated("{a=", 300'000)), "");
}

}  // namespace
}  // namespace rdtd
