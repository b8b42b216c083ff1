// The tree of directories and files: from paths to groups and commands.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "fake/resctrl.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd::fake {

namespace {

constexpr size_t page = 4096;  // the longest write

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts = split(path, '/');
  std::erase_if(parts, [](std::string_view part) { return part.empty() || part == "."; });
  return parts;
}

std::string domain_directory(DomainId id) {
  return fmt::format("mon_L3_{:02}", static_cast<uint32_t>(id));
}

template <class T>
Answer<T> answer(std::expected<T, int> result) {
  if (!result) return std::unexpected(Refusal{result.error()});
  return *std::move(result);
}

Answer<void> done(int code) {
  if (code != 0) return std::unexpected(Refusal{code});
  return {};
}

std::unexpected<Refusal> refused(int code) { return std::unexpected(Refusal{code, true}); }

}  // namespace

struct Resctrl::Node {
  enum class Kind {
    info,
    info_file,
    group,
    mon_groups,
    mon_group,
    mon_data,
    mon_domain,
    counter,
    file
  };
  Kind kind{};
  Group* group = nullptr;
  MonGroup* mon = nullptr;
  std::string name;       // of a file; below info/ the path there; of a directory in mon_data
  std::string text = {};  // of a file in info/

  [[nodiscard]] bool is_directory() const {
    return kind != Kind::info_file && kind != Kind::counter && kind != Kind::file;
  }
};

// Of a row that is no constant of Resource.
void Resctrl::add_control_files(const Resource& resource, const Control& control,
                                std::map<std::string, std::string>& files) {
  const std::string generic =
      fmt::format("{}/resource_schemata/{}/", control.described_in, resource.name());
  const std::string plain = fmt::format("{}/", resource.name());
  const auto add = [&](const std::string& file, const auto& value) {
    files[file] = fmt::format("{}\n", value);
  };
  if (!control.described_in.empty()) {
    add(generic + "type", resource.is_bitmap() ? "bitmap" : "scalar linear");
    add(generic + "min", control.min_bandwidth);
    add(generic + "max", control.most);
    add(generic + "resolution", control.unit_name == "all" ? 100 : 1);
    add(generic + "scale", 1);
    add(generic + "unit", control.unit_name);
    add(generic + "scope", control.scope);
    return;
  }
  add(plain + "num_closids", control.num_closids);
  if (resource.is_bitmap()) add(plain + "cbm_mask", to_string(control.cbm_mask));
  if (!control.says_steps) return;
  add(plain + "bandwidth_gran", control.bandwidth_gran);
  add(plain + "min_bandwidth", control.min_bandwidth);
}

std::map<std::string, std::string> Resctrl::info_files(std::string_view only) const {
  const auto is_wanted = [&](std::string_view part) { return only.empty() || part == only; };
  std::map<std::string, std::string> files = machine.more_info;
  files["last_cmd_status"] = status.text();
  for (const auto& [resource, control] : machine.controls) {
    if (!parse_resource(resource.name())) {
      add_control_files(resource, control, files);
      continue;
    }
    if (!is_wanted(to_string(resource))) continue;
    const std::string directory = std::string(to_string(resource)) + "/";
    const auto add = [&](const char* name, const auto& value) {
      files[directory + name] = fmt::format("{}\n", value);
    };
    add("num_closids", control.num_closids);
    if (is_cache(resource)) {
      add("cbm_mask", to_string(control.cbm_mask));
      add("min_cbm_bits", control.min_cbm_bits);
      add("shareable_bits", to_string(control.shareable_bits));
      add("sparse_masks", control.sparse_masks ? 1 : 0);
      add("bit_usage", bit_usage_text(resource));
      if (has_io_files()) {
        files[directory + "io_alloc"] = io_alloc_text(resource);
        files[directory + "io_alloc_cbm"];  // read by itself: it may fail
      }
    } else {
      add("bandwidth_gran", control.bandwidth_gran);
      add("min_bandwidth", control.min_bandwidth);
      add("delay_linear", control.delay_linear ? 1 : 0);
    }
  }
  if (monitors() && is_wanted("L3_MON")) {
    files["L3_MON/num_rmids"] = fmt::format("{}\n", machine.num_rmids);
    files["L3_MON/mon_features"] = join(machine.mon_features, "\n") + "\n";
    add_assignment_files(files);
  }
  return files;
}

