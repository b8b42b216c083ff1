#include "rdtd/policy/search.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include "rdtd/base/directory.hpp"

namespace rdtd {

namespace {

constexpr std::array<const char*, 4> folders = {"etc/rdtd", "run/rdtd", "usr/local/lib/rdtd",
                                                "usr/lib/rdtd"};

PolicyFile unreadable(std::string path, std::string problem) {
  return {std::move(path), PolicyFile::State::unreadable, {}, std::move(problem)};
}

}  // namespace

PolicyFile read_policy_file(const std::string& path) {
  std::array<char, 16> target{};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  if (length > 0 && std::string_view(target.data(), static_cast<size_t>(length)) == "/dev/null")
    return {path, PolicyFile::State::masked, {}, {}};
  // O_NONBLOCK: a FIFO of that name must not hold the reader.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    const bool dangling = errno == ENOENT && length > 0;
    return unreadable(path, dangling ? "is a link to a file that does not exist"
                                     : std::string("cannot be read: ") + std::strerror(errno));
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) < 0)
    return unreadable(path, std::string("cannot be read: ") + std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return unreadable(path, "is a folder, not a policy file");
  if (!S_ISREG(status.st_mode)) return unreadable(path, "is not a regular file");
  auto text = read_all(fd.get(), path, policy_file_limit);
  if (!text && text.error().code == EFBIG)
    return unreadable(path, "is larger than 1 MiB, which no policy is");
  if (!text)
    return unreadable(path, std::string("cannot be read: ") + std::strerror(text.error().code));
  if (text->empty()) return {path, PolicyFile::State::masked, {}, {}};
  return {path, PolicyFile::State::active, std::move(*text), {}};
}

std::vector<PolicyFile> find_policy_files(const std::string& root) {
  std::map<std::string, std::vector<PolicyFile>> by_name;
  std::vector<PolicyFile> files;
  for (const char* folder : folders) {
    const std::string path = (std::filesystem::path(root) / folder).string();
    const auto directory = Directory::open(path);
    if (!directory) {
      if (directory.error().code != ENOENT)
        files.push_back(unreadable(
            path, std::string("cannot be opened: ") + std::strerror(directory.error().code)));
      continue;
    }
    const auto entries = directory->list();
    if (!entries) {
      files.push_back(unreadable(
          path, std::string("cannot be listed: ") + std::strerror(entries.error().code)));
      continue;
    }
    for (const Directory::Entry& entry : *entries) {
      if (!entry.name.ends_with(".toml") || entry.name.starts_with('.')) continue;
      auto& same_name = by_name[entry.name];
      same_name.push_back(
          same_name.empty()
              ? read_policy_file(directory->path_of(entry.name))
              : PolicyFile{directory->path_of(entry.name), PolicyFile::State::replaced, {}, {}});
    }
  }
  for (auto& [name, same_name] : by_name)
    for (PolicyFile& file : same_name) files.push_back(std::move(file));
  return files;
}

}  // namespace rdtd
