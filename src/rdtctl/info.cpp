// info: what this machine can divide and count, and who holds it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "groups.hpp"
#include "output.hpp"
#include "rdtd/base/break_lines.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/footprint.hpp"
#include "rdtd/resctrl/read.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

constexpr size_t least_name_width = 9;

struct Facts {
  std::vector<std::pair<std::string, std::string>> lines;  // name, text
  JsonValue json = JsonValue::object();
};

// The text of a file in info/, without the last line end; empty if this kernel does not have it.
std::string info(const TreeMachine& machine, const std::string& file) {
  const auto text = machine.tree.filesystem().read("info/" + file);
  return text ? std::string(trim(*text)) : std::string();
}

CpuSet ids(const auto& by_domain) {
  CpuSet out;
  for (const auto& [domain, value] : by_domain) out.insert(static_cast<unsigned>(domain));
  return out;
}

std::string domains(const CpuSet& list) {
  return fmt::format("domain{} {}", list.size() == 1 ? "" : "s", format_cpu_list(list));
}

// "20 ways of 1.50 MiB on domains 0-1, 8 ways of 512 KiB on domain 2".
std::string ways(const CacheInfo& cache) {
  std::map<uint64_t, CpuSet> sizes;
  for (const auto& [domain, bytes] : cache.way_bytes)
    sizes[bytes].insert(static_cast<unsigned>(domain));
  std::vector<std::string> out;
  for (const auto& [bytes, list] : sizes)
    out.push_back(fmt::format("{}{} on {}", counted(cache.cbm_mask.count(), "way"),
                              bytes == 0 ? "" : " of " + size_text(bytes), domains(list)));
  return join(out, ", ");
}

void add_cache(const TreeMachine& machine, Resource resource, const CacheInfo& cache, Facts& out) {
  const std::string name(to_string(resource));
  std::string text =
      fmt::format("{}; masks of at least {}, {}; {}", ways(cache), counted(cache.min_ways(), "way"),
                  cache.sparse_masks ? "with or without gaps" : "without gaps",
                  counted(cache.num_closids, "CLOSID"));
  if (!cache.shareable_bits.empty())
    text +=
        fmt::format("; I/O devices also fill way{} {}",
                    cache.shareable_bits.count() == 1 ? "" : "s", way_list(cache.shareable_bits));
  JsonValue json = {{"domains", JsonValue::array()},  {"ways", cache.cbm_mask.count()},
                    {"least_ways", cache.min_ways()}, {"sparse_masks", cache.sparse_masks},
                    {"closids", cache.num_closids},   {"io_mask", to_string(cache.shareable_bits)}};
  for (const auto& [domain, bytes] : cache.way_bytes)
    json["domains"].push_back({{"domain", static_cast<uint32_t>(domain)}, {"way_bytes", bytes}});
  if (const std::string io = info(machine, name + "/io_alloc"); !io.empty()) {
    const auto masks = machine.snapshot.io.find(resource);
    if (masks != machine.snapshot.io.end()) {
      text += "; I/O devices fill " + format_values_merged(resource, masks->second) + " (io_alloc)";
      json["io_alloc_cbm"] = schemata_json({*masks}).at(name);
    } else {
      text += io == "disabled" ? "; the ways of I/O devices can be set (io_alloc)"
                               : "; io_alloc: " + printable(io);
    }
    json["io_alloc"] = io;
  }
  out.lines.emplace_back(name, text);
  out.json["caches"][name] = std::move(json);
}

// "percent on domains 0-1, in steps of 10, at least 10".
std::string unit_and_steps(const BandwidthInfo& bandwidth) {
  const std::string where = domains(ids(bandwidth.unlimited));
  switch (bandwidth.unit) {
    case BandwidthUnit::percent:
      return fmt::format("percent on {}, in steps of {}, at least {}", where,
                         bandwidth.bandwidth_gran, bandwidth.min_bandwidth);
    case BandwidthUnit::mbps:
      return fmt::format("rates in MiB/s on {}, which the kernel enforces by measurement", where);
    case BandwidthUnit::eighth_gbps: return fmt::format("rates on {}, in steps of 1/8 GB/s", where);
  }
  return {};
}

