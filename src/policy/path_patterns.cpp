#include "path_patterns.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "cgroup_components.hpp"
#include "foreign_text.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"

namespace rdtd {

using pattern::Check;
using pattern::doubtful;
using pattern::Finding;
using pattern::never;
using pattern::write;

namespace {

// The kernel shows paths without "//", "/./" and "/../".
Check check_canonical(std::string_view text) {
  const std::string path = std::string(text) + '/';
  for (const std::string_view part : {"//", "/./", "/../"})
    if (path.find(part) < text.size() && text.size() > 1 &&
        !(part == "//" && path.find(part) + 1 == text.size()))
      return never(text, fmt::format("the kernel shows paths without '{}'", part),
                   write(std::filesystem::path(text).lexically_normal().string()));
  return std::nullopt;
}

// "/opt/**.bin", in which "**" is the same as "*".
Check check_stars(std::string_view text) {
  for (const std::string_view part : split(text, '/')) {
    const bool is_alone = part.find_first_not_of('*') == std::string_view::npos;
    if (is_alone || part.contains('\\') || !(part.starts_with("**") || part.ends_with("**")))
      continue;
    const auto at = static_cast<size_t>(part.data() - text.data());
    const std::string meant = part.starts_with("**")
                                  ? fmt::format("**/*{}", part.substr(2))
                                  : fmt::format("{}*/**", part.substr(0, part.size() - 2));
    return doubtful(
        text, "'**' stands for several components only as one of its own",
        write(fmt::format("{}{}{}", text.substr(0, at), meant, text.substr(at + part.size()))));
  }
  return std::nullopt;
}

bool is_absolute(std::string_view text) {
  return text.starts_with('/') || text.starts_with("**/") || text == "**";
}

// The path of a cgroup in /sys/fs/cgroup or in /proc/PID/cgroup ("0::/PATH").
std::optional<std::string_view> path_in_hierarchy(std::string_view text) {
  constexpr std::string_view mount = "/sys/fs/cgroup";
  // Those of the first version of cgroups, each with the same paths below it.
  constexpr auto hierarchies = std::to_array<std::string_view>(
      {"/unified/", "/systemd/", "/memory/", "/cpu,cpuacct/", "/cpu/", "/cpuacct/", "/cpuset/",
       "/pids/", "/blkio/", "/devices/", "/freezer/", "/net_cls/", "/perf_event/", "/hugetlb/"});
  if (text == mount) return "/";
  if (text.starts_with(mount) && text[mount.size()] == '/') {
    text.remove_prefix(mount.size());
    for (const std::string_view hierarchy : hierarchies)
      if (text.starts_with(hierarchy)) return text.substr(hierarchy.size() - 1);
    return text;
  }
  // "4:memory:/PATH" there, "memory:/PATH" in cgrules.conf.
  const size_t path = text.find(":/");
  if (path == std::string_view::npos || text.substr(0, path).contains('/')) return std::nullopt;
  return text.substr(path + 1);
}

// "system.slice", "mysql.service", "*docker*"
std::string hint_for_relative(std::string_view text) {
  const std::string absolute = fmt::format("/{}", text);
  if (const auto path = path_in_hierarchy(absolute)) return write(*path);
  constexpr size_t longest_read = 256;  // nobody's slip is longer
  if (text.size() > longest_read) return write(absolute);
  std::string anywhere(text);
  if (text.starts_with(".*"))
    for (size_t at = 0; (at = anywhere.find(".*")) != std::string::npos;) anywhere.erase(at, 1);
  while (anywhere.starts_with("**")) anywhere.erase(0, 1);
  // Those of a user's manager are somewhere below user.slice.
  const bool is_of_user = is_one_of(text, {"app.slice", "session.slice", "background.slice"});
  const bool is_unit = has_unit_type(text) || text == "init.scope";
  if (anywhere.starts_with('*') || is_of_user || (!text.contains('/') && !is_unit))
    return write(fmt::format("**/{}", anywhere));
  if (!text.contains('/') && text.ends_with(".slice")) return write(path_of_slice(text));
  if (!text.contains('/') && has_unit_type(text) && text != "init.scope")
    return fmt::format("write unit = {}", rdtd::quoted(text));
  return write(absolute);
}

// The path with the names of scopes as systemd writes them; the same if they are written so.
std::string with_escaped_scopes(std::string_view path) {
  std::string out;
  for (const std::string_view component : split(path, '/')) {
    const std::string escaped = escaped_scope(component);
    out += out.empty() && component.empty() ? "" : "/";
    out += escaped.empty() ? component : std::string_view(escaped);
  }
  return out;
}

// Directories that every system has.
bool is_directory(std::string_view path) {
  constexpr auto known = std::to_array<std::string_view>(
      {"/usr",           "/usr/bin",        "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/local",
       "/usr/local/bin", "/usr/local/sbin", "/bin",      "/sbin",    "/lib",         "/opt",
       "/home",          "/root",           "/srv",      "/var",     "/tmp",         "/etc",
       "/mnt",           "/snap",           "/usr/games"});
  return std::ranges::find(known, path) != known.end();
}

constexpr std::string_view how_to_find_exe =
    "'readlink /proc/PID/exe' shows the path of a process's executable";

// Whether the file is no program, by the end of its name.
bool is_data(std::string_view path) {
  constexpr auto ends = std::to_array<std::string_view>(
      {".conf", ".cfg", ".ini", ".toml", ".yaml", ".yml", ".json", ".xml", ".log", ".pid", ".sock",
       ".desktop", ".txt", ".service", ".slice", ".scope", ".socket", ".timer"});
  return std::ranges::any_of(ends, [&](std::string_view end) { return path.ends_with(end); });
}

// The path within a container, of its place on the disk of the host; else "".
std::string_view path_in_container(std::string_view text) {
  for (const std::string_view store :
       {"/overlay2/", "/containers/storage/overlay/", "/io.containerd."})
    if (const size_t at = text.find(store); at != std::string_view::npos)
      for (const std::string_view root : {"/merged/", "/diff/", "/rootfs/", "/fs/"})
        if (const size_t end = text.find(root, at + store.size() - 1);
            end != std::string_view::npos)
          return text.substr(end + root.size() - 1);
  return {};
}

// Paths that are no executables, or that the kernel shows in another way.
Check check_place_of_exe(std::string_view text) {
  if (text.starts_with("/proc/") || text.starts_with("/sys/"))
    return never(text, "no program lies there", std::string(how_to_find_exe));
  if (const std::string_view inside = path_in_container(text); inside.size() > 1)
    return doubtful(text, "of a process in a container, the kernel shows the path within it",
                    pattern::write_what_is_named(inside));
  const std::string_view file = pattern::last_component(text);
  if (is_data(text))
    return doubtful(text, "it looks like a file that is no program",
                    has_unit_type(file) ? fmt::format("write unit = {}", rdtd::quoted(file)) : "");
  const bool is_device = text.starts_with("/dev/") && !text.starts_with("/dev/shm/");
  // Paths in the other two directories have messages of their own.
  const bool is_setting = text.starts_with("/etc/") && !text.starts_with("/etc/init.d/") &&
                          !text.starts_with("/etc/alternatives/");
  if (is_device || is_setting)
    return doubtful(text, "programs lie elsewhere", std::string(how_to_find_exe));
  return std::nullopt;
}

// "=/usr/bin/tar" and "file:///usr/bin/tar" have a whole path; "~/bin/x" and "bin/x" have its end.
// "./x" has none: "**/x" would match programs of that name anywhere, of all users.
std::string hint_for_relative_exe(std::string_view text) {
  for (const std::string_view home : {"~/", "$HOME/", "${HOME}/", "%h/"})
    if (text.starts_with(home) && text.size() > home.size())
      return write(fmt::format("/home/*/{}", text.substr(home.size())));
  if (text.starts_with("~root/")) return write(fmt::format("/{}", text.substr(1)));
  // The homes of system users are elsewhere than /home.
  if (text.starts_with('~')) return "write the full path";
  if (find_specifier(text) != std::string_view::npos) {
    const std::string meant = without_specifiers(text);
    return meant.find_first_not_of("*/") == std::string::npos ? "write the text itself"
                                                              : hint_for_relative_exe(meant);
  }
  if (text == "*") return write("**");
  while (text.starts_with("**") && text.size() > 2) text.remove_prefix(1);
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos)
    return text.starts_with('*') ? write(fmt::format("**/{}", text))
                                 : "'name' is for the bare name";
  constexpr std::string_view marks = "=-+@:";
  if (slash > 0 && marks.contains(text[slash - 1])) {
    const size_t path = text.find_first_not_of('/', slash);
    return path == std::string_view::npos ? "" : write(text.substr(path - 1));
  }
  if (text.starts_with("./") || text.starts_with("../") || text.starts_with("$PWD/"))
    return "write the full path";
  while (text.starts_with("*/") || (text.starts_with('$') && text.contains('/')))
    text.remove_prefix(text.find('/') + 1);
  return text.empty() ? "" : write(fmt::format("**/{}", text));
}

}  // namespace

