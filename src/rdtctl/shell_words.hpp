// The words of a shell's command lines, as far as a script shows them without being run. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

struct ShellWord {
  std::string text;
  unsigned line = 1;
  std::string ends = {};       // of the "" between two commands: the characters that it stands for
  std::string_view when = {};  // "stop" or "reload", if it is only run then
};

// Quotes and '\' keep a blank. Between two commands, "". A word that is a command line of its own,
// as sh -c '...' and a quoted value of YAML have it, is taken apart too if `program` is in it.
[[nodiscard]] std::vector<ShellWord> shell_words(std::string_view text, std::string_view program);

// Whether a word starts this program: "/usr/sbin/pqos", "ExecStart=pqos", "$PQOS", and its
// wrappers pqos-os and pqos-msr.
[[nodiscard]] bool starts_program(std::string_view word, std::string_view program);

// Whether a word has a value that only the running script knows: "llc:1=$MASK", "core:1=%i".
[[nodiscard]] bool has_unknown_value(std::string_view word);

}  // namespace rdtd
