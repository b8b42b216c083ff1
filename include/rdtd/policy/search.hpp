// The search path of policy files: /etc/rdtd, /run/rdtd, /usr/local/lib/rdtd, /usr/lib/rdtd, by
// falling precedence. A file replaces the files of the same name in later directories; an empty
// file or a link to /dev/null masks them.
#pragma once

#include <string>
#include <vector>

#include "rdtd/base/shared_text.hpp"

namespace rdtd {

struct PolicyFile {
  enum class State { active, masked, replaced, unreadable };
  std::string path;  // printable()
  State state = State::active;
  SharedText text;         // of an active file
  std::string problem;     // of an unreadable one: why; of a masked one, if it masks nothing
  bool transient = false;  // of an unreadable one: reading it may succeed later, without an edit
  bool lease = false;      // no file: the text of a lease, see lease_file
  bool for_all = false;    // every user may read it
  bool operator==(const PolicyFile&) const = default;
};

// The largest policy file that is read, in bytes.
inline constexpr size_t policy_file_limit = 1 << 20;

// The text of a lease as the parser reads it, at the place "lease:NAME". It follows all files.
[[nodiscard]] PolicyFile lease_file(const std::string& name, std::string text);

// The directories of the search path below `root`, by falling precedence.
[[nodiscard]] std::vector<std::string> policy_directories(const std::string& root);
// All policy files below `root` ("/" on a running system), sorted by file name, then by falling
// precedence. Directories that do not exist are ignored.
[[nodiscard]] std::vector<PolicyFile> find_policy_files(const std::string& root);
// One file by its path, whatever its suffix.
[[nodiscard]] PolicyFile read_policy_file(const std::string& path);

}  // namespace rdtd
