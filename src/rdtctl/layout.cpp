// layout: the picture of the ways. One picture serves all domains that look alike.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "groups.hpp"
#include "output.hpp"
#include "rdtd/base/break_lines.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/footprint.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

constexpr std::array<const char*, 6> colors = {"\033[32m", "\033[33m", "\033[36m",
                                               "\033[35m", "\033[34m", "\033[31m"};

struct Row {
  std::string name;
  Cbm mask;
  std::string note;
};

// The picture of domains, and the domains that look so.
struct Look {
  std::string picture;
  bool devices = false;  // some ways are marked as those of I/O devices
  uint64_t way_bytes = 0;
  CpuSet domains;
};

// How wide the parts of a line are.
struct Widths {
  size_t name, way, size;
};

// Each way under its number; where ways are narrow only the even ones have room for theirs.
std::string numbers(const Widths& widths, unsigned ways) {
  std::string out = fmt::format(" {:<{}}", "way", widths.name);
  for (unsigned way = ways; way-- > 0;)
    out += widths.way == 2 && way % 2 != 0 ? "  " : fmt::format("{:>{}}", way, widths.way);
  return out + "\n";
}

// The kernel's present use of each way (info/RES/bit_usage), the highest way first.
std::string bit_usage_line(const std::string& usage, const Widths& widths) {
  std::string out = fmt::format(" {:<{}}", "kernel", widths.name);
  for (const char letter : usage) out += fmt::format("{:>{}}", letter, widths.way);
  return out + "\n";
}

