// Every error in the form of the tables and keys of a policy's text, as TOML, with its whole text;
// and the forms that must stay allowed.
#include "policy_support.hpp"

namespace rdtd {
namespace {

using test::diagnostics;
using test::expect_errors;
using test::PolicyAndErrors;

constexpr PolicyAndErrors text_errors[] = {
    {"name != \"x\"\n",
     R"(p.toml:1:6: error: '=' is missing after the key 'name'
    1 | name != "x"
      |      ^ to leave processes alone, write group = "leave" in an earlier rule
)"},
    {"name ~ \"x.*\"\n",
     R"(p.toml:1:6: error: '=' is missing after the key 'name'
    1 | name ~ "x.*"
      |      ^ write name = ...; a pattern is a glob
)"},
    {"{% if db %}\n",
     R"(p.toml:1:1: error: unexpected '{'; a key must stand here
    1 | {% if db %}
      | ^ this is a template: rdtd reads what is made from it
)"},
    {"[group.a]\nl3 = \"1 way\" /* small */\n",
     R"(p.toml:2:14: error: unexpected '/* small */' after the value
    2 | l3 = "1 way" /* small */
      |              ^~~~~~~~~~~ a comment begins with '#'
)"},
    {"guard = { mode = off }\n",
     R"(p.toml:1:18: error: 'off' is not in quotes
    1 | guard = { mode = off }
      |                  ^~~ write "off"
)"},
    {"[group.a  # see [b]\n",
     R"(p.toml:1:1: error: ']' is missing after the name
    1 | [group.a  # see [b]
      | ^~~~~~~~~~ write [group.a]
)"},
    {"a = >50%\n",
     R"(p.toml:1:5: error: '>50%' is not in quotes
    1 | a = >50%
      |     ^~~~ quote it: ">50%"
)"},
    {"[group \"a\"]\n",
     R"(p.toml:1:8: error: '.' is missing after 'group'
    1 | [group "a"]
      |        ^ write [group.a]
)"},
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
    {"a. \n",
     R"(p.toml:1:2: error: a name must follow '.'
    1 | a. 
      |  ^
)"},
    {"a. = 1\n",
     R"(p.toml:1:2: error: a name must follow '.'
    1 | a. = 1
      |  ^
)"},
    {"[a. ]\n",
     R"(p.toml:1:3: error: a name must follow '.'
    1 | [a. ]
      |   ^
)"},
    {"[a.]\n",
     R"(p.toml:1:3: error: a name must follow '.'
    1 | [a.]
      |   ^
)"},
    {"[group.a\n",
     R"(p.toml:1:1: error: ']' is missing after the name
    1 | [group.a
      | ^~~~~~~~ write [group.a]
)"},
    {"[[rule]\n",
     R"(p.toml:1:1: error: ']]' is missing after the name
    1 | [[rule]
      | ^~~~~~ write [[rule]]
)"},
    {"[a] x\n",
     R"(p.toml:1:5: error: unexpected 'x' after ']'
    1 | [a] x
      |     ^
)"},
    {"[a]]\n",
     R"(p.toml:1:4: error: unexpected ']' after ']'
    1 | [a]]
      |    ^ remove it: nothing follows a value
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
      |    ^ write l3 = "4 ways"
)"},
    {"a b = 1\n",
     R"(p.toml:1:3: error: '=' is missing after the key 'a'
    1 | a b = 1
      |   ^ quote the key: "a b"
)"},
    {"l3 ways = 4\n",
     R"(p.toml:1:4: error: '=' is missing after the key 'l3'
    1 | l3 ways = 4
      |    ^ write l3 = "4 ways"
)"},
    {"mb percent = 50  # half\n",
     R"(p.toml:1:4: error: '=' is missing after the key 'mb'
    1 | mb percent = 50  # half
      |    ^ write mb = "50%"
)"},
    {"mb ways = 4\n",
     R"(p.toml:1:4: error: '=' is missing after the key 'mb'
    1 | mb ways = 4
      |    ^ quote the key: "mb ways"
)"},
    {"l3 ways = \"4\"\n",
     R"(p.toml:1:4: error: '=' is missing after the key 'l3'
    1 | l3 ways = "4"
      |    ^ write l3 = "4 ways"
)"},
    {"policy for redis\n",
     R"(p.toml:1:8: error: '=' is missing after the key 'policy'
    1 | policy for redis
      |        ^
)"},
    {"a = NULL\n",
     R"(p.toml:1:5: error: 'NULL' is not a value
    1 | a = NULL
      |     ^~~~ without a value, leave the key out
)"},
    {"a = null\n",
     R"(p.toml:1:5: error: 'null' is not a value
    1 | a = null
      |     ^~~~ without a value, leave the key out
)"},
    {"[group.a]\n<<<<<<< HEAD\n[group.b]\n=======\n",
     R"(p.toml:2:1: error: unexpected '<'; a key must stand here
    2 | <<<<<<< HEAD
      | ^ this marks a conflict of a merge: keep one of its two sides, and delete the marks
)"},
    {"[group.a]\nMB:0=50;1=100\n",
     R"(p.toml:2:3: error: '=' is missing after the key 'MB'
    2 | MB:0=50;1=100
      |   ^ this is a line of schemata: in a [group.NAME], write mb = { "0" = "50%", "1" = "100%" }; on AMD's processors, 50 is "6.25 GB/s"
)"},
    {"*:nginx cpu,memory web/\n",
     R"(p.toml:1:1: error: unexpected '*'; a key must stand here
    1 | *:nginx cpu,memory web/
      | ^ this looks like cgrules.conf; 'rdtctl import --from FILE' makes a policy of what other tools have
)"},
    {"[group.a]\n; mine\n",
     R"(p.toml:2:1: error: unexpected ';'; a key must stand here
    2 | ; mine
      | ^ a comment begins with '#'
)"},
    {"// mine\n",
     R"(p.toml:1:1: error: unexpected '/'; a key must stand here
    1 | // mine
      | ^ a comment begins with '#'
)"},
    {"[group:a]\n",
     R"(p.toml:1:7: error: '.' is missing after 'group'
    1 | [group:a]
      |       ^ write [group.a]
)"},
    {"[group.a]\rl3 = 1",
     R"(p.toml:1:10: error: control character U+000D
    1 | [group.a]?l3 = 1
      |          ^ a line ends with a line feed
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
    {"[group.\"a b]\n",
     R"(p.toml:1:8: error: the closing " is missing
    1 | [group."a b]
      |        ^~~~~
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
      | ^~~ put its keys under the first
)"},
    {"[[a]]\n[a]\n",
     R"(p.toml:2:1: error: [a] is defined twice: here and in p.toml:1
    2 | [a]
      | ^~~ put its keys under the first
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
      | ^~~ put its keys under the first
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
    {"l3 == \"4 ways\"\n",
     R"(p.toml:1:5: error: '=' is not a value: one '=' is enough
    1 | l3 == "4 ways"
      |     ^
)"},
    {"l3 => \"4 ways\"\n",
     R"(p.toml:1:5: error: '>' is not a value: one '=' is enough
    1 | l3 => "4 ways"
      |     ^
)"},
    {"l3 := \"4 ways\"\n",
     R"(p.toml:1:4: error: '=' is missing after the key 'l3'
    1 | l3 := "4 ways"
      |    ^ write l3 = "4 ways"
)"},
    {"l3: \"4 ways\"\n",
     R"(p.toml:1:3: error: '=' is missing after the key 'l3'
    1 | l3: "4 ways"
      |   ^ write l3 = "4 ways"
)"},
    {"groups:\n  redis:\n",
     R"(p.toml:1:7: error: '=' is missing after the key 'groups'
    1 | groups:
      |       ^ this looks like YAML; 'rdtctl import --from FILE' makes a policy of what other tools have
)"},
    {"# mine\n{\"group\": {}}\n",
     R"(p.toml:2:1: error: unexpected '{'; a key must stand here
    2 | {"group": {}}
      | ^ this looks like JSON; 'rdtctl import --from FILE' makes a policy of what other tools have
)"},
    {"---\napiVersion: v1\n",
     R"(p.toml:1:4: error: '=' is missing after the key '---'
    1 | ---
      |    ^ this looks like YAML; 'rdtctl import --from FILE' makes a policy of what other tools have
)"},
    {"# Redis\xfc:\n",
     "p.toml:1:8: error: byte 0xfc is not valid UTF-8\n    1 | # Redis?:\n      |        ^ save it "
     "as UTF-8\n"},
    {"[group.a.controls]\nGMB = 1\n",
     R"(p.toml:1:10: error: unknown key 'controls' in [group.a]
    1 | [group.a.controls]
      |          ^~~~~~~~ did you mean 'control'?
)"},
    {"\n<cputune>\n",
     R"(p.toml:2:1: error: unexpected '<'; a key must stand here
    2 | <cputune>
      | ^ this looks like XML; 'rdtctl import --from FILE' makes a policy of what other tools have
)"},
    {"sudo pqos -e llc:1=0xf\n",
     R"(p.toml:1:6: error: '=' is missing after the key 'sudo'
    1 | sudo pqos -e llc:1=0xf
      |      ^ this looks like a command line of pqos; 'rdtctl import --from FILE' makes a policy of what other tools have
)"},
    {"[group.a]\nl3\u200b = \"all\"\n",
     "p.toml:2:3: error: U+200B, which is invisible, cannot be here\n    2 | l3\u200b = \"all\"\n"
     "      |   ^ delete it\n"},
    {"[group.a.b]\nl3 = \"all\"\n",
     R"(p.toml:1:10: error: unknown key 'b' in [group.a]
    1 | [group.a.b]
      |          ^ a '.' starts a sub-table: write [group."a.b"]
)"},
    {"l3\xc2\xa0"
     "= \"4 ways\"\n",
     R"(p.toml:1:3: error: U+00A0, a no-break space, is not a space in TOML
    1 | l3 = "4 ways"
      |   ^ write an ordinary space
)"},
    {"l3 =\xc2\xa0"
     "\"4 ways\"\n",
     R"(p.toml:1:5: error: U+00A0, a no-break space, is not a space in TOML
    1 | l3 = "4 ways"
      |     ^ write an ordinary space
)"},
    {"\xc2\xa0"
     "l3 = \"4 ways\"\n",
     R"(p.toml:1:1: error: U+00A0, a no-break space, is not a space in TOML
    1 |  l3 = "4 ways"
      | ^ write an ordinary space
)"},
    {"a = `4 ways`\n",
     R"(p.toml:1:5: error: '`4 ways`' is not in quotes
    1 | a = `4 ways`
      |     ^~~~~~~~ quote it: "4 ways"
)"},
    {"[group a]\n",
     R"(p.toml:1:8: error: '.' is missing after 'group'
    1 | [group a]
      |        ^ write [group.a]
)"},
    {"[group.a b]\n",
     R"(p.toml:1:10: error: unexpected 'b' after the name
    1 | [group.a b]
      |          ^ a name consists of letters, digits, '_' and '-'
)"},
    {"[group.gr\xc3\xb6"
     "\xc3\x9f"
     "e]\n",
     R"(p.toml:1:10: error: 'ö' is not allowed in a name
    1 | [group.größe]
      |          ^ a name consists of letters a to z, digits, '.', '_' and '-'
)"},
    {"[group.a/b]\n",
     R"(p.toml:1:9: error: '/' is not allowed in a name
    1 | [group.a/b]
      |         ^ a name consists of letters, digits, '_' and '-'
)"},
    {"[[rule x]]\n",
     R"(p.toml:1:8: error: unexpected 'x' after the name
    1 | [[rule x]]
      |        ^ a name consists of letters, digits, '_' and '-'
)"},
    {"mode = 0660\n",
     R"(p.toml:1:8: error: '0660' is not in quotes
    1 | mode = 0660
      |        ^~~~ quote it: "0660"
)"},
    {"[guard]\nmode = on\n",
     R"(p.toml:2:8: error: 'on' is not in quotes
    2 | mode = on
      |        ^~ write "on"
)"},
    {"[guard]\nmode = Off\n",
     R"(p.toml:2:8: error: 'Off' is not in quotes
    2 | mode = Off
      |        ^~~ write "off"
)"},
    {"[group.a]\nexclusive = on\n",
     R"(p.toml:2:13: error: 'on' is not a value
    2 | exclusive = on
      |             ^~ write true
)"},
    {"[daemon]\nreaders = [0644]\n",
     R"(p.toml:2:12: error: '0644' is not in quotes
    2 | readers = [0644]
      |            ^~~~ quote it: "0644"
)"},
    {"[group\n",
     R"(p.toml:1:1: error: ']' is missing after the name
    1 | [group
      | ^~~~~~ write [group.NAME]
)"},
    {"[a.b c\n",
     R"(p.toml:1:1: error: ']' is missing after the name
    1 | [a.b c
      | ^~~~~
)"},
    {"[group]\nname = \"a\"\nl3 = \"4 ways\"\n",
     R"(p.toml:2:1: error: the name of the group belongs in its header
    2 | name = "a"
      | ^~~~ write [group.a]
p.toml:3:1: error: the name of the group is missing: 'l3' is in [group]
    3 | l3 = "4 ways"
      | ^~ write [group.NAME] instead of [group]
)"},
    {"[partition]\nname = \"x\"\n",
     R"(p.toml:2:1: error: the name of the partition belongs in its header
    2 | name = "x"
      | ^~~~ write [partition.x]
)"},
    {"[group]\nname = \"a b\"\n",
     R"(p.toml:2:8: error: 'name' must be a table, not a string
    2 | name = "a b"
      |        ^~~~~ write [group.name]
)"},
};

TEST(PolicyText, Errors) { expect_errors(text_errors); }

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

// What is wrong may be longer than its line.
TEST(PolicyText, MarksEndWithTheLine) {
  const Sources sources = {{"p.toml", "abc\n"}};
  const auto marked = [&](unsigned column, unsigned width) {
    Diagnostic diagnostic{.severity = Severity::error, .where = {}, .message = "m", .hint = "h"};
    diagnostic.where = {.file = "p.toml", .line = 1, .column = column, .width = width};
    return format_diagnostics({&diagnostic, 1}, sources);
  };
  const std::string head = "p.toml:1:";
  EXPECT_EQ(marked(2, 9), head + "2: error: m\n    1 | abc\n      |  ^~ h\n");
  EXPECT_EQ(marked(4, 9), head + "4: error: m\n    1 | abc\n      |    ^ h\n");
  EXPECT_EQ(marked(5, 1), head + "5: error: m\n    1 | abc\n      | h\n");
}

}  // namespace
}  // namespace rdtd