void add_bandwidth(const TreeMachine& machine, Resource resource, const BandwidthInfo& bandwidth,
                   Facts& out) {
  const std::string name(to_string(resource));
  std::string text =
      fmt::format("{}; {}", unit_and_steps(bandwidth), counted(bandwidth.num_closids, "CLOSID"));
  const std::string linear = info(machine, name + "/delay_linear");
  if (bandwidth.unit == BandwidthUnit::percent && linear == "0")
    text += "; the scale is not linear";
  const std::string throttled = info(machine, name + "/thread_throttle_mode");
  if (throttled == "max")
    text += "; the threads of a core get the smaller value of the two";
  else if (throttled == "per-thread")
    text += "; each thread of a core has its own value";
  out.lines.emplace_back(name, text);
  out.json["bandwidths"][name] = {
      {"domains", JsonValue::array()},    {"unit", to_string(bandwidth.unit)},
      {"step", bandwidth.bandwidth_gran}, {"least", bandwidth.min_bandwidth},
      {"closids", bandwidth.num_closids}, {"linear", linear != "0"},
      {"thread_throttle_mode", throttled}};
  for (const unsigned id : ids(bandwidth.unlimited))
    out.json["bandwidths"][name]["domains"].push_back(id);
}

// ", 2 of rdtd (batch, redis)"; empty if there are none.
std::string holders(const std::vector<std::string>& groups, std::string_view whose) {
  std::vector<std::string> names;
  for (const std::string& group : groups) names.push_back(printable(group));
  return names.empty() ? "" : fmt::format(", {} {} ({})", names.size(), whose, join(names, ", "));
}

// "8 at most: default, 2 of rdtd (batch, redis), 1 of others (COS1); 4 free".
void add_groups(const TreeMachine& machine, Facts& out) {
  std::vector<std::string> own, others;
  for (const std::string& name : machine.snapshot.closid_holders())
    (machine.snapshot.owned.contains(name) ? own : others).push_back(name);
  const bool io = !machine.snapshot.io.empty();
  const size_t most = machine.capabilities.most_groups(),
               used = 1 + own.size() + others.size() + (io ? 1 : 0);
  out.json["groups"] = {{"most", most}, {"rdtd", own}, {"others", others}};
  if (machine.capabilities.divides_nothing()) {
    out.lines.emplace_back("Groups", "only default: resctrl divides nothing here that rdtd knows");
    return;
  }
  out.lines.emplace_back(
      "Groups",
      fmt::format("{} at most: default{}{}{}; {} free", most, holders(own, "of rdtd"),
                  holders(others, "of others"), io ? ", 1 for I/O devices (io_alloc)" : "",
                  most - std::min(most, used)));
  if (io) out.json["groups"]["io"] = 1;
}

// Rows of `schemata` that a policy reaches by control = { NAME = ... }.
void add_controls(const TreeMachine& machine, Facts& out) {
  for (const auto& [resource, control] : machine.capabilities.controls) {
    const std::string name(to_string(resource));
    CpuSet list;
    for (const DomainId domain : control.domains) list.insert(static_cast<unsigned>(domain));
    out.lines.emplace_back(
        name,
        fmt::format("{}; {}{}", describe(resource, control),
                    control.scope.empty() ? "" : printable(control.scope) + " ", domains(list)));
    JsonValue json = {{"domains", list},
                      {"bitmap", resource.is_bitmap()},
                      {"unit", control.unit},
                      {"step", control.granularity},
                      {"scope", control.scope}};
    if (control.minimum) json["least"] = *control.minimum;
    if (control.maximum) json["most"] = *control.maximum;
    out.json["controls"][name] = std::move(json);
  }
}

