#include "unit_patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cgroup_components.hpp"
#include "characters.hpp"
#include "foreign_text.hpp"
#include "path_patterns.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "runtime_units.hpp"
#include "unknown_key.hpp"

namespace rdtd {

using pattern::Check;
using pattern::doubtful;
using pattern::Finding;
using pattern::last_component;
using pattern::never;
using pattern::write;

namespace {

// The first character that a unit's name cannot have (systemd.unit(5)), besides those of a glob.
std::optional<std::string_view> foreign_character(std::string_view text) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@*?[]!^";
  const size_t at = text.find_first_not_of(allowed);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at, std::max<size_t>(1, first_character(text.substr(at)).length));
}

std::string hint_for_unit(std::string_view text, std::string_view character) {
  if (character == "/")
    return has_unit_type(last_component(text)) ? write(last_component(text))
                                               : "'cgroup' matches a path";
  if (character == "%")
    return "rules have no specifiers: " + hint_for_place(without_specifiers(text));
  if (character == "$")
    return "rules have no variables: " + hint_for_place(without_variables(text));
  return {};
}

// "services" of "nginx.services", "svc".
std::optional<std::string> misspelt_type(std::string_view word) {
  if (word == "svc" || word == "serv") return "service";
  static const std::vector<std::string> types = {"service", "slice", "scope"};
  constexpr size_t least_letters = 4;  // other words are part of the name: "php8.2-fpm"
  if (word.size() < least_letters) return std::nullopt;
  // "org.kde.Slide" is a name of D-Bus.
  const std::string small = lower(word);
  if (small == word) return nearest_name(word, types);
  const auto same = std::ranges::find(types, small);
  return same == types.end() ? std::nullopt : std::optional(*same);
}

// The unit that is made from a file of another kind, or that its name stands for; "" if the name
// is none of these.
std::string unit_of_file(std::string_view text) {
  constexpr auto same = std::to_array<std::string_view>(
      {".container", ".kube", ".conf", ".cfg", ".ini", ".toml", ".yml", ".yaml", ".json", ".xml",
       ".jar", ".py", ".sh", ".pid", ".sock", ".log", ".exe"});
  // Those that podman's Quadlet appends to the name.
  constexpr auto appended =
      std::to_array<std::string_view>({".pod", ".network", ".volume", ".image", ".build"});
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string_view name = text.substr(0, dot), end = text.substr(dot);
  // Of a template; of another instance, what follows '@' may have any '.'.
  if (name.ends_with('@') && (end == ".container" || end == ".kube"))
    return fmt::format("{}*.service", name);
  if (name.contains('@') && end != ".container" && end != ".kube") return {};
  if (end == ".nspawn") return fmt::format("systemd-nspawn@{}.service", name);
  if (std::ranges::find(same, end) != same.end()) return fmt::format("{}.service", name);
  if (std::ranges::find(appended, end) != appended.end())
    return fmt::format("{}-{}.service", name, end.substr(1));
  return {};
}

// ["nginx.service", "php.service"] of "nginx.service:php.service"; of a slice in front, what is in
// it.
std::string units_around_colon(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != text.npos) return {};
  const std::string_view front = text.substr(0, colon), rest = text.substr(colon + 1);
  if (!has_unit_type(front) || rest.empty() || front.starts_with("kubepods")) return {};
  if (front.ends_with(".slice"))
    return write(has_unit_type(rest) ? std::string(rest) : fmt::format("{}.service", rest));
  return has_unit_type(rest)
             ? fmt::format("write [{}, {}]", rdtd::quoted(front), rdtd::quoted(rest))
             : "";
}

// "nginx:service", and "kubepods.slice:cri-containerd:8f2c", a path as runc takes it; "" if there
// is no such ':'.
std::string unit_before_colon(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const std::string_view front = text.substr(0, colon), rest = text.substr(colon + 1);
  // "SLICE:PREFIX:NAME" of runc is the scope PREFIX-NAME.
  if (const size_t second = rest.find(':'); front.ends_with(".slice") && second != rest.npos)
    return fmt::format("{}-{}.scope", rest.substr(0, second), rest.substr(second + 1));
  if (has_unit_type(front)) return std::string(front);
  const std::string meant = fmt::format("{}.{}", front, rest);
  return !front.contains('.') && has_unit_type(meant) && !has_unit_type(rest) ? meant : "";
}

bool is_desktop_application(std::string_view name) {
  return is_one_of(name, {"firefox", "chromium", "google-chrome", "thunderbird", "code", "slack",
                          "discord", "steam", "spotify", "zoom", "libreoffice", "gimp", "vlc"});
}

