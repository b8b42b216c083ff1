// FixedTexts: resctrl as a table of files and their texts, which cannot be changed.
#pragma once

#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd::test {

// Every directory on the way to a file exists.
class FixedTexts final : public resctrl::Filesystem {
 public:
  explicit FixedTexts(std::map<std::string, std::string> files) : files_(std::move(files)) {}

  void fail(const std::string& file, int code) { errors_[file] = code; }

  // How many lists of directories were made.
  [[nodiscard]] int lists() const { return lists_; }

  [[nodiscard]] Result<void> make(const std::string& directory) override { return no(directory); }
  [[nodiscard]] Result<void> remove(const std::string& directory) override { return no(directory); }
  [[nodiscard]] Result<void> write(const std::string& file, std::string_view) override {
    return no(file);
  }
  [[nodiscard]] Result<std::unique_ptr<resctrl::Lock>> lock() override { return no(""); }
  [[nodiscard]] Result<std::unique_ptr<resctrl::Tasks>> open_tasks(const std::string& g) override {
    return no(g);
  }
  [[nodiscard]] Result<uint64_t> info_time() const override { return 1000; }
  [[nodiscard]] Result<void> set_info_time(uint64_t) override { return {}; }
  [[nodiscard]] const std::string& path() const override { return path_; }

  [[nodiscard]] Result<std::string> read(const std::string& file) const override {
    if (const auto error = errors_.find(file); error != errors_.end())
      return std::unexpected(Error{"open", path_ + "/" + file, error->second, {}});
    const auto found = files_.find(file);
    if (found == files_.end())
      return std::unexpected(Error{"open", path_ + "/" + file, ENOENT, {}});
    return found->second;
  }
  [[nodiscard]] Result<std::vector<Entry>> list(const std::string& directory) const override {
    const std::string prefix = directory.empty() ? "" : directory + "/";
    lists_++;
    std::map<std::string, bool> names;
    for (auto file = files_.lower_bound(prefix);
         file != files_.end() && file->first.starts_with(prefix); ++file) {
      const std::string rest = file->first.substr(prefix.size());
      names[rest.substr(0, rest.find('/'))] = rest.contains('/');
    }
    if (names.empty()) return std::unexpected(Error{"open", path_ + "/" + directory, ENOENT, {}});
    std::vector<Entry> out;
    for (const auto& [name, is_directory] : names)
      out.push_back({name, is_directory, 100 + out.size()});
    return out;
  }

 private:
  [[nodiscard]] std::unexpected<Error> no(const std::string& name) const {
    return std::unexpected(Error{"change", path_ + "/" + name, EROFS, {}});
  }
  std::string path_ = "/resctrl";
  std::map<std::string, std::string> files_;
  std::map<std::string, int> errors_;
  mutable int lists_ = 0;
};

inline std::map<std::string, std::string> group_files(const std::string& name,
                                                      const std::string& schemata,
                                                      const std::string& cpus,
                                                      const std::string& mode) {
  const std::string prefix = name.empty() ? "" : name + "/";
  return {{prefix + "schemata", schemata}, {prefix + "cpus_list", cpus}, {prefix + "mode", mode}};
}

}  // namespace rdtd::test
