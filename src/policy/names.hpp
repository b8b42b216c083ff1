// The names that a policy may give to groups, partitions, pseudo-locks and monitoring groups.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "file_reader.hpp"

namespace rdtd {

inline constexpr std::size_t longest_name = 64;
inline constexpr std::string_view name_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

// Why the text cannot be a name, whatever it names.
[[nodiscard]] std::optional<std::string> name_problem(std::string_view name);
// Reports a name that cannot be one of a `kind` ("group", "partition", "pseudo_lock", "monitoring
// group").
void check_name(const FileReader& in, std::string_view kind, const Located<std::string>& name);
// [group.NAME]; a long name is cut, so that messages stay in proportion to the file.
[[nodiscard]] std::string table_title(std::string_view kind, std::string_view name);

}  // namespace rdtd
