#include "rdtd/rules/monitor_value.hpp"

#include <string_view>
#include <utility>

#include "rdtd/model/container.hpp"
#include "rdtd/model/systemd_unit.hpp"

namespace rdtd {

namespace {

std::optional<std::string> unit_of(std::string_view cgroup) {
  const CgroupUnits units = units_of_cgroup(cgroup);
  if (units.system.empty() || units.system.back().ends_with(".slice")) return std::nullopt;
  return std::string(units.system.back());
}

std::optional<std::string> pod_of(std::string_view cgroup) {
  std::string uid = container_of_cgroup(cgroup).pod;
  return uid.empty() ? std::nullopt : std::optional(std::move(uid));
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
