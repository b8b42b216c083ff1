#include "fake/kernel.hpp"

#include <fmt/format.h>

#include <cerrno>

namespace rdtd::fake {

namespace {

class HeldLock final : public resctrl::Lock {
 public:
  explicit HeldLock(std::shared_ptr<bool> locked) : locked_(std::move(locked)) { *locked_ = true; }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  ~HeldLock() override { *locked_ = false; }

 private:
  std::shared_ptr<bool> locked_;
};

}  // namespace

class Kernel::OpenTasks final : public resctrl::Tasks {
 public:
  OpenTasks(const Kernel& kernel, std::string file, uint64_t inode)
      : kernel_(kernel), file_(std::move(file)), inode_(inode) {}

  [[nodiscard]] int add(pid_t tid) const override {
    const std::lock_guard guard(kernel_.mutex);
    const auto failure = kernel_.calls.begin("add", file_, std::to_string(tid));
    if (failure && failure->when == Calls::When::before_effect) return failure->code;
    const int code = kernel_.resctrl.write_open_tasks(inode_, std::to_string(tid));
    return failure ? failure->code : code;
  }

 private:
  const Kernel& kernel_;
  std::string file_;
  uint64_t inode_;
};

Error Kernel::error(Refusal refusal, std::string operation, const std::string& file) const {
  // resctrl::Kernel names the root directory in its own way for these two.
  const bool root = file.empty() && (operation == "list" || operation == "lock");
  if (refusal.on_open) operation = "open";
  return {std::move(operation), root ? path_ : path_ + "/" + file, refusal.code, {}};
}

template <class T, class Effect>
Result<T> Kernel::count(const char* name, const std::string& path, std::string argument,
                        std::string operation, const Effect& effect) const {
  const std::lock_guard guard(mutex);
  const auto failure = calls.begin(name, path, std::move(argument));
  const auto fail = [&](Refusal refusal) {
    return std::unexpected(error(refusal, std::move(operation), path));
  };
  if (failure && failure->when == Calls::When::before_effect) return fail({failure->code});
  auto answer = effect();
  if (failure) return fail({failure->code});
  if (!answer) return fail(answer.error());
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return *std::move(answer);
}

Result<void> Kernel::make(const std::string& directory) {
  return count<void>("make", directory, {}, "make group", [&]() -> Answer<void> {
    auto made = resctrl.make(directory);
    if (!made) made.error().on_open = false;  // mkdir(2) is one step
    return made;
  });
}

Result<void> Kernel::remove(const std::string& directory) {
  return count<void>("remove", directory, {}, "remove group", [&]() -> Answer<void> {
    auto removed = resctrl.remove(directory);
    if (!removed) removed.error().on_open = false;
    return removed;
  });
}

Result<std::string> Kernel::read(const std::string& file) const {
  auto text = count<std::string>("read", file, {}, "read", [&] { return resctrl.read(file); });
  // The real one finds out when it opens the file.
  if (!text && text.error().code == EISDIR) text.error().operation = "open";
  return text;
}

Result<void> Kernel::write(const std::string& file, std::string_view text) {
  const std::string_view shown = text.substr(0, text.find_last_not_of('\n') + 1);
  return count<void>("write", file, std::string(text), fmt::format("write '{}' to", shown),
                     [&] { return resctrl.write(file, text); });
}

Result<std::vector<Kernel::Entry>> Kernel::list(const std::string& directory) const {
  return count<std::vector<Entry>>("list", directory, {}, "list",
                                   [&] { return resctrl.list(directory); });
}

Result<std::unique_ptr<resctrl::Lock>> Kernel::lock() {
  using Held = std::unique_ptr<resctrl::Lock>;
  return count<Held>("lock", {}, {}, "lock", [&]() -> Answer<Held> {
    if (locked_by_other || *locked_) return std::unexpected(Refusal{EWOULDBLOCK});
    return std::make_unique<HeldLock>(locked_);
  });
}

Result<std::unique_ptr<resctrl::Tasks>> Kernel::open_tasks(const std::string& group) {
  using Opened = std::unique_ptr<resctrl::Tasks>;
  const std::string file = group.empty() ? "tasks" : group + "/tasks";
  return count<Opened>("open_tasks", file, {}, "open", [&]() -> Answer<Opened> {
    const auto inode = resctrl.open_tasks(file);
    if (!inode) return std::unexpected(inode.error());
    return std::make_unique<OpenTasks>(*this, file, *inode);
  });
}

Result<uint64_t> Kernel::info_time() const {
  return count<uint64_t>("info_time", "info", {}, "examine",
                         [&]() -> Answer<uint64_t> { return modified; });
}

Result<void> Kernel::set_info_time(uint64_t nanoseconds) {
  return count<void>("set_info_time", "info", std::to_string(nanoseconds), "set the time of",
                     [&]() -> Answer<void> {
                       modified = nanoseconds;
                       time_is_kept = true;
                       return {};
                     });
}

}  // namespace rdtd::fake
