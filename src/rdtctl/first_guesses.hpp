// Translates what users of other tools type first to the command line that is meant: kubectl's -o
// json, systemctl's status NAME, verbs of nft, pqos, docker and tuned-adm.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

// "--json" of "--json=short".
[[nodiscard]] inline std::string option_name(const std::string& word) {
  return word.substr(0, word.find('='));
}

// Whether the option of a verb, or of rdtctl itself for "", takes a value; nothing if there is no
// such option.
using KnownOptions = std::function<std::optional<bool>(std::string_view, std::string_view)>;

struct Understood {
  std::vector<std::string> words;    // the command line of rdtctl
  std::vector<std::string> program;  // to be executed instead, if it is not empty
};

// The error is one sentence about how it is done. The words of a command of `run` are its own.
[[nodiscard]] std::expected<Understood, std::string> understand(std::vector<std::string> words,
                                                                const KnownOptions& known);

}  // namespace rdtd