Answer<Resctrl::Node> Resctrl::resolve_info(const std::vector<std::string_view>& parts) {
  std::string name;
  for (const std::string_view part : std::span(parts).subspan(1))
    name += (name.empty() ? "" : "/") + std::string(part);
  if (name.empty()) return Node{.kind = Node::Kind::info};
  const auto files = info_files(parts[1]);
  if (const auto file = files.find(name); file != files.end())
    return Node{.kind = Node::Kind::info_file, .name = name, .text = file->second};
  for (const auto& [file, text] : files) {
    if (name.starts_with(file + "/")) return refused(ENOTDIR);
    if (file.starts_with(name + "/")) return Node{.kind = Node::Kind::info, .name = name};
  }
  return refused(ENOENT);
}

std::vector<std::string> Resctrl::files_of(const Node& node) const {
  if (node.kind == Node::Kind::mon_domain) return machine.mon_features;
  std::vector<std::string> files = {"cpus", "cpus_list", "tasks"};
  if (node.mon == nullptr) files.insert(files.end(), {"mode", "schemata", "size"});
  if (node.mon == nullptr && machine.release.has_mba_mbps_event)
    files.emplace_back("mba_MBps_event");
  if (machine.num_mbm_cntrs > 0) files.emplace_back("mbm_L3_assignments");
  return files;
}

Answer<Resctrl::Node> Resctrl::resolve(std::string_view path) {
  using Kind = Node::Kind;
  const std::vector<std::string_view> parts = parts_of(path);
  std::span<const std::string_view> rest(parts);
  if (!rest.empty() && rest[0] == "info") return resolve_info(parts);
  Node node{.kind = Kind::group, .group = &root()};
  if (!rest.empty()) {
    if (Group* group = find(rest[0])) {
      node.group = group;
      rest = rest.subspan(1);
    }
  }
  if (monitors() && !rest.empty() && rest[0] == "mon_groups") {
    if (rest.size() == 1) return Node{.kind = Kind::mon_groups, .group = node.group};
    const auto mon = std::ranges::find(node.group->mon_groups, rest[1], &MonGroup::name);
    if (mon == node.group->mon_groups.end()) return refused(ENOENT);
    node.kind = Kind::mon_group;
    node.mon = &*mon;
    rest = rest.subspan(2);
  }
  if (rest.empty()) return node;
  if (monitors() && rest[0] == "mon_data") {
    node.kind = Kind::mon_data;
    rest = rest.subspan(1);
    if (rest.empty()) return node;
    const auto there = std::ranges::find_if(machine.mon_domains, [&](const auto& domain) {
      return domain_directory(domain.first) == rest[0] &&
             std::ranges::any_of(domain.second, [&](unsigned cpu) { return online.contains(cpu); });
    });
    if (there == machine.mon_domains.end()) return refused(ENOENT);
    node.kind = Kind::mon_domain;
    node.name = rest[0];
    rest = rest.subspan(1);
    if (rest.empty()) return node;
  }
  const auto files = files_of(node);
  if (std::ranges::find(files, rest[0]) == files.end()) return refused(ENOENT);
  if (rest.size() > 1) return refused(ENOTDIR);
  node.kind = node.kind == Kind::mon_domain ? Kind::counter : Kind::file;
  node.name = rest[0];
  return node;
}

// The resource of "L3/io_alloc"; nothing if the file below info/ is another.
std::optional<Resource> Resctrl::resource_with(std::string_view name, std::string_view file) {
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.substr(slash + 1) != file) return std::nullopt;
  return parse_resource(name.substr(0, slash));
}

