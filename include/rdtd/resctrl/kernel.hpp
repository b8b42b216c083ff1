// Kernel: the Filesystem of a mounted resctrl, or of a directory that is a copy of one. It holds
// the root open, and must outlive the use of its `tasks`. Below it, it follows no symbolic links
// and never waits for a file to open.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "rdtd/base/directory.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd::resctrl {

class Kernel final : public Filesystem {
 public:
  // ENODEV with an explanation if the directory exists but resctrl is not mounted on it.
  [[nodiscard]] static Result<std::unique_ptr<Kernel>> open(const std::string& path);

  [[nodiscard]] Result<void> make(const std::string& directory) override;
  [[nodiscard]] Result<void> remove(const std::string& directory) override;
  [[nodiscard]] Result<std::string> read(const std::string& file) const override;
  [[nodiscard]] Result<void> write(const std::string& file, std::string_view text) override;
  [[nodiscard]] Result<std::vector<Entry>> list(const std::string& directory) const override;
  [[nodiscard]] Result<std::unique_ptr<Lock>> lock() override;
  [[nodiscard]] Result<std::unique_ptr<Tasks>> open_tasks(const std::string& group) override;
  [[nodiscard]] Result<uint64_t> info_time() const override;
  [[nodiscard]] Result<void> set_info_time(uint64_t nanoseconds) override;
  [[nodiscard]] const std::string& path() const override { return root_.path(); }
  [[nodiscard]] const Directory& root() const { return root_; }
  // For another thread: a call is under way that may wait for the kernel's lock.
  [[nodiscard]] bool in_call() const { return calls_ > 0; }

 private:
  explicit Kernel(Directory root) : root_(std::move(root)) {}
  Directory root_;
  mutable std::atomic<int> calls_ = 0;
};

}  // namespace rdtd::resctrl
