#include "rdtd/model/snapshot.hpp"

#include <array>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr std::array<std::string_view, 4> mode_names = {"shareable", "exclusive",
                                                        "pseudo-locksetup", "pseudo-locked"};

}  // namespace

std::string_view to_string(Mode mode) { return mode_names.at(static_cast<size_t>(mode)); }

std::optional<Mode> parse_mode(std::string_view text) {
  for (size_t i = 0; i < mode_names.size(); i++)
    if (mode_names.at(i) == trim(text)) return static_cast<Mode>(i);
  return std::nullopt;
}

bool is_pseudo(Mode mode) { return mode == Mode::pseudo_locksetup || mode == Mode::pseudo_locked; }

std::string group_label(std::string_view directory) {
  return directory == root_group ? "default" : std::string(directory);
}
std::string group_directory(std::string_view label) {
  return label == "default" ? std::string(root_group) : std::string(label);
}

CpuSet Snapshot::online_cpus() const {
  CpuSet all;
  for (const auto& [name, group] : groups) all.insert(group.cpus.begin(), group.cpus.end());
  return all;
}

}  // namespace rdtd