std::string picture(const Context& context, const CacheInfo& info, uint64_t way_bytes, Cbm devices,
                    const std::vector<Row>& rows, const std::string& usage, const Widths& widths) {
  const unsigned ways = info.cbm_mask.count();
  const std::string block = context.utf8 ? (widths.way == 2 ? " \u2588" : " \u2588\u2588")
                                         : (widths.way == 2 ? " #" : " ##");
  const std::string gap(widths.way, ' ');
  std::string out = numbers(widths, ways);
  if (!devices.empty()) {
    out += fmt::format(" {:<{}}", "I/O", widths.name);
    for (unsigned way = ways; way-- > 0;)
      out += (devices.bits >> way & 1) != 0 ? fmt::format("{:>{}}", "H", widths.way) : gap;
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  size_t color = 0;
  for (const Row& row : rows) {
    out += fmt::format(" {:<{}}", shortened(row.name, widths.name, context.utf8), widths.name);
    if (context.color) out += colors.at(color++ % colors.size());
    for (unsigned way = ways; way-- > 0;) out += (row.mask.bits >> way & 1) == 0 ? gap : block;
    if (context.color) out += "\033[0m";
    out += fmt::format("  {:>2} way{}", row.mask.count(), row.mask.count() == 1 ? " " : "s");
    if (way_bytes != 0)
      out += fmt::format("  {:>{}}", size_text(way_bytes * row.mask.count()), widths.size);
    out += row.note.empty() ? "\n" : fmt::format("  {}\n", row.note);
  }
  if (!usage.empty()) out += bit_usage_line(usage, widths);
  return out;
}

// Of each domain: "0=SSSSSSPP;1=SSSSSSSS". Empty where the kernel has no such file.
std::map<DomainId, std::string> bit_usage(const TreeMachine& machine, Resource resource) {
  std::map<DomainId, std::string> out;
  const auto text =
      machine.tree.filesystem().read(fmt::format("info/{}/bit_usage", to_string(resource)));
  if (!text) return out;
  for (const std::string_view part : split(trim(*text), ';')) {
    const size_t equals = part.find('=');
    const auto id = parse_unsigned<uint32_t>(trim(part.substr(0, equals)));
    if (id && equals != std::string_view::npos)
      out[DomainId{*id}] = printable(trim(part.substr(equals + 1)));
  }
  return out;
}

// The ways that I/O devices fill under the plan.
Cbm ways_of_devices(const Planned& planned, Resource resource, DomainId domain) {
  const Snapshot& now = planned.machine.snapshot;
  const Cbm always = planned.machine.capabilities.caches.at(resource).shareable_bits;
  if (planned.plan.io) return always | footprint(planned.plan.io->state.schemata, resource, domain);
  // The ways that rdtd gave to devices for an earlier policy are taken back.
  if (now.owned.contains(std::string(io_group))) return always;
  return always | footprint(now.io, resource, domain);
}

// Roomy if the line is no wider than the terminal and 120 columns, else narrow.
Widths fitting(const Context& context, const CacheInfo& info, const std::vector<Row>& rows) {
  size_t name = std::string_view("default").size(), note = 0;
  for (const Row& row : rows) {
    name = std::max(name, row.name.size());
    note = std::max(note, row.note.size());
  }
  const Widths roomy{std::max<size_t>(name, 10), 3, 10};
  const size_t line = 1 + roomy.name + roomy.way * info.cbm_mask.count() +
                      std::string_view("  16 ways  ").size() + roomy.size + 2 + note;
  const size_t columns =
      context.columns == 0 ? widest_line : std::min<size_t>(widest_line, context.columns);
  if (line <= columns) return roomy;
  // Then at the cost of the names.
  Widths narrow{name, 2, 8};
  const size_t rest = 1 + narrow.way * info.cbm_mask.count() +
                      std::string_view("  16 ways  ").size() + narrow.size + 2 + note;
  if (rest + name > columns)
    narrow.name = std::min(name, std::max<size_t>(8, columns - std::min(rest, columns)));
  return narrow;
}

// The partitions that divide this domain, with the names of their groups.
void add_partitions(const Planned& planned, Resource resource, DomainId domain,
                    std::vector<Row>& rows, JsonValue& json) {
  for (const PartitionTarget& partition : planned.plan.partitions) {
    const auto masks = partition.state.schemata.find(resource);
    if (masks == partition.state.schemata.end() || !masks->second.contains(domain)) continue;
    std::vector<std::string> groups;
    for (const GroupTarget& group : planned.plan.groups)
      if (group.partition == partition.partition) groups.push_back(group_label(group.directory));
    const Cbm mask{masks->second.at(domain)};
    rows.push_back({printable(partition.partition), mask,
                    printable("partition " +
                              (groups.empty() ? "without groups" : "of " + join(groups, ", ")))});
    json.push_back({{"resource", to_string(resource)},
                    {"domain", static_cast<uint32_t>(domain)},
                    {"partition", partition.partition},
                    {"groups", groups},
                    {"mask", to_string(mask)},
                    {"ways", mask.count()}});
  }
}

// The groups of one domain, with a line in `json` for each.
std::vector<Row> rows_of(const Planned& planned, Resource resource, DomainId domain,
                         uint64_t way_bytes, JsonValue& json) {
  std::vector<Row> rows;
  const auto add = [&](const std::string& group, const char* made_by, Cbm mask, bool exclusive,
                       const std::string& note) {
    rows.push_back({printable(group), mask, note});
    json.push_back({{"resource", to_string(resource)},
                    {"domain", static_cast<uint32_t>(domain)},
                    {"group", group},
                    {"made_by", made_by},
                    {"mask", to_string(mask)},
                    {"ways", mask.count()},
                    {"bytes", way_bytes * mask.count()},
                    {"exclusive", exclusive}});
  };
  for (const GroupTarget& group : planned.plan.groups) {
    const std::string note = group.exclusivity(resource, domain);
    add(group_label(group.directory), group.directory == root_group ? "kernel" : "rdtd",
        Cbm{group.state.schemata.at(resource).at(domain)}, note.starts_with("exclusive"),
        printable(note));
  }
  for (const LockTarget& lock : planned.plan.locks)
    if (lock.region.resource == resource && lock.region.domain == domain)
      add(lock.region.group, "rdtd", lock.region.mask, true, "pseudo-locked");
  const Snapshot& now = planned.machine.snapshot;
  const auto planned_too = [&](const std::string& name) {
    return std::ranges::find(planned.plan.groups, name, &GroupTarget::directory) !=
           planned.plan.groups.end();
  };
  for (const auto& [name, state] : now.groups)
    if (!now.owned.contains(name) && !planned_too(name) && state.schemata.contains(resource) &&
        state.schemata.at(resource).contains(domain))
      add(name, "other", Cbm{state.schemata.at(resource).at(domain)}, state.mode == Mode::exclusive,
          state.mode == Mode::pseudo_locked ? "not rdtd's, pseudo-locked" : "not rdtd's");
  return rows;
}

// "L3 domains 0-1 · 20 ways of 1.5 MiB"
std::string heading(const Context& context, Resource resource, const CacheInfo& info,
                    const Look& look) {
  const char* dot = context.utf8 ? "\u00b7" : "-";
  const std::string size =
      look.way_bytes == 0 ? "" : fmt::format(" of {}", size_text(look.way_bytes));
  const std::string io = look.devices ? fmt::format(" {} H also filled by I/O", dot) : "";
  return fmt::format("{} domain{} {} {} {} ways{}{}", to_string(resource),
                     look.domains.size() == 1 ? "" : "s", format_cpu_list(look.domains), dot,
                     info.cbm_mask.count(), size, io);
}

}  // namespace