// So the kernel shows a resource whose domains no online CPU is in.
void add_empty_rows(const TreeMachine& machine, Facts& out) {
  const Schemata& known = machine.snapshot.groups.at(std::string(root_group)).schemata;
  const std::string text = machine.tree.filesystem().read("schemata").value_or("");
  for (const std::string_view name : row_names(text))
    if (const auto resource = parse_resource(name); resource && !known.contains(*resource))
      out.lines.emplace_back(name, "no domain: the kernel finds none for any CPU that is online");
}

// Rows of `schemata` that are not made of numbers: rdtd leaves them alone.
void add_unknown_controls(const TreeMachine& machine, Facts& out) {
  const std::vector<std::string> names = unknown_rows(machine);
  if (names.empty()) return;
  out.lines.emplace_back(
      "Unknown", fmt::format("{}; rdtd leaves such lines of schemata alone", join(names, ", ")));
  out.json["unknown_controls"] = names;
}

void add_monitoring(const TreeMachine& machine, Facts& out) {
  const auto& rmids = machine.capabilities.num_rmids;
  const auto monitoring = resctrl::monitoring_directories(machine.tree.filesystem())
                              .value_or(std::vector<std::string>{});
  if (monitoring.empty()) {
    out.lines.emplace_back("Counters", "none: the kernel does not monitor here");
    return;
  }
  size_t groups = machine.snapshot.unreadable.size();
  for (const auto& [name, state] : machine.snapshot.groups)
    if (!is_pseudo(state.mode)) groups++;
  const size_t used = groups + machine.snapshot.mon_groups.size();
  const auto each = machine.capabilities.rmids_of_closid();
  const std::string free = !rmids ? std::string("the kernel does not say how many there are")
                           : !machine.capabilities.rmids_per_closid
                               ? fmt::format("{} free", *rmids - std::min<size_t>(*rmids, used))
                           : each ? fmt::format("{} for each CLOSID", *each)
                                  : "each CLOSID has its own";
  out.lines.emplace_back(
      "RMIDs", fmt::format("{}{}, {}; {}", rmids ? fmt::format("{}: ", *rmids) : "",
                           counted(groups, "control group"),
                           counted(machine.snapshot.mon_groups.size(), "monitoring group"), free));
  std::vector<std::string> events;
  for (const std::string& name : monitoring) {
    const std::string features = info(machine, fmt::format("{}/mon_features", name));
    for (const std::string_view event : split(features, '\n'))
      // The others are files that choose what a counter counts.
      if (!trim(event).empty() && !trim(event).ends_with("_config"))
        events.emplace_back(trim(event));
  }
  std::string text = join(events, ", ");
  out.lines.emplace_back("Counters", text);
  JsonValue& json = out.json["monitoring"];
  if (rmids) json["rmids"] = *rmids;
  json["control_groups"] = groups;
  json["monitoring_groups"] = machine.snapshot.mon_groups.size();
  json["events"] = events;
}

JsonValue counters_json(const std::map<DomainId, unsigned>& counters) {
  JsonValue out = JsonValue::object();
  for (const auto& [domain, count] : counters) new_entry(out, to_string(domain)) = count;
  return out;
}

std::string per_domain(const std::map<DomainId, unsigned>& counters) {
  std::map<DomainId, std::string> texts;
  for (const auto& [domain, count] : counters) texts[domain] = std::to_string(count);
  const bool alike = std::ranges::all_of(
      texts, [&](const auto& text) { return text.second == texts.begin()->second; });
  return alike && !texts.empty() ? texts.begin()->second : join(merged_domains(texts), ";");
}

