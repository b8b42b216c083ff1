// Kernel: the resctrl::Filesystem of a fake::Resctrl. Every call of the code under test is counted
// and recorded, and can be made to fail. Its errors read as those of resctrl::Kernel.
//
//   fake::Kernel kernel(fake::xeon());
//   kernel.resctrl.make("redis");                 // somebody else: not counted
//   kernel.calls.fail(3, EBUSY);                  // the third call fails
//   kernel.calls.hook = [&](const fake::Call& call) {
//     if (call.number == 2) (void)kernel.resctrl.remove("redis");
//   };
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "fake/calls.hpp"
#include "fake/resctrl.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd::fake {

class Kernel final : public resctrl::Filesystem {
 public:
  explicit Kernel(Machine machine, std::string path = "/sys/fs/resctrl")
      : resctrl(std::move(machine)), path_(std::move(path)) {}

  [[nodiscard]] Result<void> make(const std::string& directory) override;
  [[nodiscard]] Result<void> remove(const std::string& directory) override;
  [[nodiscard]] Result<std::string> read(const std::string& file) const override;
  [[nodiscard]] Result<void> write(const std::string& file, std::string_view text) override;
  [[nodiscard]] Result<std::vector<Entry>> list(const std::string& directory) const override;
  [[nodiscard]] Result<std::unique_ptr<resctrl::Lock>> lock() override;
  // The Kernel must outlive what this returns.
  [[nodiscard]] Result<std::unique_ptr<resctrl::Tasks>> open_tasks(
      const std::string& group) override;
  [[nodiscard]] Result<uint64_t> info_time() const override;
  [[nodiscard]] Result<void> set_info_time(uint64_t nanoseconds) override;
  [[nodiscard]] const std::string& path() const override { return path_; }

  // The state, and the calls of other programs. Only counted calls may come from several threads
  // at once; a test that runs threads changes these from the hook, or under `mutex`.
  mutable Resctrl resctrl;
  mutable Calls calls;
  mutable std::recursive_mutex mutex;

  uint64_t modified = 1000;      // `info`: another number, another mount
  bool time_is_kept = false;     // it was set: if not, the kernel may show another one later
  bool locked_by_other = false;  // another program holds the lock
  [[nodiscard]] bool locked() const { return *locked_; }

 private:
  class OpenTasks;
  // Counts a call, performs it unless it is to fail, and turns a refusal into an error with this
  // operation.
  template <class T, class Effect>
  Result<T> count(const char* name, const std::string& path, std::string argument,
                  std::string operation, const Effect& effect) const;
  [[nodiscard]] Error error(Refusal refusal, std::string operation, const std::string& file) const;

  std::string path_;
  std::shared_ptr<bool> locked_ = std::make_shared<bool>(false);
};

}  // namespace rdtd::fake
