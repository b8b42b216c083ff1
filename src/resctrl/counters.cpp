#include "rdtd/resctrl/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include "info_reader.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/members.hpp"
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

// Nothing is counted there, or not any more. The directories of a region that is locked are closed.
bool counts_nothing(const Error& error) { return is_absent(error) || error.code == EACCES; }

// The counters of a directory, and those of the parts of its domain.
Result<void> append_domain(const Filesystem& filesystem, const std::string& path,
                           const std::string& group, const std::string& name,
                           std::vector<DomainCounters>& out) {
  const auto place = parse_mon_directory(name);
  if (!place) return {};
  const auto entries = filesystem.list(path);
  if (!entries && counts_nothing(entries.error())) return {};
  if (!entries) return std::unexpected(entries.error());
  DomainCounters counters{group, place->resource, place->domain, {}};
  for (const Filesystem::Entry& entry : *entries)
    if (!entry.is_directory) {
      const auto text = filesystem.read(path + "/" + entry.name);
      if (const auto value = text ? parse_counter(*text) : std::nullopt)
        counters.counters.emplace(entry.name, *value);
      else if (!text && !counts_nothing(text.error()))
        counters.counters.emplace(entry.name, NoCount::error);
    }
  // A monitor that counts nothing here has an empty directory.
  if (!counters.counters.empty()) out.push_back(std::move(counters));
  for (const Filesystem::Entry& entry : *entries)
    if (entry.is_directory)
      if (auto done = append_domain(filesystem, path + "/" + entry.name, group, entry.name, out);
          !done)
        return done;
  return {};
}

// The entries of a directory; none if it is not there.
Result<std::vector<Filesystem::Entry>> list_counted(const Filesystem& filesystem,
                                                    const std::string& path) {
  auto entries = filesystem.list(path);
  if (!entries && counts_nothing(entries.error())) return {};
  return entries;
}

// All domains of one group. A group that is removed meanwhile has none.
Result<void> append_counters(const Filesystem& filesystem, const std::string& group,
                             std::vector<DomainCounters>& out) {
  const std::string data = file_of(group, "mon_data");
  const auto domains = list_counted(filesystem, data);
  if (!domains) return std::unexpected(domains.error());
  for (const Filesystem::Entry& entry : *domains)
    if (auto done = append_domain(filesystem, data + "/" + entry.name, group, entry.name, out);
        !done)
      return done;
  return {};
}

// A control group, and the monitoring groups in it.
Result<void> append_groups(const Filesystem& filesystem, const std::string& group,
                           std::vector<DomainCounters>& out) {
  if (auto done = append_counters(filesystem, group, out); !done) return done;
  const auto mon_groups = list_counted(filesystem, file_of(group, "mon_groups"));
  if (!mon_groups) return std::unexpected(mon_groups.error());
  for (const Filesystem::Entry& entry : *mon_groups)
    if (auto done = append_counters(filesystem, mon_group_directory(group, entry.name), out); !done)
      return done;
  return {};
}

}  // namespace

Result<std::vector<DomainCounters>> read_counters(const Filesystem& filesystem) {
  std::vector<DomainCounters> out;
  const auto entries = filesystem.list("");
  if (!entries) return std::unexpected(entries.error());
  Result<void> done = append_groups(filesystem, std::string(root_group), out);
  for (const Filesystem::Entry& entry : *entries)
    if (done && is_group(entry)) done = append_groups(filesystem, entry.name, out);
  if (!done) return std::unexpected(done.error());
  return out;
}

CountedTraffic where_traffic_is_counted(const Filesystem& filesystem,
                                        const std::vector<std::string>& monitoring) {
  CountedTraffic out;
  for (const std::string& name : monitoring) {
    const auto features = filesystem.read(fmt::format("info/{}/mon_features", name));
    const std::string resource = monitored_resource(name);
    if (features && features->contains(traffic_counter) &&
        (out.resource.empty() || is_taken_before(resource, out.resource)))
      out.resource = resource;
  }
  if (out.resource.empty()) return out;
  const auto domains = list_counted(filesystem, "mon_data");
  for (const Filesystem::Entry& entry : domains.value_or(std::vector<Filesystem::Entry>{}))
    if (const auto place = parse_mon_directory(entry.name);
        place && place->resource == out.resource)
      out.domains.insert(place->domain);
  return out;
}

Result<std::vector<pid_t>> read_tasks(const Filesystem& filesystem, const std::string& group) {
  auto members = read_members(filesystem, group);
  if (!members) return std::unexpected(members.error());
  return std::move(members->tasks);
}

}  // namespace rdtd::resctrl
