// Messages for the case that there is no policy: silence would mean that all is well.
#pragma once

#include <string>
#include <vector>

#include "rdtd/policy/search.hpp"

namespace rdtd {

// The files in the directories of policies that are none by their names, by path; dot files, which
// editors leave behind, do not count.
[[nodiscard]] std::vector<std::string> ignored_policy_files(const std::string& root);

inline constexpr const char* why_ignored = "its name does not end in .toml";

// Whether any file is in effect, or would be if it could be read.
[[nodiscard]] bool has_policy(const std::vector<PolicyFile>& files);

// Prints which ignored files were probably meant to be policies: 20-batch.conf, conf.d. Copies that
// editors and package managers leave are not.
void report_misnamed_policies(const std::string& root);

// Prints that no file is in effect, if none is, and which files are ignored. False then if policies
// below another root were meant.
[[nodiscard]] bool report_no_policy(const std::string& root, const std::vector<PolicyFile>& files);

}  // namespace rdtd