Check check_exe(std::string_view text) {
  if (!is_absolute(text))
    return never(text, "an executable's path begins with '/'", hint_for_relative_exe(text));
  if (auto found = check_canonical(text)) return found;
  if (auto found = check_stars(text)) return found;
  if (text.ends_with('/'))
    return never(text, "it is the path of a directory",
                 fmt::format("write \"{0}*\", or \"{0}**\" for all directories below", text));
  if (is_directory(text))
    return never(text, "it is the path of a directory",
                 fmt::format("write \"{0}/*\", or \"{0}/**\" for all directories below", text));
  if (auto found = check_place_of_exe(text)) return found;
  constexpr std::string_view deleted = " (deleted)";
  if (text.ends_with(deleted))
    return never(text, "rdtd leaves out what the kernel adds to the path of a replaced program",
                 write(text.substr(0, text.size() - deleted.size())));
  const size_t blank = text.find(' ');
  if (text.contains(" -") || text.contains(" /") ||
      (blank != std::string_view::npos && !text.substr(blank).contains('/')))
    return Finding{
        fmt::format("'{}' looks like a command with arguments; 'exe' matches the path of "
                    "the executable",
                    text),
        "'cmdline' matches the arguments", false};
  for (const std::string_view script :
       {".sh", ".bash", ".py", ".pl", ".rb", ".jar", ".js", ".php", ".lua", ".R"})
    if (text.ends_with(script) || text.starts_with("/etc/init.d/"))
      return doubtful(text, "the executable of a script is its interpreter",
                      "'name' or 'cmdline' matches a script");
  const bool is_of_windows = text.contains("drive_c") || text.contains("Program Files");
  if (lower(text).ends_with(".exe") && (is_of_windows || !text.starts_with('/')))
    return doubtful(text, "if it is a Windows program, its executable is Wine's",
                    "'name' or 'cmdline' matches the program");
  for (const std::string_view link : {"/bin/", "/sbin/", "/lib/", "/lib64/"})
    if (text.starts_with(link))
      return doubtful(text,
                      fmt::format("where {} is a link, the kernel shows /usr{}",
                                  link.substr(0, link.size() - 1), text),
                      fmt::format("write [{}, {}]", rdtd::quoted(text),
                                  rdtd::quoted(fmt::format("/usr{}", text))));
  return std::nullopt;
}

