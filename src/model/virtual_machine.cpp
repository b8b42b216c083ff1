#include "rdtd/model/virtual_machine.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// As systemd escapes names of units: "\\x2d" for '-'.
std::string unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto code = text.size() >= 4 && text.starts_with("\\x")
                          ? parse_unsigned<uint8_t>(text.substr(2, 2), 16)
                          : std::nullopt;
    out += code ? static_cast<char>(*code) : text.front();
    text.remove_prefix(code ? 4 : 1);
  }
  return out;
}

bool take(std::string_view& text, std::string_view begin, std::string_view end) {
  if (!text.starts_with(begin) || !text.ends_with(end) || text.size() < begin.size() + end.size())
    return false;
  text.remove_prefix(begin.size());
  text.remove_suffix(end.size());
  return true;
}

// "web" of "1-web": libvirt counts the starts of all its machines.
std::optional<std::string> without_count(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos || !parse_unsigned<uint32_t>(text.substr(0, dash)) ||
      dash + 1 == text.size())
    return std::nullopt;
  return std::string(text.substr(dash + 1));
}

// The first component of "/a/b": "a".
std::string_view first_of(std::string_view path) {
  return path.starts_with('/') ? path.substr(1, path.find('/', 1) - 1) : std::string_view();
}

// The path behind the leading components that end with `end`.
std::string_view below(std::string_view path, std::string_view end) {
  for (auto name = first_of(path); name.size() > end.size() && name.ends_with(end);
       name = first_of(path))
    path.remove_prefix(1 + name.size());
  return path;
}

// libvirt's partition "/machine/a/b", without systemd, is "/machine/a.partition/b.partition".
std::string_view below_partitions(std::string_view path) {
  constexpr std::string_view machine = "machine";
  if (first_of(path) == machine) path.remove_prefix(1 + machine.size());
  return below(path, ".partition");
}

bool is_separator(char c) { return c == '-' || c == '.'; }

std::string without_separators_at_end(std::string name) {
  while (!name.empty() && is_separator(name.back())) name.pop_back();
  return name;
}

// `dropped_counts`: a '-' behind a dropped character is kept even if one comes before that, as in
// older libvirt: "a-_-b" is "a--b" there, and "a-b" now (virDomainMachineNameAppendValid).
std::string shortened(std::string_view name, bool dropped_counts) {
  std::string out;
  bool separated = true;  // a '-' comes before the name
  for (const char c : name) {
    const bool is_dropped = !is_separator(c) && std::isalnum(static_cast<unsigned char>(c)) == 0;
    if (!is_dropped && !(is_separator(c) && separated)) out += c;
    if (!is_dropped || dropped_counts) separated = is_separator(c);
  }
  return without_separators_at_end(std::move(out));
}

}  // namespace

std::optional<std::string> vm_of_cgroup(std::string_view path) {
  // Slices are systemd's, and only root can make a unit in one.
  if (const auto rest = below(path, ".slice"); rest.size() < path.size()) {
    std::string_view name = first_of(rest);
    if (take(name, "machine-qemu\\x2d", ".scope")) return without_count(unescaped(name));
    const bool proxmox = path.substr(0, path.size() - rest.size()) == "/qemu.slice";
    if (proxmox && take(name, "", ".scope") && !name.empty()) return std::string(name);
    return std::nullopt;
  }
  const std::string_view rest = below_partitions(path);
  std::string_view name = first_of(rest);
  if (rest.size() < path.size() && take(name, "qemu-", ".libvirt-qemu")) return without_count(name);
  return std::nullopt;
}

std::vector<std::string> vm_names_in_scope(std::string_view name) {
  constexpr size_t longest_machine = 64, most_digits = 10;
  std::vector<std::string> out;
  const auto add = [&](std::string one) {
    if (one != name && !one.empty() && std::ranges::find(out, one) == out.end())
      out.push_back(std::move(one));
  };
  for (const bool dropped_counts : {true, false}) {
    const std::string whole = shortened(name, dropped_counts);
    add(whole);
    for (size_t digits = 1; digits <= most_digits; digits++) {
      const size_t kept = longest_machine - std::string_view("qemu-").size() - digits - 1;
      if (whole.size() > kept) add(without_separators_at_end(whole.substr(0, kept)));
    }
  }
  return out;
}

bool may_hold_vms(std::string_view path) {
  return path == "/" || below(path, ".slice").empty() || below_partitions(path).empty();
}

}  // namespace rdtd