// user@1000.service and what holds it are units of the system's manager. A user's podman makes
// user-libpod_pod_ID.slice.
bool is_of_system_manager(std::string_view unit) {
  constexpr std::string_view numbers_and_wildcards = "0123456789*?[]-";
  constexpr std::string_view before = "user-", after = ".slice";
  const bool is_slice =
      unit.size() > before.size() + after.size() && unit.starts_with(before) &&
      unit.ends_with(after) &&
      unit.substr(0, unit.size() - after.size())
              .find_first_not_of(numbers_and_wildcards, before.size()) == std::string_view::npos;
  const bool is_root = unit == "user.slice" || unit == "system.slice" || unit == "machine.slice";
  return is_root || is_slice || (unit.starts_with("user@") && unit.ends_with(".service")) ||
         (unit.starts_with("session-") && unit.ends_with(".scope"));
}

// "kubepods.slice" of "kubepods", of which no service is known.
std::string slice_meant(ConditionKind kind, std::string_view text) {
  for (const std::string_view slice :
       {"kubepods", "kubepods-besteffort", "kubepods-burstable", "machine", "user", "system"})
    if (text == slice) return fmt::format("{}.slice", slice);
  if (text == "init") return "init.scope";
  if (kind == ConditionKind::unit && text.starts_with("user-") && is_digits(text.substr(5)))
    return fmt::format("{}.slice", text);
  if (kind == ConditionKind::user_unit)
    for (const std::string_view slice : {"app", "session", "background"})
      if (text == slice) return fmt::format("{}.slice", slice);
  return {};
}

// "docker" is probably meant to be its containers; who writes "docker.service" knows.
Check check_manager(std::string_view text) {
  struct Manager {
    std::string_view names;
    std::string_view others;
    std::string_view hint;
  };
  constexpr auto managers = std::to_array<Manager>({
      {"docker containerd crio podman", "the containers", "write container = \"NAME\""},
      {"libvirtd virtqemud libvirt", "the virtual machines", "write vm = \"NAME\""},
      {"slurmd slurm", "the jobs", "write unit = \"*slurmstepd.scope\""},
  });
  for (const auto& [names, others, hint] : managers) {
    const auto list = split(names, ' ');
    if (std::ranges::find(list, text) != list.end())
      return Finding{fmt::format("'{}' is the service '{}.service', and not {} that it starts",
                                 text, text, others),
                     fmt::format("{}; for the service itself, \"{}.service\"", hint, text), false};
  }
  return std::nullopt;
}

// Whether units of that name are most often those of a user's own service manager. "app-web@1" may
// be anybody's.
bool is_of_user_manager(std::string_view unit) {
  if (is_one_of(unit, {"app.slice", "session.slice", "background.slice"})) return true;
  const auto begins_with = [unit](auto... words) { return (unit.starts_with(words) || ...); };
  if (unit.ends_with(".scope")) return begins_with("app-", "flatpak-", "vte-spawn-");
  constexpr std::string_view type = ".service";
  if (!unit.ends_with(type)) return false;
  if (begins_with("org.gnome.", "app-org.gnome.", "app-org.kde.", "app-flatpak-")) return true;
  const std::string_view name = unit.substr(0, unit.size() - type.size());
  return (unit.starts_with("app-") && name.ends_with("@autostart")) ||
         is_one_of(name, {"pipewire", "pipewire*", "pipewire-pulse", "wireplumber", "pulseaudio",
                          "plasma-kwin_wayland", "plasma-kwin_x11", "plasma-plasmashell"});
}

// Units that only a user's own service manager makes, and a slice that nobody makes.
Check check_whose(ConditionKind kind, std::string_view unit, std::string_view text) {
  if (kind == ConditionKind::user_unit && is_of_system_manager(unit))
    return never(text, "user_unit names a unit of a user's own service manager",
                 fmt::format("write unit = {}", rdtd::quoted(unit)));
  if (kind == ConditionKind::user_unit) return std::nullopt;
  // No process is in a template, of the system or of a user.
  if (is_of_user_manager(unit) && !unit.substr(0, unit.rfind('.')).ends_with('@'))
    return Finding{fmt::format("'{}' is most often a unit of a user's own service manager; 'unit' "
                               "is one of the system's",
                               text),
                   fmt::format("if it is the user's, write user_unit = {}", rdtd::quoted(text)),
                   false};
  if (unit == "kubepods-guaranteed.slice")
    return no_guaranteed_slice(
        text, "write unit = \"kubepods.slice\", after rules for burstable and besteffort");
  return std::nullopt;
}

// Of a name without the type of a unit that was probably meant to be something else.
Finding is_service(std::string_view text, std::string hint) {
  return {fmt::format("'{0}' is the service '{0}.service'", text), std::move(hint), false};
}

// "write user_unit = "app-*firefox*"": desktops write the '-' of a name as "\\x2d".
std::string write_unit_of_desktop(std::string_view application) {
  std::string name(application);
  std::ranges::replace(name, '-', '*');
  return fmt::format("write user_unit = {}", rdtd::quoted(fmt::format("app-*{}*", name)));
}

