#include "rdtd/resctrl/counters.hpp"

#include <algorithm>
#include <string_view>

#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd::resctrl {

namespace {

// One domain's counters, from a directory mon_data/mon_L3_NN.
void read_domain(const Filesystem& filesystem, const std::string& directory, DomainCounters& out) {
  const auto number = [&](const char* file) {
    const auto text = filesystem.read(directory + "/" + file);
    return text ? parse_unsigned<uint64_t>(trim(*text)) : std::nullopt;
  };
  out.llc_occupancy = number("llc_occupancy");
  out.mbm_total_bytes = number("mbm_total_bytes");
  out.mbm_local_bytes = number("mbm_local_bytes");
}

// All domains of one group. A group that is removed meanwhile has none.
void append_counters(const Filesystem& filesystem, const std::string& directory,
                     const DomainCounters& whose, std::vector<DomainCounters>& out) {
  const auto domains = filesystem.list(directory + "mon_data");
  if (!domains) return;
  constexpr std::string_view prefix = "mon_L3_";
  for (const Filesystem::Entry& entry : *domains) {
    const auto id = entry.name.starts_with(prefix)
                        ? parse_unsigned<uint32_t>(entry.name.substr(prefix.size()))
                        : std::nullopt;
    if (!id) continue;
    DomainCounters& counters = out.emplace_back(whose);
    counters.domain = DomainId{*id};
    read_domain(filesystem, directory + "mon_data/" + entry.name, counters);
  }
}

}  // namespace

Result<std::vector<DomainCounters>> read_counters(const Filesystem& filesystem) {
  std::vector<DomainCounters> out;
  const auto entries = filesystem.list("");
  if (!entries) return std::unexpected(entries.error());
  std::vector<std::string> groups = {std::string(root_group)};
  for (const Filesystem::Entry& entry : *entries)
    if (is_group(entry)) groups.push_back(entry.name);
  for (const std::string& name : groups) {
    const std::string directory = name == root_group ? "" : name + "/";
    append_counters(filesystem, directory, {.group = name}, out);
    const auto mon_groups = filesystem.list(directory + "mon_groups");
    if (!mon_groups) continue;
    for (const Filesystem::Entry& entry : *mon_groups)
      append_counters(filesystem, directory + "mon_groups/" + entry.name + "/",
                      {.group = name, .mon_group = entry.name}, out);
  }
  return out;
}

Result<std::vector<pid_t>> read_tasks(const Filesystem& filesystem, const std::string& group) {
  const auto text = filesystem.read(file_of(group, "tasks"));
  if (!text) return std::unexpected(text.error());
  std::vector<pid_t> tasks;
  for (const std::string_view line : split(*text, '\n'))
    if (const auto tid = parse_unsigned<uint32_t>(line)) tasks.push_back(static_cast<pid_t>(*tid));
  std::ranges::sort(tasks);
  return tasks;
}

}  // namespace rdtd::resctrl
