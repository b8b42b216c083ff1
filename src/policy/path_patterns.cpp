#include "path_patterns.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "rdtd/base/text.hpp"

namespace rdtd {

using pattern::Check;
using pattern::Finding;
using pattern::last_component;
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

bool is_absolute(std::string_view text) {
  return text.starts_with('/') || text.starts_with("**/") || text == "**";
}

// The path of a cgroup in /sys/fs/cgroup or in /proc/PID/cgroup ("0::/PATH").
std::optional<std::string_view> path_in_hierarchy(std::string_view text) {
  constexpr std::string_view mount = "/sys/fs/cgroup";
  constexpr std::array<std::string_view, 5> hierarchies = {"/unified/", "/systemd/", "/memory/",
                                                           "/cpu,cpuacct/", "/pids/"};
  if (text == mount) return "/";
  if (text.starts_with(mount) && text[mount.size()] == '/') {
    text.remove_prefix(mount.size());
    for (const std::string_view hierarchy : hierarchies)
      if (text.starts_with(hierarchy)) text.remove_prefix(hierarchy.size() - 1);
    return text;
  }
  // "4:memory:/PATH" there, "memory:/PATH" in cgrules.conf.
  const size_t path = text.find(":/");
  if (path == std::string_view::npos || text.substr(0, path).contains('/')) return std::nullopt;
  return text.substr(path + 1);
}

// Where a specifier of systemd stands, "%U"; a '%' may be part of a name too.
size_t find_specifier(std::string_view text) {
  constexpr std::string_view letters = "aAbBCdDEfgGhHiIjJlLmMnNopPqsStTuUvVwW";
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1))
    if (at + 1 < text.size() && letters.contains(text[at + 1])) return at;
  return std::string_view::npos;
}

// Where a variable of a shell stands: "$UID", "${UID}".
size_t find_variable(std::string_view text) {
  for (size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1))
    if (at + 1 < text.size() &&
        (text[at + 1] == '{' || (text[at + 1] >= 'A' && text[at + 1] <= 'Z')))
      return at;
  return std::string_view::npos;
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

}  // namespace

Check check_exe(std::string_view text) {
  if (!is_absolute(text))
    return never(text, "an executable's path begins with '/'",
                 text.contains('/') ? write(fmt::format("**/{}", last_component(text)))
                                    : "'name' is for the bare name");
  if (auto found = check_canonical(text)) return found;
  if (text.ends_with('/'))
    return never(text, "it is the path of a directory",
                 fmt::format("write \"{0}*\", or \"{0}**\" for all directories below", text));
  constexpr std::string_view deleted = " (deleted)";
  if (text.ends_with(deleted))
    return never(text, "rdtd leaves out what the kernel adds to the path of a replaced program",
                 write(text.substr(0, text.size() - deleted.size())));
  const size_t blank = text.find(' ');
  if (text.contains(" -") || (blank != std::string_view::npos && !text.substr(blank).contains('/')))
    return Finding{
        fmt::format("'{}' looks like a command with arguments; 'exe' matches the path of "
                    "the executable",
                    text),
        "'cmdline' matches the arguments", false};
  for (const std::string_view script : {".sh", ".py", ".pl", ".rb", ".jar"})
    if (text.ends_with(script))
      return Finding{
          fmt::format("'{}' may not match: the executable of a script is its interpreter", text),
          "'name' or 'cmdline' matches a script", false};
  for (const std::string_view link : {"/bin/", "/sbin/", "/lib/", "/lib64/"})
    if (text.starts_with(link))
      return Finding{fmt::format("'{}' may not match: where {} is a link, the kernel shows /usr{}",
                                 text, link.substr(0, link.size() - 1), text),
                     fmt::format("write [{}, {}]", rdtd::quoted(text),
                                 rdtd::quoted(fmt::format("/usr{}", text))),
                     false};
  return std::nullopt;
}

Check check_cgroup(std::string_view text) {
  if (const auto path = path_in_hierarchy(text))
    return never(text, "the path of a cgroup begins at the root of its hierarchy", write(*path));
  if (!is_absolute(text))
    return never(text, "a cgroup path begins with '/'", write(fmt::format("/{}", text)));
  if (find_specifier(text) != std::string_view::npos)
    return never(text, "rules have no specifiers", write(without_specifiers(text)));
  if (find_variable(text) != std::string_view::npos)
    return never(text, "rules have no variables", write(without_variables(text)));
  if (auto found = check_canonical(text)) return found;
  if (std::string escaped =
          with_escaped_scopes(text.ends_with('/') ? text.substr(0, text.size() - 1) : text);
      escaped.contains('\\') && !text.contains('\\'))
    return Finding{fmt::format("'{}' may not match: systemd writes the '-' in the name of a "
                               "machine as '\\x2d'",
                               text),
                   write(escaped), false};
  return std::nullopt;
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

std::string without_specifiers(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    out += text[i] == '%' ? '*' : text[i];
    if (text[i] == '%') i++;
  }
  return out;
}

std::string without_variables(std::string_view text) {
  constexpr std::string_view name =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::string out;
  while (!text.empty()) {
    if (text.front() != '$') {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    out += '*';
    text.remove_prefix(1);
    const bool braces = text.starts_with('{');
    const size_t end = braces ? text.find('}') : text.find_first_not_of(name);
    text.remove_prefix(
        std::min(end == std::string_view::npos ? end : end + (braces ? 1 : 0), text.size()));
  }
  return out;
}

}  // namespace rdtd
