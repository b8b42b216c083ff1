#include "rdtd/proc/parse.hpp"

#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"

namespace rdtd::proc {

namespace {

// Takes the text up to the separator, or all of it, off the front.
std::string_view take(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view front = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return front;
}

// The `column`th number of a line of /proc/PID/status: "Uid:\tREAL\tEFFECTIVE\t...". The kernel
// escapes newlines in the name, so a process cannot add lines of its own.
std::optional<uint32_t> status_number(std::string_view text, std::string_view key, size_t column) {
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    if (take(line, '\t') != key) continue;
    for (size_t i = 0; i < column; i++) (void)take(line, '\t');
    return parse_unsigned<uint32_t>(take(line, '\t'));
  }
  return std::nullopt;
}

std::optional<pid_t> status_pid(std::string_view text, std::string_view key) {
  const auto number = status_number(text, key, 0);
  if (!number || *number > INT32_MAX) return std::nullopt;
  return static_cast<pid_t>(*number);
}

}  // namespace

std::string parse_cgroup(std::string_view text) {
  std::string_view unified, named;
  while (!text.empty()) {
    std::string_view path = take(text, '\n');  // "HIERARCHY:CONTROLLERS:PATH"
    (void)take(path, ':');
    const std::string_view controllers = take(path, ':');
    if (!path.starts_with('/')) continue;
    if (controllers == "name=systemd") named = path;
    if (controllers.empty()) unified = path;
  }
  // An administrator can mount a bare hierarchy named "systemd" beside the unified one, for old
  // containers: then every process is in the root of the former. On the legacy layout, it is the
  // other way round.
  return std::string(named.empty() || unified.size() > 1 ? unified : named);
}

std::optional<Status> parse_status(std::string_view text) {
  const auto parent = status_pid(text, "PPid:");
  const auto uid = status_number(text, "Uid:", 1);
  const auto gid = status_number(text, "Gid:", 1);
  const auto real_uid = status_number(text, "Uid:", 0);
  if (!parent || !uid || !gid || !real_uid) return std::nullopt;
  return Status{*parent, Identity{*uid, *gid, *real_uid}};
}

Credentials parse_credentials(std::string_view status) {
  Credentials out;
  while (!status.empty()) {
    std::string_view line = take(status, '\n');
    const std::string_view key = take(line, '\t');
    if (key != "Uid:" && key != "Gid:" && key != "Groups:") continue;
    while (!line.empty())  // tabs between the ids of the first two, spaces after those of the last
      if (const auto id = parse_unsigned<uint32_t>(take(line, key == "Groups:" ? ' ' : '\t')))
        (key == "Uid:" ? out.users : out.groups).push_back(*id);
  }
  return out;
}

bool first_thread_ended(std::string_view status) {
  while (!status.empty()) {
    std::string_view line = take(status, '\n');
    if (take(line, '\t') == "State:") return line.starts_with('Z') || line.starts_with('X');
  }
  return false;
}

std::optional<uint64_t> parse_start_time(std::string_view stat) {
  // The second field is the name in parentheses, which may contain spaces and parentheses.
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  stat.remove_prefix(name_end);
  for (int field = 2; field < 22; field++) (void)take(stat, ' ');
  return parse_unsigned<uint64_t>(take(stat, ' '));
}

std::vector<pid_t> parse_pids(std::string_view text) {
  constexpr std::string_view space = " \n";
  std::vector<pid_t> pids;
  while (!text.empty()) {
    const size_t end = text.find_first_of(space);
    const auto pid = parse_unsigned<uint32_t>(text.substr(0, end));
    if (pid && *pid > 0 && *pid <= INT32_MAX) pids.push_back(static_cast<pid_t>(*pid));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return pids;
}

std::optional<std::string> parse_resctrl_group(std::string_view text) {
  const auto value = [&](std::string_view key) -> std::optional<std::string_view> {
    const std::string_view line = take(text, '\n');
    if (!line.starts_with(key)) return std::nullopt;
    return line.substr(key.size());
  };
  const auto control = value("res:");
  if (!control || control->empty()) return std::nullopt;
  const std::string_view directory = *control == "/" ? root_group : *control;
  const auto mon_group = value("mon:");
  return mon_group && !mon_group->empty() ? mon_group_directory(directory, *mon_group)
                                          : std::string(directory);
}

}  // namespace rdtd::proc