// "firefox.desktop", and "firefox" of a user, which a desktop starts in a scope or a service of
// another name.
Check check_desktop(ConditionKind kind, std::string_view text) {
  constexpr std::string_view of_desktop = ".desktop";
  if (text.ends_with(of_desktop) && text.size() > of_desktop.size())
    return is_service(text, text.find_first_of("*\\") == text.npos
                                ? write_unit_of_desktop(text.substr(0, text.rfind('.')))
                                : "");
  if (kind != ConditionKind::user_unit || !is_desktop_application(text)) return std::nullopt;
  return is_service(text, fmt::format("if a desktop starts it, {}", write_unit_of_desktop(text)));
}

// "user-.slice", whose drop-ins systemd applies to all units of such a name, and
// "redis.service.service".
Check check_name_of_files(std::string_view text, std::string_view unit, std::string_view stem) {
  const std::string_view type = unit.substr(stem.size());
  if (!has_unit_type(unit)) return std::nullopt;
  // Of an instance, what follows '@' is any text: "failure-notify@redis.service.service" of %n, and
  // "btrfs-scrub@-.service" of '/'.
  if (stem.contains('@')) return std::nullopt;
  if (stem.size() > type.size() && stem.ends_with(type))
    return doubtful(text, "it has its type twice", write(stem));
  if (!stem.ends_with('-') || stem == "-" || has_wildcard(stem)) return std::nullopt;
  constexpr std::string_view of_drop_ins = "systemd has such a name for drop-ins of many units";
  std::string hint = write(fmt::format("{}*{}", stem, type));
  return type == ".slice" ? never(text, of_drop_ins, std::move(hint))
                          : doubtful(text, of_drop_ins, std::move(hint));
}

}  // namespace

Check check_unit(ConditionKind kind, std::string_view text) {
  if (text.size() > 2 && text.starts_with('[') && text.ends_with(']') &&
      has_unit_type(text.substr(1, text.size() - 2)))
    return never(text, "'[...]' is one of the characters in it",
                 write(text.substr(1, text.size() - 2)));
  if (const auto character = foreign_character(text))
    return never(
        text,
        fmt::format("the name of a unit has no {}",
                    *character == " " || *character == "\t" ? "blank" : character_text(*character)),
        hint_for_unit(text, *character));
  for (const std::string_view drop_in : {".service.d", ".slice.d", ".scope.d"})
    if (text.ends_with(drop_in))
      return Finding{fmt::format("'{}' looks like the directory of a unit's drop-ins", text),
                     write(text.substr(0, text.size() - 2)), false};
  if (const size_t dot = text.rfind('.'); dot != std::string_view::npos && !has_unit_type(text))
    if (const auto type = misspelt_type(text.substr(dot + 1)))
      return is_service(text, write(fmt::format("{}.{}", text.substr(0, dot), *type)));
  if (auto found = check_desktop(kind, text)) return found;
  if (std::string hint = units_around_colon(text); !hint.empty())
    return is_service(text, std::move(hint));
  for (const std::string& meant : {unit_of_file(text), unit_before_colon(text)})
    if (!meant.empty()) return is_service(text, pattern::write_what_is_named(meant));
  if (std::string hint = hint_for_qos(text); kind == ConditionKind::unit && !hint.empty())
    return is_service(text, fmt::format("if it is the QoS class: {}", hint));
  if (const std::string slice = slice_meant(kind, text); !slice.empty())
    return is_service(text, write(slice));
  if (const std::string escaped = escaped_scope(text); !escaped.empty())
    return doubtful(text, pattern::escaped_machine, write(escaped));
  if (const std::string slice = slice_of_template(text);
      kind == ConditionKind::unit && !slice.empty())
    return doubtful(text, pattern::escaped_template, write(slice));
  if (text == "-.slice")
    return never(text, pattern::is_root_slice, std::string(pattern::every_process));
  const std::string unit = complete_unit_name(std::string(text));
  const std::string_view stem = std::string_view(unit).substr(0, unit.rfind('.'));
  if (auto found = check_whose(kind, unit, text)) return found;
  if (glob_is_literal(unit))
    if (auto found = check_runtime_unit(text, unit)) return found;
  if (stem.ends_with('@'))
    return never(text, pattern::only_instances,
                 write(fmt::format("{}*{}", stem, unit.substr(stem.size()))));
  if (auto found = check_name_of_files(text, unit, stem)) return found;
  for (const std::string_view type : {".timer", ".path", ".target", ".device", ".automount"})
    if (unit.ends_with(type))
      return never(
          text,
          fmt::format("no process is in {} {}", type == ".automount" ? "an" : "a", type.substr(1)),
          type == ".timer" || type == ".path" ? write(fmt::format("{}.service", stem)) : "");
  if (unit.ends_with(".socket"))
    return Finding{
        fmt::format("'{}' has no processes for long: a socket starts a service", text),
        !has_wildcard(stem) ? write(fmt::format("{}.service", stem)) : "name the services", false};
  return kind == ConditionKind::unit ? check_manager(text) : std::nullopt;
}

}  // namespace rdtd