// The mode bits count for root too: resctrl refuses to open a file that nobody may write or read.
int Resctrl::permission(const Node& node, bool writing) {
  if (node.kind == Node::Kind::info_file && node.name.contains("/io_alloc")) return 0;
  if (node.kind != Node::Kind::file) return writing ? EACCES : 0;
  if (writing && node.name == "size") return EACCES;
  const bool restricted = node.name == "tasks" || node.name.starts_with("cpus");
  if (!restricted || node.mon != nullptr) return 0;
  if (node.group->mode == Mode::pseudo_locksetup) return EACCES;
  if (node.group->mode != Mode::pseudo_locked) return 0;
  return writing || node.name == "tasks" ? EACCES : 0;
}

Answer<void> Resctrl::make(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  const std::string name(path.substr(slash == std::string_view::npos ? 0 : slash + 1));
  if (name.empty()) return refused(ENOENT);
  const auto parent = resolve(slash == std::string_view::npos ? "" : path.substr(0, slash));
  if (!parent) return std::unexpected(parent.error());
  if (!parent->is_directory()) return refused(ENOTDIR);
  if (name == "." || name == ".." || resolve(path)) return refused(EEXIST);
  if (name.contains('\n')) return refused(EINVAL);
  if (machine.release.every_command_clears_status) status.clear();
  if (parent->kind == Node::Kind::group && parent->group == &root())
    return done(make_control_group(name));
  if (parent->kind == Node::Kind::mon_groups && name != "mon_groups")
    return done(make_mon_group(*parent->group, name));
  return refused(EPERM);
}

Answer<void> Resctrl::remove(std::string_view path) {
  if (parts_of(path).empty()) return refused(ENOENT);
  const auto node = resolve(path);
  if (!node) return std::unexpected(node.error());
  if (!node->is_directory()) return refused(ENOTDIR);
  if (node->kind == Node::Kind::group)
    remove_control_group(*node->group);
  else if (node->kind == Node::Kind::mon_group)
    remove_mon_group(*node->group, *node->mon);
  else
    return refused(EPERM);
  return {};
}

Answer<void> Resctrl::rename(std::string_view from, std::string_view to) {
  const auto source = resolve(from);
  if (!source) return std::unexpected(source.error());
  const size_t slash = to.rfind('/');
  if (slash == std::string_view::npos) return refused(EPERM);
  const auto parent = resolve(to.substr(0, slash));
  if (!parent) return std::unexpected(parent.error());
  if (resolve(to)) return refused(EEXIST);
  if (source->kind != Node::Kind::mon_group || parent->kind != Node::Kind::mon_groups ||
      !source->mon->cpus.empty())
    return refused(EPERM);
  MonGroup moved = *source->mon;
  std::erase_if(source->group->mon_groups,
                [&](const MonGroup& group) { return group.inode == moved.inode; });
  moved.name = to.substr(slash + 1);
  for (auto& [tid, task] : tasks)
    if (task.rmid == moved.rmid) task.closid = parent->group->closid;
  parent->group->mon_groups.push_back(std::move(moved));
  return {};
}

Answer<std::string> Resctrl::read(std::string_view path) {
  if (path.empty()) return refused(ENOENT);
  const auto node = resolve(path);
  if (!node) return std::unexpected(node.error());
  if (node->is_directory()) return std::unexpected(Refusal{EISDIR});
  if (const int code = permission(*node, false); code != 0) return refused(code);
  if (const auto resource = resource_with(node->name, "io_alloc_cbm"))
    return io_alloc_cbm_text(*resource);
  if (node->kind == Node::Kind::info_file) return node->text;
  if (node->kind == Node::Kind::counter) {
    const auto counter = counters.find(std::string(path));
    return counter == counters.end() ? "0\n" : counter->second;
  }
  if (node->name == "mbm_L3_assignments")
    return assignments_text(node->mon != nullptr ? node->mon->assigned : node->group->assigned);
  const Group& group = *node->group;
  if (node->name == "schemata") return schemata_text(group);
  if (node->name == "size") return size_text(group);
  if (node->name == "mba_MBps_event") return "mbm_local_bytes\n";
  if (node->name == "mode") return std::string(to_string(group.mode)) + "\n";
  if (node->name == "tasks") return tasks_text(group, node->mon);
  return cpus_text(group, node->mon, node->name == "cpus_list");
}

