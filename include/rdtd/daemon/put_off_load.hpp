// PutOffLoad: the load that only the machine refused, while it is to be tried again. The first load
// keeps its files, and is tried with each comparison. A reload that nobody waited for reads the
// files again, and is tried after growing pauses.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "rdtd/daemon/growing_pause.hpp"
#include "rdtd/policy/search.hpp"

namespace rdtd {

class PutOffLoad {
 public:
  void first(std::vector<PolicyFile> files) { load_ = First{.files = std::move(files)}; }
  void reload(GrowingPause::Time now) {
    if (!is_reload()) load_ = GrowingPause{};
    std::get<GrowingPause>(load_).begin(now);
  }
  // Those of a first load stay the ones to try.
  void newer_files_are_no_policy() {
    if (auto* const load = std::get_if<First>(&load_)) load->files_are_older = true;
  }
  void forget() { load_ = {}; }
  void forget_reload() {
    if (is_reload()) forget();
  }

  [[nodiscard]] bool is_first() const { return std::holds_alternative<First>(load_); }
  [[nodiscard]] bool is_reload() const { return std::holds_alternative<GrowingPause>(load_); }
  // Of a reload.
  [[nodiscard]] const GrowingPause* pause() const { return std::get_if<GrowingPause>(&load_); }
  // Of the first load; requires is_first().
  [[nodiscard]] const std::vector<PolicyFile>& files() const {
    return std::get<First>(load_).files;
  }
  [[nodiscard]] bool files_are_older() const {
    const auto* const load = std::get_if<First>(&load_);
    return load != nullptr && load->files_are_older;
  }

 private:
  struct First {
    std::vector<PolicyFile> files;
    bool files_are_older = false;
  };
  std::variant<std::monostate, First, GrowingPause> load_;
};

}  // namespace rdtd
