#include "kernel_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

namespace fs = std::filesystem;

void read_processor(const std::string& cpuinfo, MachineFacts& facts) {
  if (cpuinfo.contains("CPU implementer")) facts.architecture = MachineFacts::Architecture::arm64;
  if (cpuinfo.contains("isa\t")) facts.architecture = MachineFacts::Architecture::riscv64;
  // Of the first processor; "flags" is behind the other lines that are read.
  for (const std::string_view line : split(cpuinfo, '\n')) {
    const size_t colon = std::min(line.find(':'), line.size());
    const std::string_view key = trim(line.substr(0, colon));
    const std::string_view value = trim(line.substr(std::min(colon + 1, line.size())));
    if (key == "vendor_id") facts.vendor = value;
    if (key == "cpu family") facts.family = parse_unsigned<unsigned>(value).value_or(0);
    if (key == "model") facts.model = parse_unsigned<unsigned>(value).value_or(0);
    if (key != "flags") continue;
    for (const std::string_view flag : split(value, ' ')) facts.cpu_flags.emplace(flag);
    break;
  }
}

void read_mounts(const std::string& mounts, MachineFacts& facts) {
  for (const std::string_view line : split(mounts, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() <= 3 || words[2] != "resctrl") continue;
    if (words[1] == facts.mount_point)
      facts.mount_options = std::string(words[3]);
    else
      facts.mounted_elsewhere = std::string(words[1]);
  }
  if (facts.mount_options) facts.mounted_elsewhere.clear();
}

}  // namespace

std::string text_of(const fs::path& path) {
  const auto directory = Directory::open(path.parent_path().string());
  return directory ? directory->read(path.filename().string()).value_or("") : "";
}

std::string name_of_process(const Context& context, pid_t pid) {
  return printable(trim(text_of(fs::path(context.proc) / std::to_string(pid) / "comm")));
}

// INTEL_RDT before Linux 5.0, of which some release candidates have X86_RESCTRL.
bool has_resctrl(const std::string& config) {
  return std::ranges::any_of(
      std::array{"X86_CPU_RESCTRL", "X86_RESCTRL", "INTEL_RDT"}, [&](const char* name) {
        return ("\n" + config).contains(fmt::format("\nCONFIG_{}=y\n", name));
      });
}

void read_kernel(const Context& context, MachineFacts& facts) {
  const fs::path proc = context.proc;
  read_processor(text_of(proc / "cpuinfo"), facts);
  facts.command_line = trim(text_of(proc / "cmdline"));
  facts.kernel_has_resctrl = text_of(proc / "filesystems").contains("resctrl");
  facts.mount_point = context.resctrl;
  read_mounts(text_of(proc / "mounts"), facts);
  // Where distributions put it. Some have it only compressed and in the kernel (/proc/config.gz).
  const std::string release(trim(text_of(proc / "sys/kernel/osrelease")));
  const fs::path root = context.root;
  for (const fs::path& config :
       {root / "boot" / ("config-" + release), root / "lib/modules" / release / "config"}) {
    const std::string text = text_of(config);
    if (text.empty()) continue;
    facts.kernel_config = config.string();
    facts.built_with_resctrl = has_resctrl(text);
    break;
  }
}

}  // namespace rdtd
