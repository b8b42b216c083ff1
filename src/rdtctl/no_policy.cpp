#include "no_policy.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "print.hpp"
#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

std::vector<std::string> ignored_policy_files(const std::string& root) {
  std::vector<std::string> out;
  for (const std::string& path : policy_directories(root)) {
    const auto directory = Directory::open(path);
    const auto entries = directory ? directory->list() : std::unexpected(directory.error());
    // find_policy_files() reports a failure. In run/rdtd, the daemon keeps its own files too.
    if (!entries || path.ends_with("run/rdtd")) continue;
    for (const Directory::Entry& entry : *entries)
      if (!entry.name.ends_with(".toml") && !entry.name.starts_with('.'))
        out.push_back(directory->path_of(entry.name));
  }
  std::ranges::sort(out);
  return out;
}

bool has_policy(const std::vector<PolicyFile>& files) {
  return std::ranges::any_of(files, [](const PolicyFile& file) {
    return file.state == PolicyFile::State::active || file.state == PolicyFile::State::unreadable;
  });
}

void report_misnamed_policies(const std::string& root) {
  for (const std::string& path : ignored_policy_files(root)) {
    const std::string name = lower(path);
    const bool is_misnamed = std::ranges::any_of(
        std::to_array<std::string_view>({".conf", ".cfg", ".toml", ".tml", ".toml.txt", ".d"}),
        [&](std::string_view end) { return name.ends_with(end); });
    if (is_misnamed) note("rdtctl: {} is ignored: {}\n", path, why_ignored);
  }
}

bool report_no_policy(const std::string& root, const std::vector<PolicyFile>& files) {
  if (has_policy(files)) return true;
  std::vector<std::string> empty;
  for (const PolicyFile& file : files)
    if (file.state == PolicyFile::State::masked) empty.push_back(file.path);
  if (empty.empty())
    note("rdtctl: no policy: there is no *.toml file in {}\n",
         join(policy_directories(root), ", "));
  else
    note("rdtctl: no policy: all *.toml files are empty: {}\n", join(empty, ", "));
  for (const std::string& path : ignored_policy_files(root))
    note("rdtctl: {} is ignored: {}\n", path, why_ignored);
  return std::filesystem::path(root) == "/";
}

}  // namespace rdtd
