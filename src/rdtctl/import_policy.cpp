#include "import_policy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rdtd/base/text.hpp"
#include "rdtd/model/footprint.hpp"
#include "rdtd/plan/plan.hpp"
#include "rdtd/policy/parse.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "value_text.hpp"

namespace rdtd {

namespace {

// A line of the policy. Each stays on its own line of the text that is checked, so that the place
// of an error is the index of a line.
struct Line {
  std::string group;    // directory
  std::string text;     // TOML
  std::string refusal;  // why the line cannot be in the policy; empty: it can
  bool heading = false;
  bool adopts = false;
  bool dropped = false;  // goes with its refused heading
  std::string remark;    // a comment above it
};

std::string amount(const Capabilities& capabilities, Resource resource, DomainId domain,
                   uint32_t value) {
  if (resource.is_bitmap()) return fmt::format("\"0x{}\"", to_string(Cbm{value}));
  if (capabilities.controls.contains(resource)) return std::to_string(value);
  return fmt::format("\"{}\"", bandwidth_text(capabilities.bandwidths.at(resource), domain, value));
}

// One amount if it is the same on every domain, else a table.
std::string amounts(const Capabilities& capabilities, Resource resource,
                    const DomainValues& values) {
  if (std::ranges::all_of(
          values, [&](const auto& entry) { return entry.second == values.begin()->second; }))
    return amount(capabilities, resource, values.begin()->first, values.begin()->second);
  std::map<std::string, CpuSet> domains;
  for (const auto& [domain, value] : values)
    domains[amount(capabilities, resource, domain, value)].insert(static_cast<unsigned>(domain));
  std::map<unsigned, std::string> entries;  // by the lowest domain
  for (const auto& [text, ids] : domains)
    entries[*ids.begin()] = fmt::format("\"{}\" = {}", format_cpu_list(ids), text);
  std::vector<std::string> table;
  for (const auto& [first, entry] : entries) table.push_back(entry);
  return inline_table(table);
}

// The kernel starts with values above `unlimited` on a mount with mba_MBps.
bool no_limit(const BandwidthInfo& info, const DomainValues& values) {
  return std::ranges::all_of(values, [&](const auto& value) {
    const auto unlimited = info.unlimited.find(value.first);
    return unlimited != info.unlimited.end() && value.second >= unlimited->second;
  });
}

// The value that the kernel starts with is not known. Of a control whose ends are known it is
// mostly one of them.
bool is_at_end(const Control& control, const DomainValues& values) {
  if (!control.minimum || !control.maximum) return true;
  return std::ranges::all_of(values, [&](const auto& value) {
    return value.second <= *control.minimum || value.second >= *control.maximum;
  });
}

// A row that the language has no word for, if the group has another value than the default group.
void add_control(const Capabilities& capabilities, const std::string& group,
                 const Resource& resource, const DomainValues& values, const Schemata& root,
                 std::vector<Line>& lines) {
  const auto found = root.find(resource);
  // A value that is not imported for the default group is the one that the kernel gives to a new
  // one.
  const bool as_root = found != root.end() && found->second == values;
  if (as_root && is_at_end(capabilities.controls.at(resource), values)) return;
  lines.push_back(
      {group,
       fmt::format("control.{} = {}", resource.name(), amounts(capabilities, resource, values)),
       {}});
}

void add_values(const Capabilities& capabilities, const std::string& group, Resource resource,
                const DomainValues& values, std::vector<Line>& lines) {
  const auto bandwidth = capabilities.bandwidths.find(resource);
  // A group has all bandwidth unless the policy limits it.
  if (bandwidth != capabilities.bandwidths.end() && no_limit(bandwidth->second, values)) return;
  lines.push_back(
      {group,
       fmt::format("{} = {}", resource_key(resource), amounts(capabilities, resource, values)),
       {}});
}

// The default group gets everything that no other group has, so that it needs no table then.
bool is_untouched_root(const Capabilities& capabilities, const GroupState& state) {
  return std::ranges::all_of(state.schemata, [&](const auto& entry) {
    const auto& [resource, values] = entry;
    if (const auto control = capabilities.controls.find(resource);
        control != capabilities.controls.end())
      return is_at_end(control->second, values);
    if (!is_cache(resource)) return no_limit(capabilities.bandwidths.at(resource), values);
    const Cbm all = capabilities.caches.at(resource).cbm_mask;
    return std::ranges::all_of(values, [&](const auto& value) { return Cbm{value.second} == all; });
  });
}

std::string name_refusal(const std::string& directory) {
  if (!is_utf8(directory)) return "its name is not UTF-8";  // TOML has no escape for such bytes
  if (group_directory(directory) != directory)
    return "a policy uses this name for the resctrl root";
  return {};
}

// A region is one mask of one cache.
void add_region(const std::string& name, const GroupState& state, bool own,
                const DeviceAccess* device, std::vector<Line>& lines) {
  Line& heading = lines.emplace_back();
  heading = {name, fmt::format("[pseudo_lock.{}]", toml_key(name)), name_refusal(name), true};
  if (state.mode == Mode::pseudo_locksetup)
    heading.refusal = "its region is not chosen yet";
  else if (state.schemata.size() != 1 || state.schemata.begin()->second.size() != 1)
    heading.refusal = "it has lost its region";
  if (!heading.refusal.empty()) return;
  if (!own)
    heading.remark = fmt::format(
        "rdtd does not take over a region. "
        "Before it loads this, close {} and rmdir /sys/fs/resctrl/{}.",
        device_of_lock(name), name);
  const auto& [resource, masks] = *state.schemata.begin();
  const auto [domain, mask] = *masks.begin();
  lines.push_back({name,
                   fmt::format("{} = {{ \"{}\" = \"0x{}\" }}", resource_key(resource),
                               to_string(domain), to_string(Cbm{mask})),
                   {}});
  if (device == nullptr) return;
  if (device->owner != "root")
    lines.push_back({name, fmt::format("owner = \"{}\"", device->owner), {}});
  if (device->user_group != "root")
    lines.push_back({name, fmt::format("group = \"{}\"", device->user_group), {}});
  if (device->mode != DeviceAccess{}.mode)
    lines.push_back({name, fmt::format("mode = \"{:04o}\"", device->mode), {}});
}

bool counts_by_cpu(const Snapshot& snapshot, const std::string& directory) {
  return std::ranges::any_of(snapshot.mon_cpus, [&](const auto& mon_group) {
    return control_group_of(mon_group.first) == directory;
  });
}

void add_monitor_cpus(const std::string& directory, const Snapshot& snapshot,
                      std::vector<Line>& lines) {
  std::vector<std::string> table;
  for (const auto& [mon_group, cpus] : snapshot.mon_cpus)
    if (control_group_of(mon_group) == directory)
      table.push_back(fmt::format("{} = \"{}\"",
                                  toml_key(mon_group.substr(mon_group.rfind('/') + 1)),
                                  format_cpu_list(cpus)));
  if (!table.empty()) lines.push_back({directory, "monitor_cpus = " + inline_table(table), {}});
}

void add_left_out(const std::string& directory, const LeftOutByGroup& left_out,
                  std::vector<Line>& lines) {
  const auto found = left_out.find(directory);
  if (found == left_out.end()) return;
  const bool has_heading = !lines.empty() && lines.back().group == directory;
  for (const LeftOut& one : found->second)
    lines.push_back(
        {directory,
         has_heading ? one.what : fmt::format("{} of group '{}'", one.what, group_label(directory)),
         one.why});
}

std::vector<Line> draft(const Capabilities& capabilities, const Snapshot& snapshot,
                        const std::map<std::string, DeviceAccess>& devices,
                        const LeftOutByGroup& left_out) {
  std::vector<Line> lines;
  for (const auto& [directory, state] : snapshot.groups) {
    if (directory == root_group && is_untouched_root(capabilities, state) &&
        !counts_by_cpu(snapshot, directory)) {
      add_left_out(directory, left_out, lines);
      continue;
    }
    if (is_pseudo(state.mode)) {
      const auto device = devices.find(directory);
      add_region(directory, state, snapshot.owned.contains(directory),
                 device == devices.end() ? nullptr : &device->second, lines);
      continue;
    }
    Line& heading = lines.emplace_back();
    heading = {
        directory,
        fmt::format("[group.{}]", toml_key(directory.empty() ? group_label(directory) : directory)),
        {},
        true};
    heading.refusal = name_refusal(directory);
    if (!heading.refusal.empty()) continue;
    if (directory != root_group && !snapshot.owned.contains(directory))
      lines.push_back({directory, "adopt = true", {}, false, true});
    for (const auto& [resource, values] : state.schemata)
      if (capabilities.caches.contains(resource) || capabilities.bandwidths.contains(resource))
        add_values(capabilities, directory, resource, values, lines);
      else if (capabilities.controls.contains(resource))
        add_control(capabilities, directory, resource, values,
                    snapshot.groups.at(std::string(root_group)).schemata, lines);
    if (state.mode == Mode::exclusive) lines.push_back({directory, "exclusive = true", {}});
    if (directory != root_group && !state.cpus.empty())
      lines.push_back({directory, fmt::format("cpus = \"{}\"", format_cpu_list(state.cpus)), {}});
    add_monitor_cpus(directory, snapshot, lines);
    add_left_out(directory, left_out, lines);
  }
  for (const auto& [resource, masks] : snapshot.io) {
    const std::string io(io_group);
    lines.push_back({io, "[io]", {}, true});
    // Under CDP the masks of the code stand for both.
    const std::string key = resource_key(resources_of_cache(resource).front());
    lines.push_back({io, fmt::format("{} = {}", key, amounts(capabilities, resource, masks)), {}});
  }
  return lines;
}

std::string checked_text(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) text += (line.refusal.empty() ? line.text : "#") + "\n";
  return text;
}

std::vector<Diagnostic> check(const std::vector<Line>& lines, const Capabilities& capabilities,
                              const Snapshot& snapshot) {
  const PolicyFile file{.path = "import", .text = checked_text(lines), .problem = {}};
  ParsedPolicy parsed = parse_policy({&file, 1});
  if (has_errors(parsed.diagnostics)) return parsed.diagnostics;
  Snapshot owned = snapshot;
  owned.owned.clear();
  for (const Line& line : lines)
    if (line.heading && line.refusal.empty()) owned.owned.insert(line.group);
  // A group that is taken over brings its monitoring groups along.
  for (const std::string& mon_group : snapshot.mon_groups) {
    const std::string control(control_group_of(mon_group));
    const bool is_adopted =
        control != root_group && owned.owned.contains(control) && !snapshot.owned.contains(control);
    if (is_adopted || snapshot.owned.contains(mon_group)) owned.owned.insert(mon_group);
  }
  const auto plan = make_plan(parsed.policy, capabilities, owned);
  return plan ? std::vector<Diagnostic>{} : plan.error();
}

// Refuses the line that an error points to, or with a heading its whole group. Returns whether
// there was one.
bool refuse(std::vector<Line>& lines, const Diagnostic& error) {
  const size_t index = error.where.line - size_t{1};
  if (error.where.line == 0 || index >= lines.size() || !lines[index].refusal.empty()) return false;
  lines[index].refusal = error.message;
  // The lines of a group are those from its heading to the next one.
  if (lines[index].heading) {
    for (size_t i = index + 1; i < lines.size() && !lines[i].heading; i++) lines[i].dropped = true;
    return true;
  }
  // A group that is taken over without one of its limits would lose that limit.
  size_t heading = index;
  while (!lines[heading].heading) heading--;
  if (heading + 1 >= lines.size() || !lines[heading + 1].adopts) return true;
  lines[heading].refusal = "not all of it can be in a policy";
  for (size_t i = heading + 1; i < lines.size() && !lines[i].heading; i++)
    lines[i].dropped = lines[i].refusal.empty();
  return true;
}

// A group that is not imported still takes a CLOSID: if there are too many groups, none can be
// imported.
bool refuse_groups(std::vector<Line>& lines) {
  bool refused = false;
  for (Line& line : lines) {
    if (line.group == root_group || line.group == io_group) continue;
    if (!line.heading) line.dropped = true;
    if (!line.heading || !line.refusal.empty()) continue;
    line.refusal = "resctrl has more groups than the machine has CLOSIDs or RMIDs";
    refused = true;
  }
  return refused;
}

// The dropped lines stay until the last error is dealt with, because errors point to lines by
// their index.
bool refuse_all(std::vector<Line>& lines, const std::vector<Diagnostic>& errors) {
  bool refused = false;
  for (const Diagnostic& error : errors)
    if (error.cause == Cause::closids)
      refused = refuse_groups(lines) || refused;
    else if (error.severity == Severity::error)
      refused = refuse(lines, error) || refused;
  std::erase_if(lines, &Line::dropped);
  return refused;
}

ImportedPolicy print(const std::vector<Line>& lines, const Snapshot& snapshot) {
  ImportedPolicy out;
  for (const std::string& name : snapshot.unreadable) {
    out.notes.push_back(
        fmt::format("group '{}' is not imported: it cannot be read", printable(group_label(name))));
    out.text += fmt::format("\n# {}\n", out.notes.back());
  }
  for (const Line& line : lines) {
    if (line.heading || &line == lines.data()) out.text += "\n";
    if (!line.remark.empty() && line.refusal.empty()) {
      out.text += fmt::format("# {}\n", printable(line.remark));
      out.notes.push_back(fmt::format("region '{}': {}", printable(group_label(line.group)),
                                      printable(line.remark)));
    }
    if (line.refusal.empty()) {
      out.text += line.text + "\n";
      continue;
    }
    const std::string reason = printable(line.refusal);
    const std::string group = printable(group_label(line.group));
    const std::string text = printable(line.text);
    out.text += fmt::format("# {} is not imported: {}\n", text, reason);
    out.notes.push_back(
        line.heading ? fmt::format("group '{}' is not imported: {}", group, reason)
                     : fmt::format("group '{}': {} is not imported: {}", group, text, reason));
  }
  return out;
}

}  // namespace

ImportedPolicy import_policy(const Capabilities& capabilities, const Snapshot& snapshot,
                             const std::map<std::string, DeviceAccess>& devices,
                             const LeftOutByGroup& left_out) {
  std::vector<Line> lines = draft(capabilities, snapshot, devices, left_out);
  // Each pass refuses at least one line, and nearly always the first one finds all.
  while (true) {
    const std::vector<Diagnostic> errors = check(lines, capabilities, snapshot);
    if (!has_errors(errors)) return print(lines, snapshot);
    if (refuse_all(lines, errors)) continue;
    ImportedPolicy out = print(lines, snapshot);
    for (const Diagnostic& error : errors) out.notes.push_back(printable(error.message));
    return out;
  }
}

}  // namespace rdtd
