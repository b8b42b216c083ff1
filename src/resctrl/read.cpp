#include "rdtd/resctrl/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include "info_reader.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/counters.hpp"

namespace rdtd::resctrl {

namespace {

Result<Mode> read_mode(const Filesystem& filesystem, const std::string& group) {
  const std::string file = file_of(group, "mode");
  auto text = filesystem.read(file);
  if (!text && group == root_group && text.error().code == ENOENT && filesystem.read("schemata"))
    text.error().detail = too_old;
  if (!text) return std::unexpected(std::move(text.error()));
  if (const auto mode = parse_mode(*text)) return *mode;
  return misread(filesystem, file, fmt::format("unknown mode '{}'", trim(*text)));
}

Result<CpuSet> read_cpus(const Filesystem& filesystem, const std::string& group) {
  const std::string file = file_of(group, "cpus_list");
  const auto text = filesystem.read(file);
  if (!text) return std::unexpected(text.error());
  if (auto cpus = parse_cpu_list(*text)) return *std::move(cpus);
  return misread(filesystem, file, fmt::format("'{}' is not a CPU list", trim(*text)));
}

void append_assignments(const Filesystem& filesystem, const std::string& group,
                        Snapshot& snapshot) {
  if (snapshot.free_mbm_counters.empty()) return;
  const std::string file = mbm_assignments_file(snapshot.mbm_resource);
  if (const auto text = filesystem.read(file_of(group, file.c_str())))
    snapshot.mbm_assignments[group] = parse_mbm_assignments(*text);
}

// The rows of the default group that are made of numbers and no constants.
std::set<Resource> other_rows(const Schemata& root) {
  std::set<Resource> out;
  for (const auto& [resource, values] : root)
    if (!parse_resource(resource.name())) out.insert(resource);
  return out;
}

void note_unread(Snapshot& snapshot, const std::string& group, const char* file, Error error) {
  const auto [unread, is_first] = snapshot.unread.try_emplace(group);
  unread->second.names.insert(file);
  if (is_first) unread->second.error = std::move(error);
}

// Of a group that could not be read as a whole, what can be, which may be all now. A mode that is
// not known may keep others out of its ways, as two of the known ones do.
void append_half(const Filesystem& filesystem, const std::string& group,
                 const std::set<Resource>* others, Snapshot& snapshot) {
  GroupState& out = snapshot.half_read[group];
  auto mode = read_mode(filesystem, group);
  if (mode)
    out.mode = *mode;
  else if (mode.error().code == 0)
    out.mode = Mode::exclusive;
  if (!mode) note_unread(snapshot, group, "mode", std::move(mode.error()));
  if (auto schemata = read_schemata(filesystem, group, others))
    out.schemata = *std::move(schemata);
  else if (out.mode != Mode::pseudo_locksetup)
    note_unread(snapshot, group, "schemata", std::move(schemata.error()));
  if (auto cpus = read_cpus(filesystem, group))
    out.cpus = *std::move(cpus);
  else if (!is_pseudo(out.mode))
    note_unread(snapshot, group, "cpus_list", std::move(cpus.error()));
}

// Whether a group ended while it was read. To learn that takes a list of its siblings: in a copy
// where each of very many groups lacks a file, it is asked for some of them only.
class Endings {
 public:
  explicit Endings(const Filesystem& filesystem) : filesystem_(filesystem) {}
  [[nodiscard]] bool has(const Error& error, const std::string& group, uint64_t inode,
                         size_t siblings) {
    if (!is_absent(error) || siblings > left_) return false;
    left_ -= siblings;
    return is_gone(filesystem_, error, group, inode);
  }

