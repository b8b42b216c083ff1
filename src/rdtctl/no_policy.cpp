#include "no_policy.hpp"

#include <algorithm>
#include <filesystem>

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

bool report_no_policy(const std::string& root, const std::vector<PolicyFile>& files) {
  if (std::ranges::any_of(files, [](const PolicyFile& file) {
        return file.state == PolicyFile::State::active ||
               file.state == PolicyFile::State::unreadable;
      }))
    return true;
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
