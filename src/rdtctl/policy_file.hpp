// Policy files that rdtctl itself writes, for `assign --unit`, `edit` and `init`.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "context.hpp"
#include "rdtd/base/directory.hpp"

namespace rdtd {

inline constexpr std::string_view lasting_directory = "/etc/rdtd";
inline constexpr std::string_view runtime_directory = "/run/rdtd";

// Creates the directory if it does not exist.
[[nodiscard]] Result<Directory> open_policy_directory(std::string_view directory);
// Nothing if there is no such file.
[[nodiscard]] Result<std::optional<std::string>> read_present(const Directory& directory,
                                                              const std::string& file);
// Writes the file and reloads; where the daemon refuses, the file is as it was before. Prints what
// failed; returns the exit code.
[[nodiscard]] int put_in_force(Client& client, const Directory& directory, const std::string& file,
                               const std::string& text);

// Whether install_policy_file may write a file of that name: what is in the way is said before any
// work. A link, which a configuration manager or a mask is, is not replaced.
[[nodiscard]] Result<void> may_install_policy_file(const std::string& name);
// The whole policy with this text as the file of that name in /etc/rdtd. Prints what is wrong with
// it, and on a terminal what this machine grants.
[[nodiscard]] bool check_policy_file(const Context& context, const std::string& name,
                                     const std::string& text);
// Puts that file there, and in force if the daemon runs. Prints how it went; returns the exit code.
[[nodiscard]] int install_policy_file(const std::string& name, const std::string& text);

// Files that a user names, as read_policy_files() does; the problem of one that cannot be read says
// also what may be meant. `verb`: the one that reads them.
[[nodiscard]] std::vector<PolicyFile> read_named_files(const Context& context,
                                                       const std::vector<std::string>& paths,
                                                       const std::string& verb);

}  // namespace rdtd
