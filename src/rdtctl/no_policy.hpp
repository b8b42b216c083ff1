// What to say where there is no policy: silence would mean that all is well.
#pragma once

#include <string>
#include <vector>

#include "rdtd/policy/search.hpp"

namespace rdtd {

// The files in the directories of policies that are none by their names, by path; dot files, which
// editors leave behind, do not count.
[[nodiscard]] std::vector<std::string> ignored_policy_files(const std::string& root);

inline constexpr const char* why_ignored = "its name does not end in .toml";

// Prints that no file is in effect, if none is, and which files are ignored. False then if policies
// below another root were meant.
[[nodiscard]] bool report_no_policy(const std::string& root, const std::vector<PolicyFile>& files);

}  // namespace rdtd
