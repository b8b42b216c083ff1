// first_guesses: words that users of systemctl, kubectl, nft, docker or pqos type first. Those that
// can mean only one thing here are replaced; for others, one sentence says how it is done.
#pragma once

#include <expected>
#include <string>
#include <vector>

namespace rdtd {

// The words of a command line as rdtctl knows them; those of a command that it executes stay as
// they are. The error is advice, without "rdtctl: ".
[[nodiscard]] std::expected<std::vector<std::string>, std::string> understand(
    std::vector<std::string> words);

}  // namespace rdtd
