#include "argument_vector.hpp"

#include <fmt/format.h>

#include <cstring>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// The hint about a first word that a shell would have interpreted; empty for other words.
std::string hint_of_shell(const std::string& word) {
  const size_t sign = word.find('=');
  const bool is_one_word = word.find_first_of(" \t\n|;&<>()$`") == std::string::npos;
  if (const size_t name = word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
                                                 "abcdefghijklmnopqrstuvwxyz");
      is_one_word && sign != std::string::npos && sign > 0 && name == sign)
    return fmt::format("; write env in front of it: env {} COMMAND", word);
  const bool is_path =
      word.starts_with('/') && word.find_first_of("|;&<>()$`") == std::string::npos;
  if ((!is_one_word && !is_path) ||
      is_one_of(word, {"cd", "export", "source", "ulimit", "umask", "set", "unset", "alias", "eval",
                       "exec", "trap", "wait", "time", "if", "for", "while", "{", "!"}))
    return "; a line of the shell is run by sh -c \"COMMANDS\"";
  return {};
}

}  // namespace

std::string ArgumentVector::failure(int error) const {
  return fmt::format("cannot execute '{}': {}{}", command(), std::strerror(error),
                     error == ENOENT ? hint_of_shell(command()) : "");
}

}  // namespace rdtd