int verbs::layout(const Context& context) {
  const auto planned = plan_files(context);
  if (!planned) return planned.error();
  JsonValue json = JsonValue::array(), partitions = JsonValue::array();
  JsonValue now = JsonValue::object(), io = JsonValue::object();
  bool first = true;
  for (const auto& [resource, info] : planned->machine.capabilities.caches) {
    std::vector<Look> looks;  // in the order of their lowest domains
    const std::map<DomainId, std::string> usage = bit_usage(planned->machine, resource);
    for (const auto& [domain, letters] : usage)
      new_entry(now[std::string(to_string(resource))], to_string(domain)) = letters;
    for (const auto& [domain, way_bytes] : info.way_bytes) {
      std::vector<Row> rows = rows_of(*planned, resource, domain, way_bytes, json);
      add_partitions(*planned, resource, domain, rows, partitions);
      const Cbm devices = ways_of_devices(*planned, resource, domain);
      new_entry(io[std::string(to_string(resource))], to_string(domain)) = to_string(devices);
      const auto letters = usage.find(domain);
      std::string text =
          picture(context, info, way_bytes, devices, rows,
                  letters == usage.end() ? "" : letters->second, fitting(context, info, rows));
      auto look = std::ranges::find_if(looks, [&](const Look& other) {
        return other.way_bytes == way_bytes && other.picture == text;
      });
      if (look == looks.end())
        look = looks.insert(
            looks.end(),
            {.picture = std::move(text), .devices = !devices.empty(), .way_bytes = way_bytes});
      look->domains.insert(static_cast<unsigned>(domain));
    }
    if (context.json != Json::off) continue;
    for (const Look& look : looks) {
      if (!first) print("\n");
      first = false;
      const std::string title = break_lines(heading(context, resource, info, look), widest_line, 1);
      for (const std::string_view line : split(title, '\n'))
        print("{}\n", emphasized(context, std::string(line)));
      print("{}", Styled{look.picture});
    }
  }
  if (context.json == Json::off) print_unreadable_groups(planned->machine);
  if (context.json == Json::off && first)
    print("resctrl offers no cache to divide here; 'rdtctl plan' shows what else there is.\n");
  if (context.json != Json::off)
    print_json(context,
               {{"layout", json}, {"partitions", partitions}, {"io", io}, {"bit_usage", now}});
  return Exit::ok;
}

}  // namespace rdtd
