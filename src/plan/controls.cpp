// The controls that the policy language has no word for: what they come to on this machine. A group
// that does not set one keeps what the kernel gave it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "control_value.hpp"
#include "planner.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/plan/controls.hpp"
#include "value_of.hpp"

namespace rdtd {

namespace {

// The names that kernels have for the cap of bandwidth where there is no MB.
constexpr std::array<std::string_view, 2> caps = {"MB_MAX", "MBMAX"};

std::optional<uint32_t> value_in(const ControlValues& record, const std::string& group,
                                 const Resource& resource, DomainId domain) {
  const auto values = record.find(group);
  return values == record.end() ? std::nullopt : value_in(values->second, resource, domain);
}

// The key of a policy that sets a control.
std::string key_of(const std::string& name) {
  if (name == to_string(Resource::MB)) return "'mb'";
  return name == floor_of_bandwidth ? "'mb_min'" : "the control " + name;
}

}  // namespace

ControlValues values_before(const Plan& plan, const Capabilities& capabilities,
                            const Snapshot& snapshot, const ControlValues& record) {
  const std::string root(root_group);
  ControlValues out;
  for (const GroupTarget& target : plan.groups)
    for (const auto& [resource, domains] : target.asked) {
      if (!capabilities.controls.contains(resource)) continue;
      for (const auto& [domain, text] : domains) {
        auto value = value_in(record, target.directory, resource, domain);
        if (!value) value = value_now(snapshot, target.directory, resource, domain);
        if (!value) value = value_in(record, root, resource, domain);
        if (!value) value = value_now(snapshot, root, resource, domain);
        if (value) out[target.directory][resource][domain] = *value;
      }
    }
  return out;
}

void restore_controls(std::vector<GroupTarget>& targets, const Snapshot& snapshot) {
  for (GroupTarget& target : targets) {
    const auto before = snapshot.controls_before.find(target.directory);
    if (before == snapshot.controls_before.end()) continue;
    for (const auto& [resource, values] : before->second)
      for (const auto& [domain, value] : values)
        if (value_now(snapshot, target.directory, resource, domain))
          target.state.schemata[resource].try_emplace(domain, value);
  }
}

const std::pair<const Resource, Control>* Planner::find_control(const std::string& name) const {
  const auto find = [&](std::string_view wanted) -> const std::pair<const Resource, Control>* {
    for (const auto& entry : capabilities_.controls)
      if (entry.first.name() == wanted) return &entry;
    return nullptr;
  };
  const bool cap = name == to_string(Resource::MB);
  if (!cap && name != floor_of_bandwidth) return find(name);
  for (const std::string_view known : cap ? caps : floors_of_bandwidth)
    if (const auto* control = find(known)) return control;
  return nullptr;
}

void Planner::refuse_control(const std::string& name, const Location& where) {
  if (name == floor_of_bandwidth) return refuse_resource("mb_min", name, where);
  std::string meant;
  for (const auto& [resource, control] : capabilities_.controls)
    if (lower(resource.name()) == lower(name)) meant = fmt::format("write {}", resource.name());
  if (std::ranges::find(caps, name) != caps.end() && domains_.contains(Resource::MB))
    meant = "write mb = \"50%\"";
  std::vector<std::string> names;
  // Of the same resource: "L3_MAX" is no slip of "MB_MAX".
  for (const auto& [resource, control] : capabilities_.controls)
    if (resource.name().substr(0, 2) == name.substr(0, 2)) names.emplace_back(resource.name());
  if (const auto nearest = nearest_name(name, names); nearest && meant.empty())
    meant = fmt::format("did you mean {}?", *nearest);
  refuse_resource("control", name, where, meant);
}

void Planner::set_control(const Group& group, const std::string& name, const AmountTable& table) {
  if (table.empty()) return;  // which was reported
  const auto* found = find_control(name);
  if (found == nullptr) return refuse_control(name, table.front().amount.where);
  const auto& [resource, control] = *found;
  for (const DomainAmount& line : table)
    if (line.domains) check_domains(resource, line, control.domains);
  std::map<const DomainAmount*, std::set<DomainId>> domains;
  for (const DomainId domain : control.domains)
    if (const DomainAmount* line = line_for(table, domain)) domains[line].insert(domain);
  for (const auto& [line, ids] : domains) {
    const Amount* amount = &line->amount.value;
    auto value = control_value(*amount, resource, control);
    if (!value && value.error().unsupported && line->other_form) {
      amount = &line->other_form->value;
      value = control_value(*amount, resource, control);
    }
    if (!value) {
      const ControlRefusal& refusal = value.error();
      if (refusal.unsupported)
        unsupported(line->amount.where, refusal.message, refusal.hint);
      else
        error(line->amount.where, refusal.message, refusal.hint);
      continue;
    }
    for (const DomainId domain : ids) {
      target(&group).state.schemata[resource][domain] = *value;
      target(&group).asked[resource][domain] = amount->text;
    }
  }
}

void Planner::set_controls() {
  for (const Group& group : policy_.groups) {
    std::map<const Control*, std::string> set;  // by which key
    const auto set_once = [&](const std::string& name, const AmountTable& table) {
      const auto* found = find_control(name);
      if (found != nullptr && !table.empty())
        if (const auto [other, first] = set.emplace(&found->second, key_of(name)); !first)
          return error(table.front().amount.where,
                       fmt::format("{} and {} are the same here", other->second, key_of(name)),
                       "remove one of them");
      set_control(group, name, table);
    };
    if (const auto cap = group.amounts.find(Resource::MB);
        cap != group.amounts.end() && is_cap_a_control())
      set_once(std::string(to_string(Resource::MB)), cap->second);
    for (const auto& [name, table] : group.controls) set_once(name, table);
    warn_of_floor_above_cap(group);
  }
  if (is_cap_a_control())
    for (GroupTarget& of : targets_) lift_cap(of);
}

// The form of an amount that is a percentage.
static const Percent* percent_in(const DomainAmount& line) {
  const auto* percent = std::get_if<Percent>(&line.amount.value.value);
  return percent == nullptr && line.other_form ? std::get_if<Percent>(&line.other_form->value.value)
                                               : percent;
}

// Kernels take such values. Their effect in hardware is not defined.
void Planner::warn_of_floor_above_cap(const Group& group) {
  const auto* floor = find_control(std::string(floor_of_bandwidth));
  const auto asked = group.controls.find(std::string(floor_of_bandwidth));
  if (floor == nullptr || asked == group.controls.end()) return;
  std::set<std::pair<const DomainAmount*, const DomainAmount*>> seen;
  for (const DomainId domain : floor->second.domains) {
    const DomainAmount* least = line_for(asked->second, domain);
    const DomainAmount* most = line_for(group.amounts, Resource::MB, domain);
    if (least == nullptr || most == nullptr || !seen.emplace(least, most).second) continue;
    const auto* from = percent_in(*least);
    const auto* to = percent_in(*most);
    if (from != nullptr && to != nullptr && from->value > to->value)
      warning(least->amount.where,
              fmt::format("'{}' is more than 'mb' of '{}', '{}'", least->amount.value.text,
                          group.name.value, most->amount.value.text));
  }
}

// Without 'mb' bandwidth is unlimited, also where an earlier policy has left a cap.
void Planner::lift_cap(GroupTarget& of) {
  const auto& [resource, control] = *find_control(std::string(to_string(Resource::MB)));
  const auto most = control.maximum ? control.maximum : whole_of(control);
  const bool is_ours = of.directory == root_group || snapshot_.owned.contains(of.directory);
  if (!most || !is_ours) return;
  for (const DomainId domain : control.domains) {
    const auto now = value_now(snapshot_, of.directory, resource, domain);
    if (now && *now != *most && !value_in(of.state.schemata, resource, domain))
      of.state.schemata[resource][domain] = *most;
  }
}

bool Planner::is_cap_a_control() const {
  return !domains_.contains(Resource::MB) &&
         find_control(std::string(to_string(Resource::MB))) != nullptr;
}

}  // namespace rdtd