namespace {

constexpr std::string_view root_of_hierarchy =
    "the path of a cgroup begins at the root of its hierarchy";

// Paths of other filesystems than that of cgroups, or of where it was mounted in former times.
Check check_other_mount(std::string_view text) {
  constexpr std::string_view resctrl = "/sys/fs/resctrl";
  if (text.starts_with("/proc/"))
    return never(text, "it is a file that shows the cgroup of a process",
                 "'cat /proc/PID/cgroup' shows the path of one");
  if (text.starts_with(resctrl)) {
    const std::string_view group = text.substr(std::min(resctrl.size() + 1, text.size()));
    return never(text, "resctrl has groups, and no cgroups",
                 group.empty() || group.find_first_of("/*?[") != group.npos
                     ? "write group = \"NAME\""
                     : fmt::format("write group = {}", rdtd::quoted(group)));
  }
  for (const std::string_view mount : {"/cgroup/", "/dev/cgroup/"})
    if (text.starts_with(mount)) {
      const std::string now = fmt::format("/sys/fs/cgroup/{}", text.substr(mount.size()));
      const auto path = path_in_hierarchy(now);
      return doubtful(text, root_of_hierarchy,
                      path ? pattern::write_what_is_named(*path) : write("/"));
    }
  return std::nullopt;
}

}  // namespace

Check check_cgroup(std::string_view text) {
  if (text == "-.slice" || text == "/-.slice")
    return never(text, pattern::is_root_slice, std::string(pattern::every_process));
  if (auto found = check_other_mount(text)) return found;
  if (const auto path = path_in_hierarchy(text))
    return never(text, root_of_hierarchy, write(*path));
  if (!is_absolute(text))
    return never(text, "a cgroup path begins with '/'", hint_for_relative(text));
  if (find_specifier(text) != std::string_view::npos)
    return never(text, "rules have no specifiers", hint_for_place(without_specifiers(text)));
  if (find_variable(text) != std::string_view::npos)
    return never(text, "rules have no variables", hint_for_place(without_variables(text)));
  if (auto found = check_canonical(text)) return found;
  // A cgroup below one that matches, matches too.
  if (const std::string_view whole = text.ends_with("**") ? text.substr(0, text.size() - 1) : text;
      check_stars(whole))
    return check_stars(text);
  if (std::string escaped =
          with_escaped_scopes(text.ends_with('/') ? text.substr(0, text.size() - 1) : text);
      escaped.contains('\\') && !text.contains('\\'))
    return doubtful(text, pattern::escaped_machine, write(escaped));
  return check_cgroup_components(text);
}

std::string escaped_scope(std::string_view component) {
  constexpr std::string_view begin = "machine-", end = ".scope";
  if (!component.starts_with(begin) || !component.ends_with(end)) return {};
  const std::string_view name =
      component.substr(begin.size(), component.size() - begin.size() - end.size());
  if (!name.contains('-') || name.find_first_of("\\[") != std::string_view::npos) return {};
  std::string out(begin);
  for (const char c : name)
    if (c == '-')
      out += "\\x2d";
    else
      out += c;
  return out.append(end);
}

}  // namespace rdtd
