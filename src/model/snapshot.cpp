#include "rdtd/model/snapshot.hpp"

#include <fmt/format.h>

#include <array>
#include <span>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr std::array<std::string_view, 4> mode_names = {"shareable", "exclusive",
                                                        "pseudo-locksetup", "pseudo-locked"};
constexpr std::string_view default_label = "default";
// Before the name of a directory that has that label: another tool can make one.
constexpr std::string_view here = "./";
constexpr std::string_view io_label = "I/O";
constexpr std::string_view mon_groups = "mon_groups";  // the directory in each control group

}  // namespace

std::string_view to_string(Mode mode) { return mode_names.at(static_cast<size_t>(mode)); }

std::optional<Mode> parse_mode(std::string_view text) {
  for (size_t i = 0; i < mode_names.size(); i++)
    if (mode_names.at(i) == trim(text)) return static_cast<Mode>(i);
  return std::nullopt;
}

bool is_pseudo(Mode mode) { return mode == Mode::pseudo_locksetup || mode == Mode::pseudo_locked; }

std::string group_label(std::string_view directory) {
  if (directory == io_group) return std::string(io_label);
  const std::string_view control = control_group_of(directory);
  std::string out(control == default_label ? here : std::string_view());
  out += control == root_group ? default_label : control;
  if (is_mon_group(directory)) out += directory.substr(directory.rfind('/'));
  return out;
}

std::string group_directory(std::string_view label) {
  const bool is_directory = label.starts_with(here);
  if (is_directory) label.remove_prefix(here.size());
  const std::string_view control = label.substr(0, label.find('/'));
  const std::string_view directory =
      control == default_label && !is_directory ? root_group : control;
  return control.size() == label.size()
             ? std::string(directory)
             : mon_group_directory(directory, label.substr(control.size() + 1));
}

std::string mon_group_directory(std::string_view control_group, std::string_view mon_group) {
  std::string out(control_group);
  if (!out.empty()) out += '/';
  return out.append(mon_groups).append("/").append(mon_group);
}

bool is_mon_group(std::string_view directory) { return directory.contains('/'); }

std::string_view control_group_of(std::string_view directory) {
  const std::string_view first = directory.substr(0, directory.find('/'));
  return is_mon_group(directory) && first == mon_groups ? root_group : first;
}

std::vector<std::string> Snapshot::closid_holders() const {
  std::vector<std::string> out;
  for (const auto& [name, state] : groups)
    if (name != root_group && state.mode != Mode::pseudo_locked) out.push_back(name);
  out.insert(out.end(), unreadable.begin(), unreadable.end());
  return out;
}

std::vector<std::string> Snapshot::own_locks() const {
  std::vector<std::string> out;
  for (const auto& [name, state] : groups)
    if (owned.contains(name) && state.mode == Mode::pseudo_locked) out.push_back(name);
  return out;
}

bool Snapshot::is_unlisted(std::string_view group) const {
  const auto of_control = unread.find(std::string(control_group_of(group)));
  return is_mon_group(group) && of_control != unread.end() &&
         of_control->second.names.contains("mon_groups");
}

CpuSet Snapshot::online_cpus() const {
  CpuSet all;
  for (const auto* of : {&groups, &half_read})
    for (const auto& [name, group] : *of) all.insert(group.cpus.begin(), group.cpus.end());
  return all;
}

void take_half_read(Snapshot& snapshot, const std::set<std::string>& groups) {
  for (const std::string& group : groups)
    if (auto half = snapshot.half_read.extract(group)) {
      snapshot.groups.insert_or_assign(group, std::move(half.mapped()));
      snapshot.unreadable.erase(group);
    }
}

std::string first_names(const std::vector<std::string>& names) {
  constexpr size_t most = 5;
  if (names.size() <= most) return join(names, ", ");
  return fmt::format("{} and {} more", join(std::span(names).first(most), ", "),
                     names.size() - most);
}

}  // namespace rdtd