 private:
  const Filesystem& filesystem_;
  size_t left_ = 1'000'000;  // names in lists
};

struct Reading {
  size_t control_groups;
  bool monitors;  // the machine has monitoring groups
  Endings& endings;
};

// Those of one control group. Without monitoring there is no such directory.
void append_mon_groups(const Filesystem& filesystem, const Filesystem::Entry& control,
                       const Reading& reading, Snapshot& snapshot) {
  const std::string& group = control.name;
  auto monitored = filesystem.list(file_of(group, "mon_groups"));
  if (!monitored && (reading.monitors || !is_absent(monitored.error())) &&
      !reading.endings.has(monitored.error(), group, control.inode, reading.control_groups))
    note_unread(snapshot, group, "mon_groups", std::move(monitored.error()));
  if (!monitored) return;
  for (const Filesystem::Entry& mon : *monitored) {
    if (!mon.is_directory) continue;
    const std::string directory = mon_group_directory(group, mon.name);
    auto cpus = read_cpus(filesystem, directory);
    if (!cpus && reading.endings.has(cpus.error(), directory, mon.inode, monitored->size()))
      continue;
    snapshot.mon_groups.insert(directory);
    snapshot.inodes[directory] = mon.inode;
    if (!cpus)
      note_unread(snapshot, directory, "cpus_list", std::move(cpus.error()));
    else if (!cpus->empty())
      snapshot.mon_cpus[directory] = *std::move(cpus);
    append_assignments(filesystem, directory, snapshot);
  }
}

// A directory without any of a group's files is none: a copy has other directories too.
bool has_files(const Filesystem& filesystem, const std::string& group) {
  return std::ranges::any_of(std::array{"schemata", "cpus_list", "mode"}, [&](const char* file) {
    const auto text = filesystem.read(file_of(group, file));
    return text || !is_absent(text.error());
  });
}

// Adds one control group with its monitoring groups to the snapshot unless it no longer exists.
// One that cannot be read keeps no other from being read, but without the default group nothing is
// known. `others`: the rows that are no constants; null: not known yet.
Result<void> append_group(const Filesystem& filesystem, const Filesystem::Entry& entry,
                          const std::set<Resource>* others, const Reading& reading,
                          Snapshot& snapshot) {
  auto state = read_group(filesystem, entry.name, others);
  if (!state && entry.name == root_group) return std::unexpected(state.error());
  if (!state && reading.endings.has(state.error(), entry.name, entry.inode, reading.control_groups))
    return {};
  if (!state && is_absent(state.error()) && !has_files(filesystem, entry.name)) return {};
  if (state) {
    snapshot.groups[entry.name] = std::move(*state);
  } else {
    snapshot.unreadable.insert(entry.name);
    append_half(filesystem, entry.name, others, snapshot);
    if (!snapshot.unread.contains(entry.name)) take_half_read(snapshot, {entry.name});
  }
  if (entry.name != root_group) snapshot.inodes[entry.name] = entry.inode;
  append_assignments(filesystem, entry.name, snapshot);
  append_mon_groups(filesystem, entry, reading, snapshot);
  return {};
}

// The line of the mount; "" if there is none. Each user who can mount something adds lines, which
// may be long.
Result<std::string> find_mount(const Directory& proc) {
  return proc.find_line(
      "self/mounts", [](std::string_view mount) { return find_mount_options(mount).has_value(); });
}

}  // namespace

std::string file_of(const std::string& group, const char* file) {
  return group == root_group ? file : group + "/" + file;
}

std::string mbm_assignments_file(std::string_view resource) {
  return fmt::format("mbm_{}_assignments", resource);
}

bool is_group(const Filesystem::Entry& entry) {
  return entry.is_directory && entry.name != "info" && entry.name != "mon_groups" &&
         entry.name != "mon_data";
}

Result<uint64_t> inode_of(const Filesystem& filesystem, const std::string& group) {
  const size_t slash = group.rfind('/');
  const bool in_root = slash == std::string::npos;
  const auto entries = filesystem.list(in_root ? "" : group.substr(0, slash));
  if (!entries) {
    const std::string control(control_group_of(group));
    const bool control_gone = !in_root && is_gone(filesystem, entries.error(), control, 0);
    return control_gone ? Result<uint64_t>(0) : std::unexpected(entries.error());
  }
  const auto entry = std::ranges::find(*entries, in_root ? group : group.substr(slash + 1),
                                       &Filesystem::Entry::name);
  return entry == entries->end() ? 0 : entry->inode;
}

bool is_gone(const Filesystem& filesystem, const Error& error, const std::string& group,
             uint64_t inode) {
  if (!is_absent(error) || group == root_group) return false;
  const auto now = inode_of(filesystem, group);
  return now && (*now == 0 || (inode != 0 && *now != inode));
}

Result<MountOptions> read_mount_options(const Directory& proc) {
  const auto line = find_mount(proc);
  if (!line) return std::unexpected(line.error());
  return find_mount_options(*line).value_or(MountOptions{});
}

Result<bool> is_mounted(const Directory& proc) {
  const auto line = find_mount(proc);
  if (!line) return std::unexpected(line.error());
  return !line->empty();
}

MountOptions read_copied_mount_options(const Filesystem& filesystem) {
  return parse_mount_options(filesystem.read(mount_options_file).value_or(""));
}

std::optional<CpuSet> read_copied_possible_cpus(const Filesystem& filesystem) {
  const auto text = filesystem.read(possible_cpus_file);
  auto cpus = text ? parse_cpu_list(trim(*text)) : std::nullopt;
  return cpus && !cpus->empty() ? std::move(cpus) : std::nullopt;
}

std::optional<bool> read_copied_pseudo_locking(const Filesystem& filesystem) {
  const auto text = filesystem.read(pseudo_locking_file);
  if (!text) return std::nullopt;
  return trim(*text) == "1";
}

Result<GroupState> read_group(const Filesystem& filesystem, const std::string& group,
                              const std::set<Resource>* others) {
  GroupState state;
  const auto mode = read_mode(filesystem, group);
  if (!mode) return std::unexpected(mode.error());
  state.mode = *mode;
  // Until the region of a pseudo-locked group is chosen, its schemata read "L3:uninitialized".
  if (state.mode != Mode::pseudo_locksetup) {
    auto schemata = read_schemata(filesystem, group, others);
    // The domain of the region went offline: it is locked no more, also when the domain is back.
    if (!schemata && schemata.error().code == ENODEV && state.mode == Mode::pseudo_locked)
      return state;
    if (!schemata) return std::unexpected(schemata.error());
    state.schemata = *std::move(schemata);
  }
  // A pseudo-locked group has no CPUs: its `cpus_list` shows those of the domain.
  if (!is_pseudo(state.mode)) {
    auto cpus = read_cpus(filesystem, group);
    if (!cpus) return std::unexpected(cpus.error());
    state.cpus = *std::move(cpus);
  }
  return state;
}

std::string io_file(Resource resource, const char* file) {
  return fmt::format("info/{}/{}", to_string(resource), file);
}

// While io_alloc is disabled, the masks cannot be read.
Result<Schemata> read_io(const Filesystem& filesystem, const Schemata& root) {
  Schemata out;
  for (const Resource resource : {Resource::L3, Resource::L3CODE}) {
    if (!root.contains(resource)) continue;
    const auto state = filesystem.read(io_file(resource, "io_alloc"));
    if (!state && state.error().code != ENOENT) return std::unexpected(state.error());
    if (!state || trim(*state) != "enabled") continue;
    const std::string file = io_file(resource, "io_alloc_cbm");
    const auto text = filesystem.read(file);
    if (!text && text.error().code == EINVAL) continue;  // disabled just now
    if (!text) return std::unexpected(text.error());
    auto masks = parse_schemata(fmt::format("{}:{}", to_string(resource), trim(*text)));
    if (!masks) return misread(filesystem, file, masks.error().text());
    out.merge(*masks);
  }
  return out;
}

namespace {

// Whether another tool made or removed a group or moved CPUs during the reading: then a CPU that
// left one group for another that was read before it is in none, as if it were offline.
bool is_torn(const Filesystem& filesystem, const std::vector<Filesystem::Entry>& listed,
             const Snapshot& snapshot) {
  const auto groups_of = [](const std::vector<Filesystem::Entry>& entries) {
    std::set<std::pair<std::string, uint64_t>> out;
    for (const Filesystem::Entry& entry : entries)
      if (is_group(entry)) out.emplace(entry.name, entry.inode);
    return out;
  };
  const auto entries = filesystem.list("");
  if (!entries) return false;  // which the next call says
  if (groups_of(*entries) != groups_of(listed)) return true;
  const auto has_other_cpus = [&](const auto& group) {
    if (is_pseudo(group.second.mode)) return false;
    const auto text = filesystem.read(file_of(group.first, "cpus_list"));
    return parse_cpu_list(text ? *text : "") != group.second.cpus;
  };
  // A domain that came after the root was read.
  const Schemata& root = snapshot.groups.at(std::string(root_group)).schemata;
  const auto has_new_domain = [&](const auto& group) {
    for (const auto& [resource, values] : group.second.schemata)
      if (const auto known = root.find(resource); known != root.end())
        for (const auto& [domain, value] : values)
          if (!known->second.contains(domain)) return true;
    return false;
  };
  return std::ranges::any_of(snapshot.groups, has_new_domain) ||
         std::ranges::any_of(snapshot.groups, has_other_cpus);
}

Result<Snapshot> read_once(const Filesystem& filesystem,
                           const std::vector<Filesystem::Entry>& entries) {
  Snapshot snapshot;
  // In the other mode, the kernel refuses to read the files, and overwrites last_cmd_status.
  const auto monitoring = monitoring_directories(filesystem);
  if (!monitoring) return std::unexpected(monitoring.error());
  for (const std::string& name : *monitoring) {
    const auto mode = filesystem.read(fmt::format("info/{}/mbm_assign_mode", name));
    // Or all counters would seem to be the kernel's to assign.
    if (!mode && !is_absent(mode.error())) return std::unexpected(mode.error());
    if (!snapshot.mbm_resource.empty() || !mode.value_or("").contains("[mbm_event]")) continue;
    snapshot.mbm_resource = monitored_resource(name);
    const auto free = filesystem.read(fmt::format("info/{}/available_mbm_cntrs", name));
    if (!free && !is_absent(free.error())) return std::unexpected(free.error());
    snapshot.free_mbm_counters = parse_mbm_counters(free.value_or(""));
  }
  snapshot.traffic = where_traffic_is_counted(filesystem, *monitoring);
  const Filesystem::Entry root{std::string(root_group), true, 0};
  Endings endings(filesystem);
  const Reading reading{entries.size(), !monitoring->empty(), endings};
  if (auto read = append_group(filesystem, root, nullptr, reading, snapshot); !read)
    return std::unexpected(read.error());
  const std::set<Resource> others = other_rows(snapshot.groups.at(root.name).schemata);
  for (const Filesystem::Entry& entry : entries)
    if (is_group(entry))
      if (auto read = append_group(filesystem, entry, &others, reading, snapshot); !read)
        return std::unexpected(read.error());
  auto io = read_io(filesystem, snapshot.groups.at(std::string(root_group)).schemata);
  if (!io) return std::unexpected(io.error());
  snapshot.io = *std::move(io);
  return snapshot;
}

}  // namespace

Result<Snapshot> read_snapshot(const Filesystem& filesystem) {
  // Nobody waits for a tool that changes the tree all the time.
  constexpr int max_readings = 3;
  for (int reading = 1;; reading++) {
    const auto entries = filesystem.list("");
    if (!entries) return std::unexpected(entries.error());
    auto snapshot = read_once(filesystem, *entries);
    if (!snapshot || !is_torn(filesystem, *entries, *snapshot)) return snapshot;
    snapshot->torn = reading == max_readings;
    if (snapshot->torn) return snapshot;
  }
}

Result<Machine> read_machine(const Filesystem& filesystem, const MountOptions& mount,
                             CpuSet possible_cpus, std::optional<bool> pseudo_locking) {
  auto snapshot = read_snapshot(filesystem);
  if (!snapshot) return std::unexpected(snapshot.error());
  auto capabilities =
      read_capabilities(filesystem, snapshot->groups.at(std::string(root_group)).schemata, mount);
  if (!capabilities) return std::unexpected(capabilities.error());
  find_unlimited(*capabilities, *snapshot);
  capabilities->pseudo_locking = pseudo_locking;
  if (!possible_cpus.empty()) snapshot->possible_cpus = std::move(possible_cpus);
  return Machine{std::move(*capabilities), std::move(*snapshot), mount};
}

}  // namespace rdtd::resctrl
