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
  // Only the first two components count, however deep the path is.
  const size_t second = path.starts_with('/') ? path.find('/', 1) : std::string_view::npos;
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view above = path.substr(1, second - 1);
  std::string_view name = path.substr(second + 1, path.find('/', second + 1) - second - 1);
  if (above == "machine.slice" && take(name, "machine-qemu\\x2d", ".scope"))
    return without_count(unescaped(name));
  if (above == "machine" && take(name, "qemu-", ".libvirt-qemu")) return without_count(name);
  if (above == "qemu.slice" && take(name, "", ".scope") && !name.empty()) return std::string(name);
  return std::nullopt;
}

}  // namespace rdtd
