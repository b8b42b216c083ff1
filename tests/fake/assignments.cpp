// Assignable counters: the mode mbm_event, as in fs/resctrl/monitor.c of 7.3.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "fake/resctrl.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd::fake {

std::vector<std::string> Resctrl::mbm_events() const {
  std::vector<std::string> events;
  for (const std::string& feature : machine.mon_features)
    if (feature.starts_with("mbm_")) events.push_back(feature);
  return events;
}

std::vector<DomainId> Resctrl::online_mon_domains() const {
  std::vector<DomainId> out;
  for (const auto& [id, cpus] : machine.mon_domains)
    if (std::ranges::any_of(cpus, [&](unsigned cpu) { return online.contains(cpu); }))
      out.push_back(id);
  return out;
}

unsigned Resctrl::free_counters(DomainId id) const {
  size_t used = 0;
  const auto count = [&](const Assigned& assigned) {
    for (const auto& [event, domains] : assigned) used += domains.count(id);
  };
  for (const Group& group : groups) {
    count(group.assigned);
    for (const MonGroup& mon : group.mon_groups) count(mon.assigned);
  }
  return static_cast<unsigned>(machine.num_mbm_cntrs - used);
}

bool Resctrl::assign(Assigned& assigned, const std::string& event, DomainId id) {
  if (assigned[event].contains(id)) return true;
  if (free_counters(id) == 0) {
    status.print(fmt::format("Failed to allocate counter for {} in domain {}\n", event,
                             static_cast<uint32_t>(id)));
    return false;
  }
  assigned[event].insert(id);
  return true;
}

void Resctrl::assign_at_mkdir(Assigned& assigned) {
  if (machine.num_mbm_cntrs == 0 || !machine.mbm_assign_on_mkdir) return;
  for (const std::string& event : mbm_events())
    for (const DomainId id : online_mon_domains()) (void)assign(assigned, event, id);
}

int Resctrl::write_assignment(Assigned& assigned, const std::string& event,
                              std::string_view domains) {
  for (const std::string_view part : split(domains, ';')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return EINVAL;
    const std::string_view which = trim(part.substr(0, equals));
    const bool gives = trim(part.substr(equals + 1)) == "e";
    if (!gives && trim(part.substr(equals + 1)) != "_") return EINVAL;
    std::vector<DomainId> ids = online_mon_domains();
    if (which != "*") {
      const auto id = parse_unsigned<uint32_t>(which);
      if (!id || std::ranges::find(ids, DomainId{*id}) == ids.end()) return EINVAL;
      ids = {DomainId{*id}};
    }
    bool done = true;
    for (const DomainId id : ids)
      if (gives)
        done = assign(assigned, event, id) && done;
      else
        assigned[event].erase(id);
    if (!done) return ENOSPC;
  }
  return 0;
}

int Resctrl::write_assignments(Assigned& assigned, std::string_view text) {
  if (!text.ends_with('\n')) return EINVAL;
  status.clear();
  for (const std::string_view line : split(text.substr(0, text.size() - 1), '\n')) {
    const size_t colon = line.find(':');
    const std::string event(trim(line.substr(0, colon)));
    const std::vector<std::string> events = mbm_events();
    if (colon == std::string_view::npos || std::ranges::find(events, event) == events.end())
      return EINVAL;
    if (const int code = write_assignment(assigned, event, line.substr(colon + 1)); code != 0) {
      status.print(fmt::format("Assign operation '{}' failed\n", line));
      return code;
    }
  }
  return 0;
}

std::string Resctrl::assignments_text(const Assigned& assigned) const {
  std::string out;
  for (const std::string& event : mbm_events()) {
    std::vector<std::string> parts;
    const auto known = assigned.find(event);
    for (const DomainId id : online_mon_domains())
      parts.push_back(
          fmt::format("{}={}", static_cast<uint32_t>(id),
                      known != assigned.end() && known->second.contains(id) ? 'e' : '_'));
    out += fmt::format("{}:{}\n", event, join(parts, ";"));
  }
  return out;
}

void Resctrl::add_assignment_files(std::map<std::string, std::string>& files) const {
  if (machine.num_mbm_cntrs == 0) return;
  std::vector<std::string> all, free;
  for (const DomainId id : online_mon_domains()) {
    all.push_back(fmt::format("{}={}", static_cast<uint32_t>(id), machine.num_mbm_cntrs));
    free.push_back(fmt::format("{}={}", static_cast<uint32_t>(id), free_counters(id)));
  }
  files["L3_MON/mbm_assign_mode"] = "[mbm_event]\ndefault\n";
  files["L3_MON/mbm_assign_on_mkdir"] = machine.mbm_assign_on_mkdir ? "1\n" : "0\n";
  files["L3_MON/num_mbm_cntrs"] = join(all, ";") + "\n";
  files["L3_MON/available_mbm_cntrs"] = join(free, ";") + "\n";
}

}  // namespace rdtd::fake
