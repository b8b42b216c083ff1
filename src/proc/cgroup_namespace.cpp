#include "rdtd/proc/cgroup_namespace.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <deque>

#include "rdtd/proc/parse.hpp"

namespace rdtd::proc {

namespace {

bool has_process(const Directory& cgroup, pid_t pid) {
  const auto text = cgroup.read("cgroup.procs");
  return text && std::ranges::count(parse_pids(*text), pid) > 0;
}

// Users can make any number of cgroups below those that they own. Nobody but root can start what
// may write to resctrl, so it is not in one of these.
bool owned_by_root(const Directory& cgroup) {
  struct stat status{};
  return ::fstat(cgroup.fd(), &status) == 0 && status.st_uid == 0;
}

// Breadth first: a container is some levels below the root, and has none below itself.
Result<std::string> find_cgroup(const Directory& hierarchy, pid_t pid) {
  std::deque<std::string> waiting = {"."};
  for (; !waiting.empty(); waiting.pop_front()) {
    const std::string& path = waiting.front();
    const auto cgroup = hierarchy.open_directory(path);
    if (!cgroup || (path != "." && !owned_by_root(*cgroup))) continue;
    if (has_process(*cgroup, pid)) return path == "." ? "" : path.substr(1);
    const auto children = cgroup->list();
    if (!children) continue;
    for (const Directory::Entry& child : *children)
      if (child.is_directory) waiting.push_back(path + "/" + child.name);
  }
  return std::unexpected(Error{"find this process in", hierarchy.path(), 0, {}});
}

Result<std::string> shown_path(const Directory& proc, const char* process) {
  const auto text = proc.read(std::string(process) + "/cgroup");
  if (!text) return std::unexpected(text.error());
  const std::string path = parse_cgroup(*text);
  return path == "/" ? "" : path;
}

}  // namespace

Result<std::string> find_namespace_root(const Directory& hierarchy, const Directory& proc,
                                        pid_t self) {
  const auto shown = shown_path(proc, "self");
  if (!shown) return shown;
  const auto cgroup = hierarchy.open_directory("." + *shown);
  if (cgroup && has_process(*cgroup, self)) {
    // The hierarchy is that of the namespace: on a host, or in a container that has only its own.
    const auto init = shown_path(proc, "1");
    if (!init || !init->starts_with("/..")) return "";
    return std::unexpected(Error{"find the cgroups of the host in", hierarchy.path(), 0, {}});
  }
  auto path = find_cgroup(hierarchy, self);
  if (path && path->ends_with(*shown)) path->resize(path->size() - shown->size());
  return path;
}

std::string from_hierarchy(std::string_view namespace_root, std::string_view shown) {
  // The namespace's root and its ancestors have no name in it: "/..", not "/../..".
  while (shown == "/.." || shown.starts_with("/../")) {
    shown.remove_prefix(3);
    namespace_root = namespace_root.substr(0, namespace_root.rfind('/'));
  }
  if (shown == "/") shown = "";
  std::string path = std::string(namespace_root).append(shown);
  return path.empty() ? "/" : path;
}

}  // namespace rdtd::proc
