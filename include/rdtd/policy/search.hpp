// Where policy files are found, and which of them count. The folders, from the one that wins:
// /etc/rdtd, /run/rdtd, /usr/local/lib/rdtd, /usr/lib/rdtd. A file replaces a lower one of the same
// name; an empty file or a link to /dev/null masks it.
#pragma once

#include <string>
#include <vector>

namespace rdtd {

struct PolicyFile {
  enum class State { active, masked, replaced, unreadable };
  std::string path;
  State state = State::active;
  std::string text;     // of an active file
  std::string problem;  // of an unreadable one: why
};

// The largest policy file that is read, in bytes.
inline constexpr size_t policy_file_limit = 1 << 20;

// All policy files below `root` ("/" on a running system), sorted by file name, then from the
// winning folder down. A folder that is not there is passed over.
[[nodiscard]] std::vector<PolicyFile> find_policy_files(const std::string& root);
// One file by its path, whatever its name.
[[nodiscard]] PolicyFile read_policy_file(const std::string& path);

}  // namespace rdtd