Answer<void> Resctrl::write(std::string_view path, std::string_view text) {
  if (path.empty()) return refused(ENOENT);
  const auto node = resolve(path);
  if (!node) return std::unexpected(node.error());
  if (node->is_directory()) return refused(EISDIR);
  if (const int code = permission(*node, true); code != 0) return refused(code);
  if (text.size() > page) return std::unexpected(Refusal{E2BIG});
  if (const auto resource = resource_with(node->name, "io_alloc"))
    return done(write_io_alloc(*resource, text));
  if (const auto resource = resource_with(node->name, "io_alloc_cbm"))
    return done(write_io_alloc_cbm(*resource, text));
  if (node->name == "schemata") return done(write_schemata(*node->group, text));
  if (node->name == "mode") return done(write_mode(*node->group, text));
  if (node->name == "tasks") return done(write_tasks(*node->group, node->mon, text));
  if (node->name == "mbm_L3_assignments")
    return done(write_assignments(
        node->mon != nullptr ? node->mon->assigned : node->group->assigned, text));
  return done(write_cpus(*node->group, node->mon, text, node->name == "cpus_list"));
}

Answer<std::vector<Resctrl::Entry>> Resctrl::list(std::string_view path) {
  using Kind = Node::Kind;
  const auto node = resolve(path);
  if (!node) return std::unexpected(node.error());
  if (!node->is_directory()) return refused(ENOTDIR);
  std::vector<Entry> entries;
  const auto add = [&](const std::string& name, bool is_directory, uint64_t inode = 0) {
    // An inode of its own for all that is no group.
    if (inode == 0) inode = std::hash<std::string>{}(std::string(path) + "/" + name) | 1ULL << 63;
    entries.push_back({name, is_directory, inode});
  };
  if (node->kind == Kind::info) {
    const std::string prefix = node->name.empty() ? "" : node->name + "/";
    for (const auto& [file, text] : info_files()) {
      if (!file.starts_with(prefix)) continue;
      const std::string name =
          file.substr(prefix.size(), file.find('/', prefix.size()) - prefix.size());
      if (entries.empty() || entries.back().name != name)
        add(name, file.size() > prefix.size() + name.size());
    }
    std::ranges::sort(entries, {}, &Entry::name);
    return entries;
  }
  if (node->kind == Kind::mon_groups) {
    for (const MonGroup& mon : node->group->mon_groups) add(mon.name, true, mon.inode);
  } else if (node->kind == Kind::mon_data) {
    for (const auto& [id, cpus] : machine.mon_domains)
      if (resolve(std::string(path) + "/" + domain_directory(id))) add(domain_directory(id), true);
  } else {
    for (const std::string& file : files_of(*node)) add(file, false);
    if (monitors() && node->kind != Kind::mon_domain) add("mon_data", true);
    if (monitors() && node->kind == Kind::group) add("mon_groups", true);
    if (node->kind == Kind::group && node->group == &root()) {
      add("info", true);
      for (const Group& group : std::span(groups).subspan(1)) add(group.name, true, group.inode);
    }
  }
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

Answer<uint64_t> Resctrl::open_tasks(std::string_view path) {
  const auto node = resolve(path);
  if (!node) return std::unexpected(node.error());
  if (const int code = permission(*node, true); code != 0) return refused(code);
  return node->mon != nullptr ? node->mon->inode : node->group->inode;
}

int Resctrl::write_open_tasks(uint64_t inode, std::string_view text) {
  for (Group& group : groups) {
    if (group.inode == inode) return write_tasks(group, nullptr, text);
    for (MonGroup& mon : group.mon_groups)
      if (mon.inode == inode) return write_tasks(group, &mon, text);
  }
  return ENODEV;
}

}  // namespace rdtd::fake
