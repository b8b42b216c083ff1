#include "rdtd/model/virtual_machine.hpp"

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

}  // namespace

std::optional<std::string> vm_of_cgroup(std::string_view path) {
  const auto parts = split(path, '/');
  if (parts.size() < 3 || !parts[0].empty()) return std::nullopt;
  std::string_view name = parts[2];
  if (parts[1] == "machine.slice" && take(name, "machine-qemu\\x2d", ".scope"))
    return without_count(unescaped(name));
  if (parts[1] == "machine" && take(name, "qemu-", ".libvirt-qemu")) return without_count(name);
  if (parts[1] == "qemu.slice" && take(name, "", ".scope") && !name.empty())
    return std::string(name);
  return std::nullopt;
}

}  // namespace rdtd
