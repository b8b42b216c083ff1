#include "rdtd/resctrl/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include "controls.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd::resctrl {

namespace {

std::unexpected<Error> misread(const Filesystem& filesystem, const std::string& file,
                               std::string problem) {
  return std::unexpected(
      Error{"understand", filesystem.path() + "/" + file, 0, std::move(problem)});
}

constexpr std::string_view monitoring_suffix = "_MON";
constexpr std::string_view packages = "PERF_PKG_MON";

// Reads the numbers of one directory in info/ and keeps the first error.
class InfoReader {
 public:
  InfoReader(const Filesystem& filesystem, std::string_view name)
      : filesystem_(filesystem), directory_(fmt::format("info/{}/", name)) {}

  uint32_t number(const std::string& file, int base = 10) { return read(file, base, std::nullopt); }
  // For files that older kernels lack.
  uint32_t number_or(const std::string& file, int base, uint32_t otherwise) {
    return read(file, base, otherwise);
  }
  // As a policy can set it; older kernels and most processors lack the file.
  [[nodiscard]] bool has_io_alloc() {
    const auto text = filesystem_.read(directory_ + "io_alloc");
    if (!text && text.error().code != ENOENT && !error_) error_ = text.error();
    return text && (trim(*text) == "enabled" || trim(*text) == "disabled");
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  uint32_t read(const std::string& file, int base, std::optional<uint32_t> otherwise) {
    const auto text = filesystem_.read(directory_ + file);
    if (!text && text.error().code == ENOENT && otherwise) return *otherwise;
    const auto value = text ? parse_unsigned<uint32_t>(trim(*text), base) : std::nullopt;
    if (value) return *value;
    if (!error_)
      error_ = text ? misread(filesystem_, directory_ + file,
                              fmt::format("'{}' is not a number", trim(*text)))
                          .error()
                    : text.error();
    return 0;
  }

  const Filesystem& filesystem_;
  std::string directory_;
  std::optional<Error> error_;
};

// The size of one way in each domain. The root's `size` file states the bytes of its masks.
std::map<DomainId, uint64_t> way_sizes(const std::string& size_text, Resource resource,
                                       const DomainValues& root_values) {
  std::map<DomainId, uint64_t> sizes;
  for (const auto& [domain, mask] : root_values) sizes[domain] = 0;
  for (const std::string_view line : split(size_text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || trim(line.substr(0, colon)) != to_string(resource))
      continue;
    for (const std::string_view part : split(line.substr(colon + 1), ';')) {
      const size_t equals = part.find('=');
      if (equals == std::string_view::npos) continue;
      const auto id = parse_unsigned<uint32_t>(trim(part.substr(0, equals)));
      const auto bytes = parse_unsigned<uint64_t>(trim(part.substr(equals + 1)));
      if (!id || !bytes || !root_values.contains(DomainId{*id})) continue;
      sizes[DomainId{*id}] = *bytes / std::max(1U, Cbm{root_values.at(DomainId{*id})}.count());
    }
  }
  return sizes;
}

CacheInfo read_cache(InfoReader& info) {
  CacheInfo cache;
  cache.cbm_mask.bits = info.number("cbm_mask", 16);
  cache.min_cbm_bits = std::max(1U, info.number("min_cbm_bits"));
  cache.shareable_bits.bits = info.number_or("shareable_bits", 16, 0);
  // Of a mask with gaps, the kernel compares only the first run with min_cbm_bits (cbm_validate in
  // fs/resctrl/ctrlmondata.c). No known processor has both; rdtd uses contiguous masks there.
  cache.sparse_masks = cache.min_cbm_bits <= 1 && info.number_or("sparse_masks", 10, 0) == 1;
  cache.num_closids = info.number("num_closids");
  cache.io_alloc = info.has_io_alloc();
  return cache;
}

uint32_t largest(const DomainValues& values) {
  uint32_t out = 0;
  for (const auto& [domain, value] : values) out = std::max(out, value);
  return out;
}

// The kernel states the unit nowhere, but delay_linear implies it: the kernel uses rates on AMD
// processors and declares these not linear, and it supports no percentages that are not linear. The
// option mba_MBps applies to MB only, and not to AMD. For copies that lack their mount options: no
// percentage is above 100.
BandwidthUnit unit_of(Resource resource, bool delay_linear, const DomainValues& root,
                      const MountOptions& mount) {
  if (!delay_linear) return BandwidthUnit::eighth_gbps;
  if (resource == Resource::MB && (mount.mba_MBps || largest(root) > 100))
    return BandwidthUnit::mbps;
  return BandwidthUnit::percent;
}

// A new group starts with UINT32_MAX, but kernels before 6.13 round a rate that is written up to a
// multiple of bandwidth_gran, and UINT32_MAX would overflow to almost nothing.
uint32_t highest_rate(unsigned bandwidth_gran) { return UINT32_MAX - UINT32_MAX % bandwidth_gran; }

// So that nobody writes back what a group starts with, it is read as the highest rate. No value of
// another unit is as high.
void cap_rates(const Filesystem& filesystem, Schemata& schemata) {
  const auto rates = schemata.find(Resource::MB);
  if (rates == schemata.end() || largest(rates->second) <= uint32_t{INT32_MAX}) return;
  InfoReader info(filesystem, to_string(Resource::MB));
  const uint32_t highest = highest_rate(std::max(1U, info.number_or("bandwidth_gran", 10, 1)));
  for (auto& [domain, value] : rates->second) value = std::min(value, highest);
}

// So that a percentage reads as it was written, see percent_as_read().
void restore_percentages(const Filesystem& filesystem, Schemata& schemata) {
  constexpr uint32_t whole = 100;
  const auto shares = schemata.find(Resource::MB);
  if (shares == schemata.end() || largest(shares->second) > whole) return;
  if (std::ranges::all_of(shares->second, [](const auto& share) { return share.second == whole; }))
    return;
  InfoReader info(filesystem, to_string(Resource::MB));
  const unsigned step = info.number_or("bandwidth_gran", 10, 0);
  if (step == 0) return;
  std::map<uint32_t, uint32_t> written;
  for (uint32_t value = step; value < whole; value += step)
    if (const uint32_t read = percent_as_read(value, step); read != whole) written[read] = value;
  for (auto& [domain, value] : shares->second)
    if (const auto found = written.find(value); found != written.end()) value = found->second;
}

// `maximum`: by the kernel's description, which most kernels lack.
uint32_t unlimited_value(const BandwidthInfo& bandwidth, std::optional<uint32_t> maximum) {
  switch (bandwidth.unit) {
    case BandwidthUnit::percent: return 100;
    case BandwidthUnit::mbps: return highest_rate(bandwidth.bandwidth_gran);
    // The processor states it as a number of bits, at least these; see find_unlimited.
    case BandwidthUnit::eighth_gbps: return maximum.value_or(2048);
  }
  return 0;
}

BandwidthInfo read_bandwidth(InfoReader& info, ControlReader& controls, Resource resource,
                             const DomainValues& root, const MountOptions& mount) {
  BandwidthInfo bandwidth;
  bandwidth.bandwidth_gran = std::max(1U, info.number("bandwidth_gran"));
  bandwidth.min_bandwidth = info.number("min_bandwidth");
  bandwidth.num_closids = info.number("num_closids");
  bandwidth.unit = unit_of(resource, info.number_or("delay_linear", 10, 1) != 0, root, mount);
  const uint32_t unlimited = unlimited_value(bandwidth, controls.read(resource).maximum);
  for (const auto& [domain, value] : root) bandwidth.unlimited[domain] = unlimited;
  return bandwidth;
}

// resctrl does not say so. But MPAM lets devices fill all ways, and on older kernels it has fewer
// RMIDs than CLOSIDs, which no x86 processor has. Without caches, its steps of MB are a power of
// two of the whole; those of Intel are 10%.
// `num_rmids`: the largest one, without that of packages, which may be small on x86 too.
bool has_rmids_per_closid(const Capabilities& capabilities, unsigned num_rmids) {
  const auto is_shareable = [](const auto& cache) {
    return cache.second.shareable_bits == cache.second.cbm_mask;
  };
  const auto has_other_steps = [](const auto& bandwidth) {
    return bandwidth.second.unit == BandwidthUnit::percent && bandwidth.second.bandwidth_gran != 10;
  };
  if (capabilities.divides_nothing()) return false;
  if (num_rmids < capabilities.num_closids()) return true;
  return capabilities.caches.empty() ? std::ranges::any_of(capabilities.bandwidths, has_other_steps)
                                     : std::ranges::all_of(capabilities.caches, is_shareable);
}

void append_assignments(const Filesystem& filesystem, const std::string& group,
                        Snapshot& snapshot) {
  if (snapshot.free_mbm_counters.empty()) return;
  const std::string file = mbm_assignments_file(snapshot.mbm_resource);
  if (const auto text = filesystem.read(file_of(group, file.c_str())))
    snapshot.mbm_assignments[group] = parse_mbm_assignments(*text);
}

// The rows of a group's schemata that are no constants.
std::set<Resource> other_rows(const Filesystem& filesystem, std::string_view schemata) {
  ControlReader controls(filesystem);
  std::set<Resource> out;
  for (const std::string_view name : row_names(schemata))
    if (!parse_resource(name))
      if (const auto row = controls.row(name)) out.insert(*row);
  return out;
}

// As other_rows(), from those of the default group that are made of numbers.
std::set<Resource> other_rows(const Schemata& root) {
  std::set<Resource> out;
  for (const auto& [resource, values] : root)
    if (!parse_resource(resource.name())) out.insert(resource);
  return out;
}

// Of a group that cannot be read as a whole, what can be.
GroupState read_half(const Filesystem& filesystem, const std::string& group,
                     const std::set<Resource>* others) {
  GroupState out;
  if (const auto mode = filesystem.read(file_of(group, "mode")))
    out.mode = parse_mode(*mode).value_or(Mode::shareable);
  if (auto schemata = read_schemata(filesystem, group, others)) out.schemata = *std::move(schemata);
  const auto text = filesystem.read(file_of(group, "cpus_list"));
  if (auto cpus = text ? parse_cpu_list(*text) : std::nullopt) out.cpus = *std::move(cpus);
  return out;
}

// Adds one control group with its monitoring groups to the snapshot unless it no longer exists.
// `others`: the rows that are no constants; null: not known yet.
Result<void> append_group(const Filesystem& filesystem, const Filesystem::Entry& entry,
                          const std::set<Resource>* others, Snapshot& snapshot) {
  auto state = read_group(filesystem, entry.name, others);
  if (!state && entry.name != root_group) {
    const int code = state.error().code;
    if (is_absent(state.error())) return {};
    // Nobody can say what a mode or a mask that is not known means: it stays another tool's.
    constexpr int not_understood = 0;
    if (code == EACCES || code == EPERM || code == not_understood) {
      snapshot.unreadable.insert(entry.name);
      snapshot.half_read[entry.name] = read_half(filesystem, entry.name, others);
      snapshot.inodes[entry.name] = entry.inode;
      return {};
    }
  }
  if (!state) return std::unexpected(state.error());
  snapshot.groups[entry.name] = std::move(*state);
  if (entry.name != root_group) snapshot.inodes[entry.name] = entry.inode;
  append_assignments(filesystem, entry.name, snapshot);
  // Without monitoring there is no such directory.
  const auto monitored = filesystem.list(file_of(entry.name, "mon_groups"));
  if (!monitored && !is_absent(monitored.error())) return std::unexpected(monitored.error());
  if (!monitored) return {};
  for (const Filesystem::Entry& mon : *monitored) {
    if (!mon.is_directory) continue;
    const std::string directory = mon_group_directory(entry.name, mon.name);
    snapshot.mon_groups.insert(directory);
    snapshot.inodes[directory] = mon.inode;
    // Of one that was removed meanwhile, or that this user may not read, nothing.
    const auto text = filesystem.read(file_of(directory, "cpus_list"));
    if (const auto cpus = parse_cpu_list(text ? *text : ""); cpus && !cpus->empty())
      snapshot.mon_cpus[directory] = *cpus;
    append_assignments(filesystem, directory, snapshot);
  }
  return {};
}

}  // namespace

std::string file_of(const std::string& group, const char* file) {
  return group == root_group ? file : group + "/" + file;
}

std::string mbm_assignments_file(std::string_view resource) {
  return fmt::format("mbm_{}_assignments", resource);
}

Result<std::vector<std::string>> monitoring_directories(const Filesystem& filesystem) {
  std::vector<std::string> out;
  const auto entries = filesystem.list("info");
  if (!entries && !is_absent(entries.error())) return std::unexpected(entries.error());
  if (!entries) return out;
  for (const Filesystem::Entry& entry : *entries)
    if (entry.is_directory && entry.name.ends_with(monitoring_suffix)) out.push_back(entry.name);
  return out;
}

bool is_group(const Filesystem::Entry& entry) {
  return entry.is_directory && entry.name != "info" && entry.name != "mon_groups" &&
         entry.name != "mon_data";
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

Result<Schemata> read_schemata(const Filesystem& filesystem, const std::string& group,
                               const std::set<Resource>* others) {
  const std::string file = file_of(group, "schemata");
  const auto text = filesystem.read(file);
  if (!text) return std::unexpected(text.error());
  auto schemata =
      parse_schemata(*text, others != nullptr ? *others : other_rows(filesystem, *text));
  if (!schemata) return misread(filesystem, file, schemata.error().text());
  cap_rates(filesystem, *schemata);
  restore_percentages(filesystem, *schemata);
  return *std::move(schemata);
}

Result<GroupState> read_group(const Filesystem& filesystem, const std::string& group,
                              const std::set<Resource>* others) {
  GroupState state;
  const std::string mode_file = file_of(group, "mode");
  const auto mode_text = filesystem.read(mode_file);
  if (!mode_text) return std::unexpected(mode_text.error());
  const auto mode = parse_mode(*mode_text);
  if (!mode)
    return misread(filesystem, mode_file, fmt::format("unknown mode '{}'", trim(*mode_text)));
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
    const std::string file = file_of(group, "cpus_list");
    const auto text = filesystem.read(file);
    if (!text) return std::unexpected(text.error());
    const auto cpus = parse_cpu_list(*text);
    if (!cpus) return misread(filesystem, file, fmt::format("'{}' is not a CPU list", trim(*text)));
    state.cpus = *cpus;
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

Result<Capabilities> read_capabilities(const Filesystem& filesystem, const Schemata& root,
                                       const MountOptions& mount) {
  Capabilities out;
  const std::string size_text = filesystem.read("size").value_or("");
  ControlReader controls(filesystem);
  for (const auto& [resource, values] : root) {
    if (!parse_resource(resource.name())) {
      Control& control = out.controls[resource] = controls.read(resource);
      for (const auto& [domain, value] : values) control.domains.insert(domain);
      continue;
    }
    InfoReader info(filesystem, to_string(resource));
    if (is_cache(resource)) {
      out.caches[resource] = read_cache(info);
      out.caches[resource].way_bytes = way_sizes(size_text, resource, values);
    } else {
      out.bandwidths[resource] = read_bandwidth(info, controls, resource, values, mount);
    }
    if (info.error()) return std::unexpected(*info.error());
  }
  // A group takes one RMID for the counters of all directories.
  uint32_t most_rmids = 0;
  const auto monitoring = monitoring_directories(filesystem);
  if (!monitoring) return std::unexpected(monitoring.error());
  for (const std::string& name : *monitoring) {
    InfoReader info(filesystem, name);
    constexpr uint32_t not_said = 0;
    const uint32_t num_rmids = info.number_or("num_rmids", 10, not_said);
    if (info.error()) return std::unexpected(*info.error());
    if (num_rmids == not_said) continue;
    if (name != packages) most_rmids = std::max(most_rmids, num_rmids);
    out.num_rmids = std::min(out.num_rmids.value_or(num_rmids), num_rmids);
  }
  out.rmids_per_closid = most_rmids > 0 && has_rmids_per_closid(out, most_rmids);
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
  for (const std::string& name : *monitoring)
    if (const auto mode = filesystem.read(fmt::format("info/{}/mbm_assign_mode", name));
        snapshot.mbm_resource.empty() && mode && mode->contains("[mbm_event]")) {
      snapshot.mbm_resource = name.substr(0, name.size() - monitoring_suffix.size());
      snapshot.free_mbm_counters = parse_mbm_counters(
          filesystem.read(fmt::format("info/{}/available_mbm_cntrs", name)).value_or(""));
    }
  const Filesystem::Entry root{std::string(root_group), true, 0};
  if (auto read = append_group(filesystem, root, nullptr, snapshot); !read)
    return std::unexpected(read.error());
  const std::set<Resource> others = other_rows(snapshot.groups.at(root.name).schemata);
  for (const Filesystem::Entry& entry : entries)
    if (is_group(entry))
      if (auto read = append_group(filesystem, entry, &others, snapshot); !read)
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
