#include "rdtd/resctrl/counters.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd::resctrl {

namespace {

// "mon_L3_00": its resource and its domain.
struct MonDirectory {
  std::string resource;
  DomainId domain{};
};

std::optional<MonDirectory> parse_mon_directory(std::string_view name) {
  constexpr std::string_view prefix = "mon_";
  const size_t last = name.rfind('_');
  if (!name.starts_with(prefix) || last <= prefix.size()) return std::nullopt;
  const auto id = parse_unsigned<uint32_t>(name.substr(last + 1));
  if (!id) return std::nullopt;
  return MonDirectory{std::string(name.substr(prefix.size(), last - prefix.size())), DomainId{*id}};
}

// The counters of a directory, and those of the parts of its domain.
void append_domain(const Filesystem& filesystem, const std::string& path, const std::string& group,
                   const std::string& name, std::vector<DomainCounters>& out) {
  const auto place = parse_mon_directory(name);
  const auto entries = place ? filesystem.list(path) : Result<std::vector<Filesystem::Entry>>();
  if (!place || !entries) return;
  DomainCounters counters{group, place->resource, place->domain, {}};
  for (const Filesystem::Entry& entry : *entries)
    if (!entry.is_directory)
      if (const auto text = filesystem.read(path + "/" + entry.name))
        if (const auto value = parse_counter(*text)) counters.counters.emplace(entry.name, *value);
  // A monitor that counts nothing here has an empty directory.
  if (!counters.counters.empty()) out.push_back(std::move(counters));
  for (const Filesystem::Entry& entry : *entries)
    if (entry.is_directory)
      append_domain(filesystem, path + "/" + entry.name, group, entry.name, out);
}

// All domains of one group. A group that is removed meanwhile has none.
void append_counters(const Filesystem& filesystem, const std::string& group,
                     std::vector<DomainCounters>& out) {
  const std::string data = file_of(group, "mon_data");
  const auto domains = filesystem.list(data);
  if (!domains) return;
  for (const Filesystem::Entry& entry : *domains)
    append_domain(filesystem, data + "/" + entry.name, group, entry.name, out);
}

}  // namespace

Result<std::vector<DomainCounters>> read_counters(const Filesystem& filesystem) {
  std::vector<DomainCounters> out;
  const auto entries = filesystem.list("");
  if (!entries) return std::unexpected(entries.error());
  std::vector<std::string> groups = {std::string(root_group)};
  for (const Filesystem::Entry& entry : *entries)
    if (is_group(entry)) groups.push_back(entry.name);
  for (const std::string& group : groups) {
    append_counters(filesystem, group, out);
    const auto mon_groups = filesystem.list(file_of(group, "mon_groups"));
    if (!mon_groups) continue;
    for (const Filesystem::Entry& entry : *mon_groups)
      append_counters(filesystem, mon_group_directory(group, entry.name), out);
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