// "8 in each domain; 2 free; with some: default, redis/front".
void add_assignable_counters(const TreeMachine& machine, Facts& out) {
  std::map<DomainId, unsigned> most;
  for (const std::string& name : resctrl::monitoring_directories(machine.tree.filesystem())
                                     .value_or(std::vector<std::string>{}))
    if (most.empty()) most = parse_mbm_counters(info(machine, name + "/num_mbm_cntrs"));
  if (most.empty()) return;
  out.json["monitoring"]["num_mbm_cntrs"] = counters_json(most);
  const Snapshot& now = machine.snapshot;
  if (now.mbm_assignments.empty()) {
    out.lines.emplace_back("Assigned", "none: mbm_assign_mode is not mbm_event");
    return;
  }
  JsonValue groups = JsonValue::object();
  std::vector<std::string> holders;
  for (const auto& [group, events] : now.mbm_assignments) {
    size_t count = 0;
    for (const auto& [event, domains] : events)
      for (const auto& [domain, assigned] : domains) count += assigned ? 1 : 0;
    groups[group_label(group)] = count;
    if (count > 0) holders.push_back(group_label(group));
  }
  out.json["monitoring"]["available_mbm_cntrs"] = counters_json(now.free_mbm_counters);
  out.json["monitoring"]["assigned"] = std::move(groups);
  out.lines.emplace_back(
      "Assigned",
      fmt::format("{} MBM counters a domain; {} free; {}", per_domain(most),
                  per_domain(now.free_mbm_counters),
                  holders.empty() ? "nobody has one" : "assigned to " + join(holders, ", ")));
}

void add_pseudo_locking(const TreeMachine& machine, Facts& out) {
  const auto possible = machine.capabilities.pseudo_locking;
  std::vector<std::string> regions;
  for (const auto& [name, state] : machine.snapshot.groups)
    if (state.mode == Mode::pseudo_locked)
      regions.push_back(fmt::format("{} {}", printable(name), schemata_line(state.schemata)));
  if (possible) out.json["pseudo_locking"] = *possible;
  if (!possible || machine.capabilities.caches.empty()) return;
  const bool cdp = machine.mount.cdp || machine.mount.cdpl2;
  std::string text = !*possible ? "not on this processor"
                     : cdp      ? "not while resctrl is mounted with cdp or cdpl2"
                                : "possible, one region in a domain";
  if (!regions.empty()) text += "; " + join(regions, ", ");
  out.lines.emplace_back("Locking", text);
}

void add_mount(const TreeMachine& machine, Facts& out) {
  const std::string options = format_mount_options(machine.mount);
  std::string text = options;
  const auto& caches = machine.capabilities.caches;
  for (const auto& [whole, half, option] : {std::tuple(Resource::L3, Resource::L3CODE, "cdp"),
                                            std::tuple(Resource::L2, Resource::L2CODE, "cdpl2")})
    if (caches.contains(half))
      text += fmt::format("; {} divides {} into code and data", option, to_string(whole));
  out.lines.emplace_back("Mounted", text);
  out.json["mount_options"] = options;
}

}  // namespace

int verbs::info(const Context& context) {
  const auto machine = read_machine(context);
  if (!machine) return report(machine.error());
  Facts facts;
  for (const auto& [resource, cache] : machine->capabilities.caches)
    add_cache(*machine, resource, cache, facts);
  for (const auto& [resource, bandwidth] : machine->capabilities.bandwidths)
    add_bandwidth(*machine, resource, bandwidth, facts);
  add_empty_rows(*machine, facts);
  add_controls(*machine, facts);
  add_unknown_controls(*machine, facts);
  add_groups(*machine, facts);
  add_monitoring(*machine, facts);
  add_assignable_counters(*machine, facts);
  add_pseudo_locking(*machine, facts);
  add_mount(*machine, facts);
  if (context.json != Json::off) {
    print_json(context, facts.json);
    return Exit::ok;
  }
  size_t name_width = least_name_width;
  for (const auto& [name, text] : facts.lines) name_width = std::max(name_width, name.size() + 1);
  for (const auto& [name, text] : facts.lines) {
    const std::string lines =
        break_lines(fmt::format("{:<{}}{}", name, name_width, text.empty() ? "none" : text),
                    width_of_text(context), name_width);
    print("{}{}\n", emphasized(context, lines.substr(0, name_width)), lines.substr(name_width));
  }
  return Exit::ok;
}

}  // namespace rdtd
