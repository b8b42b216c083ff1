#include "rdtd/policy/search.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr std::array<const char*, 4> directories = {"etc/rdtd", "run/rdtd", "usr/local/lib/rdtd",
                                                    "usr/lib/rdtd"};

PolicyFile unreadable(const std::string& path, std::string problem) {
  return {printable(path), PolicyFile::State::unreadable, {}, std::move(problem)};
}

PolicyFile failed(const std::string& path, std::string_view operation, int code) {
  PolicyFile file =
      unreadable(path, fmt::format("cannot be {}: {}", operation, std::strerror(code)));
  file.transient = is_transient(code);
  return file;
}

// The file and all directories above it.
bool may_all_read(const std::string& path, mode_t mode) {
  using std::filesystem::perms;
  std::error_code error;
  bool out = (mode & S_IROTH) != 0;
  for (auto at = std::filesystem::canonical(path, error);
       out && !error && at.has_relative_path();) {
    at = at.parent_path();
    const perms directory = std::filesystem::status(at, error).permissions();
    out = (directory & perms::others_exec) != perms::none;
  }
  return out && !error;
}

// Nothing if it was removed since it was listed. One that is replaced by removing and making it is
// there again at once.
std::optional<PolicyFile> read_listed(const std::string& path) {
  constexpr int tries = 10;
  const PolicyFile gone = failed(path, "read", ENOENT);
  for (int i = 0; i < tries; i++)
    if (PolicyFile file = read_policy_file(path); file != gone) return file;
  return std::nullopt;
}

}  // namespace

PolicyFile lease_file(const std::string& name, std::string text) {
  return {.path = "lease:" + name, .text = std::move(text), .problem = {}, .lease = true};
}

PolicyFile read_policy_file(const std::string& path) {
  if (printable(path) != path)
    return unreadable(path, "has a name that is not valid UTF-8 or contains control characters");
  std::array<char, 16> target{};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  if (length > 0 && std::string_view(target.data(), static_cast<size_t>(length)) == "/dev/null")
    return {path, PolicyFile::State::masked, {}, {}};
  // O_NONBLOCK: a FIFO of that name must not hold the reader.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd && errno == ENOENT && length > 0)
    return unreadable(path, "is a link to a file that does not exist");
  if (!fd) return failed(path, "read", errno);
  struct stat status{};
  if (::fstat(fd.get(), &status) < 0) return failed(path, "read", errno);
  if (S_ISDIR(status.st_mode)) return unreadable(path, "is a directory, not a policy file");
  if (!S_ISREG(status.st_mode)) return unreadable(path, "is not a regular file");
  auto text = read_all(fd.get(), path, policy_file_limit);
  if (!text && text.error().code == EFBIG)
    return unreadable(path, "is larger than 1 MiB, which no policy is");
  if (!text) return failed(path, "read", text.error().code);
  if (text->empty()) return {path, PolicyFile::State::masked, {}, {}};
  return {.path = path,
          .text = std::move(*text),
          .problem = {},
          .for_all = may_all_read(path, status.st_mode)};
}

std::vector<std::string> policy_directories(const std::string& root) {
  std::vector<std::string> out;
  for (const char* name : directories) out.push_back((std::filesystem::path(root) / name).string());
  return out;
}

std::vector<PolicyFile> find_policy_files(const std::string& root) {
  std::map<std::string, std::vector<PolicyFile>> by_name;
  std::vector<PolicyFile> files;
  for (const std::string& path : policy_directories(root)) {
    const auto directory = Directory::open(path);
    if (!directory) {
      if (directory.error().code != ENOENT)
        files.push_back(failed(path, "opened", directory.error().code));
      continue;
    }
    const auto entries = directory->list();
    if (!entries) {
      files.push_back(failed(path, "listed", entries.error().code));
      continue;
    }
    for (const Directory::Entry& entry : *entries) {
      if (!entry.name.ends_with(".toml") || entry.name.starts_with('.')) continue;
      const std::string file = directory->path_of(entry.name);
      auto found = by_name.contains(entry.name)
                       ? PolicyFile{printable(file), PolicyFile::State::replaced, {}, {}}
                       : read_listed(file);
      if (found) by_name[entry.name].push_back(std::move(*found));
    }
  }
  // A link to /dev/null is meant.
  for (auto& [name, same_name] : by_name)
    if (PolicyFile& file = same_name.front();
        same_name.size() == 1 && file.state == PolicyFile::State::masked &&
        !std::filesystem::is_symlink(std::filesystem::path(file.path)))
      file.problem = "is empty";
  for (auto& [name, same_name] : by_name)
    for (PolicyFile& file : same_name) files.push_back(std::move(file));
  return files;
}

}  // namespace rdtd
