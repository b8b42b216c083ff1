#include "rdtd/resctrl/tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// The folders that resctrl itself has beside the groups.
bool is_group_directory(const Directory::Entry& entry) {
  return entry.is_directory && entry.name != "info" && entry.name != "mon_groups" &&
         entry.name != "mon_data" && !entry.name.starts_with('.');
}

std::string file_of(const std::string& group, const char* file) {
  return group == root_group ? file : group + "/" + file;
}

// flock of the mount point, the kernel documentation's convention among the tools that change
// resctrl.
class Lock {
 public:
  [[nodiscard]] static Result<Lock> exclusive(const Directory& root) {
    // Other tools hold it for a moment only; who holds it for longer must not hold up the daemon's
    // watchdog.
    for (int attempt = 0; attempt < 50; attempt++) {
      auto fd = root.open_file(".", O_RDONLY | O_DIRECTORY);
      if (!fd) return std::unexpected(fd.error());
      if (::flock(fd->get(), LOCK_EX | LOCK_NB) == 0) return Lock(std::move(*fd));
      if (errno != EWOULDBLOCK && errno != EINTR) return errno_error("lock", root.path());
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return std::unexpected(
        Error{"lock", root.path(), EBUSY, "another tool has held the lock for 5 s"});
  }

 private:
  explicit Lock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// Reads one number after another from a folder of info/ and keeps the first error.
class InfoReader {
 public:
  explicit InfoReader(const Directory& directory) : directory_(directory) {}

  uint32_t number(const std::string& file, int base = 10) { return read(file, base, std::nullopt); }
  // For files that older kernels lack.
  uint32_t number_or(const std::string& file, int base, uint32_t otherwise) {
    return read(file, base, otherwise);
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  uint32_t read(const std::string& file, int base, std::optional<uint32_t> otherwise) {
    const auto text = directory_.read(file);
    if (!text && text.error().code == ENOENT && otherwise) return *otherwise;
    const auto value = text ? parse_unsigned<uint32_t>(trim(*text), base) : std::nullopt;
    if (value) return *value;
    if (!error_)
      error_ = text ? Error{"understand", directory_.path_of(file), 0,
                            fmt::format("'{}' is not a number", trim(*text))}
                    : text.error();
    return 0;
  }

  const Directory& directory_;
  std::optional<Error> error_;
};

// The size of one way in each domain. The root's `size` file gives the bytes that its schemata come
// to.
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

// One domain's counters, from a folder mon_data/mon_L3_NN.
DomainCounters read_domain(const Directory& directory, const DomainCounters& whose) {
  DomainCounters out = whose;
  const auto number = [&](const char* file) {
    const auto text = directory.read(file);
    return text ? parse_unsigned<uint64_t>(trim(*text)) : std::nullopt;
  };
  out.llc_occupancy = number("llc_occupancy");
  out.mbm_total_bytes = number("mbm_total_bytes");
  out.mbm_local_bytes = number("mbm_local_bytes");
  return out;
}

// All domains of one group. A group that is removed meanwhile has none.
void append_counters(const Directory& group, DomainCounters whose,
                     std::vector<DomainCounters>& out) {
  const auto data = group.open_directory("mon_data");
  const auto domains = data ? data->list() : std::unexpected(data.error());
  if (!domains) return;
  constexpr std::string_view prefix = "mon_L3_";
  for (const Directory::Entry& entry : *domains) {
    const auto id = entry.name.starts_with(prefix)
                        ? parse_unsigned<uint32_t>(entry.name.substr(prefix.size()))
                        : std::nullopt;
    const auto directory = data->open_directory(entry.name);
    if (!id || !directory) continue;
    whose.domain = DomainId{*id};
    out.push_back(read_domain(*directory, whose));
  }
}

}  // namespace

Result<Tree> Tree::open(const std::string& path) {
  auto root = Directory::open_untrusted(path);
  if (!root) return std::unexpected(root.error());
  if (!root->open_file("schemata", O_RDONLY))
    return std::unexpected(Error{
        "use", path, ENODEV, "no resctrl is mounted here: systemctl start sys-fs-resctrl.mount"});
  return Tree(std::move(*root));
}

Result<Capabilities> Tree::read_capabilities() const {
  Capabilities out;
  auto root = read_group("");
  if (!root) return std::unexpected(root.error());
  const std::string size_text = root_.read("size").value_or("");
  auto info = root_.open_directory("info");
  if (!info) return std::unexpected(info.error());
  for (const auto& [resource, values] : root->schemata) {
    auto directory = info->open_directory(std::string(to_string(resource)));
    if (!directory) return std::unexpected(directory.error());
    InfoReader read(*directory);
    if (is_cache(resource)) {
      CacheInfo& cache = out.caches[resource];
      cache.cbm_mask.bits = read.number("cbm_mask", 16);
      cache.min_cbm_bits = read.number("min_cbm_bits");
      cache.shareable_bits.bits = read.number_or("shareable_bits", 16, 0);
      cache.sparse_masks = read.number_or("sparse_masks", 10, 0) == 1;
      cache.num_closids = read.number("num_closids");
      cache.way_bytes = way_sizes(size_text, resource, values);
    } else {
      BandwidthInfo& bandwidth = out.bandwidths[resource];
      bandwidth.bandwidth_gran = std::max(1U, read.number("bandwidth_gran"));
      bandwidth.min_bandwidth = read.number("min_bandwidth");
      bandwidth.num_closids = read.number("num_closids");
      // AMD's least is 0 and an mba_MBps mount starts beyond 100; a percentage is never either.
      bandwidth.percent =
          bandwidth.min_bandwidth > 0 &&
          std::ranges::all_of(values, [](const auto& value) { return value.second <= 100; });
      for (const auto& [domain, value] : values)
        bandwidth.unlimited[domain] = bandwidth.percent ? 100 : 0;
    }
    if (read.error()) return std::unexpected(*read.error());
  }
  if (const auto monitoring = info->open_directory("L3_MON")) {
    InfoReader read(*monitoring);
    out.num_rmids = read.number("num_rmids");
    if (read.error()) return std::unexpected(*read.error());
  }
  return out;
}

Result<GroupState> Tree::read_group(const std::string& group) const {
  GroupState state;
  const auto mode_text = root_.read(file_of(group, "mode"));
  if (!mode_text) return std::unexpected(mode_text.error());
  const auto schemata_text = root_.read(file_of(group, "schemata"));
  if (!schemata_text) return std::unexpected(schemata_text.error());
  const auto cpus_text = root_.read(file_of(group, "cpus_list"));
  if (!cpus_text) return std::unexpected(cpus_text.error());
  const auto mode = parse_mode(*mode_text);
  if (!mode)
    return std::unexpected(Error{"understand", root_.path_of(file_of(group, "mode")), 0,
                                 fmt::format("unknown mode '{}'", trim(*mode_text))});
  state.mode = *mode;
  // While a pseudo-locked region is set up its schemata read "L3:uninitialized".
  if (state.mode != Mode::pseudo_locksetup) {
    auto schemata = parse_schemata(*schemata_text);
    if (!schemata)
      return std::unexpected(Error{"understand", root_.path_of(file_of(group, "schemata")), 0,
                                   schemata.error().text()});
    state.schemata = std::move(*schemata);
  }
  const auto cpus = parse_cpu_list(*cpus_text);
  if (!cpus)
    return std::unexpected(Error{"understand", root_.path_of(file_of(group, "cpus_list")), 0,
                                 fmt::format("'{}' is not a CPU list", trim(*cpus_text))});
  state.cpus = *cpus;
  return state;
}

Result<Snapshot> Tree::read_snapshot(std::set<std::string> owned) const {
  Snapshot snapshot;
  snapshot.owned = std::move(owned);
  auto entries = root_.list();
  if (!entries) return std::unexpected(entries.error());
  entries->push_back({std::string(root_group), true});
  for (const Directory::Entry& entry : *entries) {
    if (entry.name != root_group && !is_group_directory(entry)) continue;
    auto state = read_group(entry.name);
    const bool vanished = !state && (state.error().code == ENOENT || state.error().code == ENODEV);
    if (vanished && entry.name != root_group) continue;  // removed meanwhile
    if (!state) return std::unexpected(state.error());
    snapshot.groups[entry.name] = std::move(*state);
    const auto monitored = root_.open_directory(file_of(entry.name, "mon_groups"));
    if (const auto mon_groups = monitored ? monitored->list() : std::unexpected(Error{}))
      snapshot.mon_groups += static_cast<unsigned>(
          std::ranges::count(*mon_groups, true, &Directory::Entry::is_directory));
  }
  return snapshot;
}

Result<std::vector<DomainCounters>> Tree::read_counters() const {
  std::vector<DomainCounters> out;
  auto entries = root_.list();
  if (!entries) return std::unexpected(entries.error());
  std::vector<std::string> groups = {std::string(root_group)};
  for (const Directory::Entry& entry : *entries)
    if (is_group_directory(entry)) groups.push_back(entry.name);
  for (const std::string& name : groups) {
    const auto group = root_.open_directory(name == root_group ? "." : name);
    if (!group) continue;  // removed meanwhile
    append_counters(*group, {.group = name}, out);
    const auto folder = group->open_directory("mon_groups");
    const auto mon_groups = folder ? folder->list() : std::unexpected(folder.error());
    if (!mon_groups) continue;
    for (const Directory::Entry& entry : *mon_groups)
      if (const auto directory = folder->open_directory(entry.name))
        append_counters(*directory, {.group = name, .mon_group = entry.name}, out);
  }
  return out;
}

Result<std::vector<pid_t>> Tree::read_tasks(const std::string& group) const {
  auto text = root_.read(file_of(group, "tasks"));
  if (!text) return std::unexpected(text.error());
  std::vector<pid_t> tasks;
  for (const std::string_view line : split(*text, '\n'))
    if (const auto tid = parse_unsigned<uint32_t>(line)) tasks.push_back(static_cast<pid_t>(*tid));
  std::ranges::sort(tasks);
  return tasks;
}

Error Tree::with_status(Error error) const {
  if (const auto status = root_.read("info/last_cmd_status"))
    if (const std::string_view text = trim(*status); !text.empty() && text != "ok")
      error.detail = fmt::format("last_cmd_status: {}", text);
  return error;
}

Result<void> Tree::write(const std::string& file, const std::string& text) const {
  auto written = root_.write(file, text);
  if (!written) return std::unexpected(with_status(std::move(written.error())));
  return {};
}

Result<void> Tree::write_schemata(const std::string& group, const Schemata& schemata) const {
  if (schemata.empty()) return {};
  const std::string file = file_of(group, "schemata");
  if (auto written = write(file, format_schemata(schemata)); !written) return written;
  const auto now = read_group(group);
  if (!now) return std::unexpected(now.error());
  for (const auto& [resource, values] : schemata)
    for (const auto& [domain, value] : values) {
      const auto& got = now->schemata;
      if (!got.contains(resource) || !got.at(resource).contains(domain) ||
          got.at(resource).at(domain) != value)
        return std::unexpected(Error{
            fmt::format("write '{}:{}' to", to_string(resource), format_values(resource, values)),
            root_.path_of(file), 0,
            fmt::format("it reads back '{}'",
                        got.contains(resource) ? format_values(resource, got.at(resource)) : "")});
    }
  return {};
}

// A removal that is undone comes with the state that the group had.
Result<void> Tree::restore(const std::string& group, const GroupState& state) const {
  auto done = write_schemata(group, state.schemata);
  if (done && !state.cpus.empty())
    done = write(file_of(group, "cpus_list"), format_cpu_list(state.cpus) + "\n");
  if (done && state.mode == Mode::exclusive) done = write(file_of(group, "mode"), "exclusive\n");
  return done;
}

Result<void> Tree::carry_out(const Step& step, Ownership& ownership) const {
  switch (step.kind) {
    case StepKind::create: {
      if (auto recorded = ownership.add(step.group); !recorded) return recorded;
      if (::mkdirat(root_.fd(), step.group.c_str(), 0755) == 0)
        return restore(step.group, step.after);
      Error error = with_status({"make group", root_.path_of(step.group), errno, {}});
      if (auto forgotten = ownership.remove(step.group); !forgotten) return forgotten;
      return std::unexpected(std::move(error));
    }
    case StepKind::remove:
      if (::unlinkat(root_.fd(), step.group.c_str(), AT_REMOVEDIR) < 0 && errno != ENOENT)
        return std::unexpected(with_status({"remove group", root_.path_of(step.group), errno, {}}));
      return ownership.remove(step.group);
    case StepKind::schemata:
      if (auto recorded = ownership.add(step.group); !recorded) return recorded;
      return write_schemata(step.group, step.after.schemata);
    case StepKind::cpus:
      return write(file_of(step.group, "cpus_list"), format_cpu_list(step.after.cpus) + "\n");
    case StepKind::mode:
      return write(file_of(step.group, "mode"), fmt::format("{}\n", to_string(step.after.mode)));
  }
  return {};
}

Result<void> Tree::apply(std::span<const Step> steps, Ownership& ownership) const {
  if (steps.empty()) return {};
  const auto lock = Lock::exclusive(root_);
  if (!lock) return std::unexpected(lock.error());
  for (size_t done = 0; done < steps.size(); done++) {
    const auto result = carry_out(steps[done], ownership);
    if (result) continue;
    Error error = result.error();
    // A schemata step that fails as it is read back has been written.
    for (size_t back = done + (steps[done].kind == StepKind::schemata ? 1 : 0); back > 0; back--) {
      const auto undone = carry_out(inverse(steps[back - 1]), ownership);
      if (!undone) {
        error.detail += fmt::format("{}nor put back what was there: {}",
                                    error.detail.empty() ? "" : "; ", undone.error().text());
        return std::unexpected(std::move(error));
      }
    }
    error.detail += error.detail.empty() ? "everything is as it was" : "; everything is as it was";
    return std::unexpected(std::move(error));
  }
  return {};
}

Result<UniqueFd> Tree::open_tasks(const std::string& group) const {
  return root_.open_file(file_of(group, "tasks"), O_WRONLY);
}

int add_task(int tasks_fd, pid_t tid) {
  const fmt::format_int text(tid);
  // The kernel takes the number without a newline too, and one write is one command.
  if (::write(tasks_fd, text.data(), text.size()) >= 0) return 0;
  return errno;
}

Result<void> remove_owned_groups(const Tree& tree, Ownership& ownership) {
  const auto capabilities = tree.read_capabilities();
  if (!capabilities) return std::unexpected(capabilities.error());
  const auto now = tree.read_snapshot(ownership.groups());
  if (!now) return std::unexpected(now.error());
  const auto plan = make_plan(Policy{}, *capabilities, *now);
  if (!plan)
    return std::unexpected(
        Error{"plan the removal of all groups", "", 0, format_diagnostics(plan.error(), {})});
  Result<void> result = tree.apply(plan->steps, ownership);
  for (const Step& removal : plan->removals)
    if (auto removed = tree.apply({&removal, 1}, ownership); !removed && result)
      result = std::move(removed);
  if (result) result = ownership.remove(std::string(root_group));
  return result;
}

}  // namespace rdtd
