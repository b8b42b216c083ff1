#include "bench_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace rdtd::bench {

namespace {

// 0 if it is no cache.
unsigned level_of(const Resource& resource) {
  if (!is_cache(resource)) return 0;
  return to_string(resource).starts_with("L2") ? 2 : 3;
}

// Of code and data, that of the data: a probe reads these, and most of what others read is data.
Cbm mask_in(const Schemata& schemata, experiment::CacheId cache) {
  Cbm out;
  for (const auto& [resource, masks] : schemata) {
    if (level_of(resource) != cache.level) continue;
    const auto mask = masks.find(DomainId{cache.id});
    if (mask == masks.end()) continue;
    if (to_string(resource).ends_with("DATA")) return Cbm{mask->second};
    out = Cbm{mask->second};
  }
  return out;
}

Cbm mask_of_all(const Capabilities& capabilities, unsigned level) {
  for (const auto& [resource, cache] : capabilities.caches)
    if (level_of(resource) == level) return cache.cbm_mask;
  return {};
}

struct DomainsOfLevel {
  std::set<unsigned> all, different;
};

void compare_domains(const DomainValues& values, const DomainValues& base,
                     DomainsOfLevel& domains) {
  for (const auto& [domain, value] : values) {
    const auto other = base.find(domain);
    domains.all.insert(static_cast<unsigned>(domain));
    if (other == base.end() || other->second != value)
      domains.different.insert(static_cast<unsigned>(domain));
  }
}

}  // namespace

std::optional<Divided> divided_by(const Snapshot& snapshot, const std::set<std::string>& groups) {
  const auto base = snapshot.groups.find(std::string(root_group));
  std::map<unsigned, DomainsOfLevel> by_level;
  for (const std::string& label : groups) {
    const auto group = snapshot.groups.find(std::string(control_group_of(group_directory(label))));
    if (base == snapshot.groups.end() || group == snapshot.groups.end()) return Divided{};
    for (const auto& [resource, values] : group->second.schemata)
      if (const auto row = base->second.schemata.find(resource); row != base->second.schemata.end())
        compare_domains(values, row->second, by_level[level_of(resource)]);
  }
  for (const unsigned level : {3U, 2U, 0U}) {
    const DomainsOfLevel& domains = by_level[level];
    if (domains.different.empty()) continue;
    if (domains.different == domains.all)
      return Divided{level == 0 ? std::nullopt : std::optional(level), {}};
    // Bandwidth is limited by L3 domains.
    return Divided{level == 0 ? 3 : level, domains.different};
  }
  return std::nullopt;
}

unsigned ways_in(const Schemata& schemata, experiment::CacheId cache) {
  return mask_in(schemata, cache).count();
}

unsigned all_ways_of(const Capabilities& capabilities, unsigned level) {
  return mask_of_all(capabilities, level).count();
}

std::optional<std::string> missing_ways(const Capabilities& capabilities, const Snapshot& snapshot,
                                        experiment::CacheId cache, const std::string& group) {
  const auto root = snapshot.groups.find(std::string(root_group));
  if (root == snapshot.groups.end()) return std::nullopt;
  const Cbm all = mask_of_all(capabilities, cache.level),
            own = mask_in(root->second.schemata, cache);
  if (own.empty() || own.contains(all)) return std::nullopt;
  std::string out = fmt::format("Alone, the command has {} of {} ways of L{}", own.count(),
                                all.count(), cache.level);
  Cbm others;
  std::vector<std::string> names;
  for (const auto& [directory, state] : snapshot.groups) {
    const Cbm mask = mask_in(state.schemata, cache);
    // A group that also has ways of the default group keeps nothing from it.
    if (mask.empty() || mask.overlaps(own)) continue;
    others = others | mask;
    names.push_back("'" + group_label(directory) + "'");
  }
  if (!others.contains(all.without(own)))
    return out + ": the default group may not fill the others.";
  out += fmt::format(": {} {} the others.", first_names(names), names.size() == 1 ? "has" : "have");
  if (std::ranges::find(names, "'" + group + "'") != names.end())
    out +=
        " With an amount such as --l3 instead of --group, that group is there in its own runs "
        "only.";
  return out;
}

std::vector<std::string> changed_groups(const std::map<std::string, Schemata>& before,
                                        const std::map<std::string, Schemata>& after) {
  std::vector<std::string> out;
  for (const auto& [group, schemata] : after)
    if (const auto found = before.find(group); found != before.end() && found->second != schemata)
      out.push_back(fmt::format("The schemata of '{}' changed during the runs.", group));
  return out;
}

}  // namespace rdtd::bench
