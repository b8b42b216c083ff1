// Every error in the form of a value of a policy's text, as TOML, with its whole text.
#include "policy_support.hpp"

namespace rdtd {
namespace {

using test::diagnostics;
using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors value_errors[] = {
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
    {"a = 1979-05-27 1\n",
     R"(p.toml:1:5: error: '1979-05-27 1' is not in quotes
    1 | a = 1979-05-27 1
      |     ^~~~~~~~~~~~ quote it: "1979-05-27 1"
)"},
    {"a\x01"
     "b = 1\n",
     R"(p.toml:1:2: error: control character U+0001
    1 | a?b = 1
      |  ^ remove it
)"},
    {"a = \"\x1b[31m\"\n",
     R"(p.toml:1:6: error: control character U+001B
    1 | a = "?[31m"
      |      ^ remove it
)"},
    {"\xff\xfe[",
     R"(p.toml:1:1: error: the file is UTF-16
    1 | ??[
      | ^~ save it as UTF-8
)"},
    {"a = \"\xff\"\n",
     R"(p.toml:1:6: error: byte 0xff is not valid UTF-8
    1 | a = "?"
      |      ^ save it as UTF-8
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
};

TEST(PolicyValues, Errors) { expect_errors(value_errors); }

// toml++ has its own words for values that it cannot represent; they differ between its versions.
TEST(PolicyValues, ErrorsOfTomlPlusPlus) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {{"a = 1979-13-01", "p.toml:1:12: error: not TOML: "},
              {"a = \"\\ud800\"", "p.toml:1:12: error: not TOML: "}};
  for (const auto& row : rows)
    EXPECT_TRUE(diagnostics(row.text).starts_with(row.error)) << diagnostics(row.text);
}

TEST(PolicyValues, ACompressedFile) {
  EXPECT_EQ(diagnostics("\x1f\x8b\x08"), R"(p.toml:1:1: error: control character U+001F
    1 | ???
      | ^ the file is not text, but compressed by gzip
)");
}

TEST(PolicyValues, NulByte) {
  EXPECT_EQ(diagnostics(std::string("a = 1\0", 6)), R"(p.toml:1:6: error: control character U+0000
    1 | a = 1?
      |      ^ the file is not text
)");
}

}  // namespace
}  // namespace rdtd
