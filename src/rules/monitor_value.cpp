#include "rdtd/rules/monitor_value.hpp"

#include <algorithm>
#include <string_view>

#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"

namespace rdtd {

namespace {

std::optional<std::string> unit_of(std::string_view cgroup) {
  const CgroupUnits units = units_of_cgroup(cgroup);
  if (units.system.empty() || units.system.back().ends_with(".slice")) return std::nullopt;
  return std::string(units.system.back());
}

// "podUID" below "kubepods" with the cgroupfs driver of the kubelet, with that of systemd
// "kubepods-burstable-podUID.slice", where '_' stands for '-'. A static pod has a hash for its uid.
std::optional<std::string> pod_of(std::string_view cgroup) {
  constexpr size_t shortest_uid = 32;
  bool below = false;
  for (std::string_view part : split(cgroup, '/')) {
    below = below || part.starts_with("kubepods");
    if (part.ends_with(".slice")) part.remove_suffix(std::string_view(".slice").size());
    const size_t pod = part.rfind("pod");
    if (!below || pod == std::string_view::npos || (pod > 0 && part[pod - 1] != '-')) continue;
    std::string uid(part.substr(pod + 3));
    std::ranges::replace(uid, '_', '-');
    if (uid.size() >= shortest_uid &&
        uid.find_first_not_of("0123456789abcdefABCDEF-") == std::string::npos)
      return uid;
  }
  return std::nullopt;
}

}  // namespace

Fact fact_of(MonitorTemplate::Value value) {
  return value == MonitorTemplate::Value::user ? Fact::identity : Fact::cgroup;
}

std::optional<std::string> monitor_value(MonitorTemplate::Value value, const ProcessFacts& facts) {
  if (!facts.has(fact_of(value))) return std::nullopt;
  switch (value) {
    case MonitorTemplate::Value::unit: return unit_of(*facts.cgroup);
    case MonitorTemplate::Value::user: return std::to_string(facts.identity->responsible());
    case MonitorTemplate::Value::pod: return pod_of(*facts.cgroup);
  }
  return std::nullopt;
}

}  // namespace rdtd
