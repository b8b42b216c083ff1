// Random commands for a resctrl filesystem, about half of them invalid.
#pragma once

#include <sys/types.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fake/resctrl.hpp"

namespace rdtd::fake {

struct Command {
  enum class Kind { make, remove, read, list, write, open_tasks, add, fork, kill, offline, online };
  Kind kind{};
  std::string path;
  std::string text;
  pid_t tid = 0;     // add, kill
  unsigned cpu = 0;  // offline, online

  [[nodiscard]] std::string shown() const;
};

// The text with "\n" for a line break.
[[nodiscard]] std::string escaped(std::string_view text);

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}
  // The next command for a filesystem in this state; `children` are tasks that it may move or end.
  [[nodiscard]] Command next(const Resctrl& state, const std::vector<pid_t>& children);

 private:
  [[nodiscard]] unsigned below(size_t count);
  [[nodiscard]] bool one_in(unsigned count) { return below(count) == 0; }
  template <class T>
  [[nodiscard]] const T& pick(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }
  [[nodiscard]] std::string group(const Resctrl& state);
  [[nodiscard]] std::string any_path(const Resctrl& state);
  [[nodiscard]] Command write(const Resctrl& state, const std::vector<pid_t>& children);
  [[nodiscard]] std::string schemata(const Resctrl& state);
  [[nodiscard]] std::string row(const Resctrl& state);
  [[nodiscard]] std::string value(const Control& control, Resource resource);
  [[nodiscard]] std::string cpus(const Resctrl& state, bool list);
  [[nodiscard]] std::string tasks(const std::vector<pid_t>& children);

  std::mt19937 random_;
};

}  // namespace rdtd::fake
