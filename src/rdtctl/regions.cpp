#include "regions.hpp"

#include <algorithm>

#include "groups.hpp"
#include "value_text.hpp"

namespace rdtd {

namespace {

struct LockedRegion {
  std::string name;
  Resource resource{};
  DomainId domain{};
  Cbm mask;  // empty: its domain was offline, and the region is lost
  uint64_t bytes = 0;
};

std::vector<LockedRegion> regions_of(const TreeMachine& machine) {
  std::vector<LockedRegion> out;
  const auto& caches = machine.capabilities.caches;
  for (const auto& [name, state] : machine.snapshot.groups) {
    if (state.mode != Mode::pseudo_locked) continue;
    LockedRegion& region = out.emplace_back(LockedRegion{.name = name});
    if (state.schemata.empty() || state.schemata.begin()->second.empty()) continue;
    const auto& [resource, masks] = *state.schemata.begin();
    const auto [domain, bits] = *masks.begin();
    region.resource = resource;
    region.domain = domain;
    region.mask = Cbm{bits};
    if (const auto cache = caches.find(resource); cache != caches.end())
      if (const auto bytes = cache->second.way_bytes.find(domain);
          bytes != cache->second.way_bytes.end())
        region.bytes = bytes->second * region.mask.count();
  }
  return out;
}

const char* state_of(const LockedRegion& region) { return region.mask.empty() ? "lost" : "locked"; }

}  // namespace

void print_policy_regions(const Context& context, const std::vector<LockStatus>& locks) {
  if (locks.empty()) return;
  std::vector<std::vector<std::string>> rows;
  for (const LockStatus& lock : locks) {
    const Cbm mask = parse_cbm(lock.mask).value_or(Cbm{});
    const bool granted = lock.state != "missing" && !mask.empty();
    rows.push_back({lock.name, lock.resource,
                    lock.resource.empty() ? "" : std::to_string(lock.domain), lock.asked,
                    granted ? ways_text(mask, lock.bytes) : "", lock.device, lock.state});
  }
  print("\n");
  print_table(
      context,
      {{"REGION"}, {"CACHE"}, {"DOMAIN", true}, {"ASKED"}, {"GRANTED"}, {"DEVICE"}, {"STATE"}},
      rows);
}

JsonValue policy_regions_json(const std::vector<LockStatus>& locks) {
  JsonValue out = JsonValue::array();
  for (const LockStatus& lock : locks)
    out.push_back({{"pseudo_lock", lock.name},
                   {"resource", lock.resource},
                   {"domain", lock.domain},
                   {"asked", lock.asked},
                   {"mask", lock.mask},
                   {"bytes", lock.bytes},
                   {"device", lock.device},
                   {"owner", lock.owner},
                   {"group", lock.user_group},
                   {"mode", lock.mode},
                   {"state", lock.state},
                   {"reason", lock.reason}});
  return out;
}

void print_regions(const Context& context, const TreeMachine& machine) {
  std::vector<std::vector<std::string>> rows;
  for (const LockedRegion& region : regions_of(machine)) {
    const bool lost = region.mask.empty();
    rows.push_back({region.name, made_by(machine, region.name),
                    lost ? "" : std::string(to_string(region.resource)),
                    lost ? "" : to_string(region.domain),
                    lost ? "" : ways_text(region.mask, region.bytes), device_of_lock(region.name),
                    state_of(region)});
  }
  if (rows.empty()) return;
  print("\n");
  print_table(
      context,
      {{"REGION"}, {"MADE BY"}, {"CACHE"}, {"DOMAIN", true}, {"SIZE"}, {"DEVICE"}, {"STATE"}},
      rows);
}

JsonValue regions_json(const TreeMachine& machine) {
  JsonValue out = JsonValue::array();
  for (const LockedRegion& region : regions_of(machine)) {
    JsonValue& entry = out.emplace_back(
        JsonValue{{"pseudo_lock", region.name}, {"made_by", made_by(machine, region.name)}});
    if (!region.mask.empty()) {
      entry["resource"] = to_string(region.resource);
      entry["domain"] = static_cast<uint32_t>(region.domain);
      entry["mask"] = to_string(region.mask);
      entry["bytes"] = region.bytes;
    }
    entry["device"] = device_of_lock(region.name);
    entry["state"] = state_of(region);
  }
  return out;
}

}  // namespace rdtd
