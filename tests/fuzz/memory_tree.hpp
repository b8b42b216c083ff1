// A tree of files from the input, behind resctrl::Filesystem. Read only.
//
// The input is a sequence of files, each a line "=== PATH" and its text.
#pragma once

#include <cerrno>
#include <map>
#include <string>
#include <string_view>

#include "fuzz/input.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd::fuzz {

class MemoryTree final : public resctrl::Filesystem {
 public:
  explicit MemoryTree(std::string_view input) {
    while (!input.empty()) {
      const std::string_view file = pop_part(input, "=== ");
      const size_t end = file.find('\n');
      if (end != std::string_view::npos)
        files_.insert_or_assign(std::string(file.substr(0, end)), file.substr(end + 1));
    }
  }

  Result<std::string> read(const std::string& file) const override {
    const auto found = files_.find(file);
    if (found == files_.end()) return std::unexpected(Error{"open", file, ENOENT, {}});
    return found->second;
  }
  Result<std::vector<Entry>> list(const std::string& directory) const override {
    const std::string above = directory.empty() ? "" : directory + "/";
    std::map<std::string, bool> entries;
    for (const auto& [path, text] : files_) {
      if (!path.starts_with(above)) continue;
      const std::string below = path.substr(above.size());
      const size_t slash = below.find('/');
      const std::string name = below.substr(0, slash);
      if (!name.empty()) entries[name] |= slash != std::string::npos;
    }
    if (entries.empty()) return std::unexpected(Error{"open", directory, ENOENT, {}});
    std::vector<Entry> out;
    for (const auto& [name, is_directory] : entries)
      out.push_back({name, is_directory, out.size() + 1});
    return out;
  }
  [[nodiscard]] Result<uint64_t> info_time() const override { return 1000; }
  [[nodiscard]] Result<void> set_info_time(uint64_t) override { return {}; }
  const std::string& path() const override { return path_; }

  Result<void> make(const std::string& path) override { return refuse("make", path); }
  Result<void> remove(const std::string& path) override { return refuse("remove", path); }
  Result<void> write(const std::string& path, std::string_view) override {
    return refuse("write to", path);
  }
  Result<std::unique_ptr<resctrl::Lock>> lock() override { return refuse("lock", ""); }
  Result<std::unique_ptr<resctrl::Tasks>> open_tasks(const std::string& group) override {
    return refuse("open", group);
  }

 private:
  static std::unexpected<Error> refuse(const char* operation, const std::string& path) {
    return std::unexpected(Error{operation, path, EROFS, {}});
  }
  std::map<std::string, std::string> files_;
  std::string path_ = "/sys/fs/resctrl";
};

}  // namespace rdtd::fuzz
