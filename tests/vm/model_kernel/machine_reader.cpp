#include "machine_reader.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "fake/resctrl.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/schemata.hpp"

namespace rdtd::fake {

namespace {

constexpr unsigned last_padding_minor = 15;  // 6.15; the releases in between have not been checked
constexpr unsigned first_exact_minor = 12;   // 6.12.y has the correction of 6.13

struct KernelVersion {
  unsigned major = 0, minor = 0;
};

KernelVersion kernel_version() {
  utsname names{};
  KernelVersion version;
  if (::uname(&names) != 0 ||
      std::sscanf(names.release, "%u.%u", &version.major, &version.minor) != 2)
    throw std::runtime_error("cannot read the kernel's version");
  return version;
}

template <class T>
T checked(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return *std::move(result);
}

std::string read_sysfs(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::string(trim(text.str()));
}

// The CPUs that share each cache of a level.
std::map<DomainId, CpuSet> caches_of(const CpuSet& cpus, unsigned level) {
  std::map<DomainId, CpuSet> caches;
  for (const unsigned cpu : cpus)
    for (unsigned index = 0; index < 8; index++) {
      const std::string cache =
          fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", cpu, index);
      const auto id = parse_unsigned<uint32_t>(read_sysfs(cache + "id"));
      if (id && read_sysfs(cache + "level") == std::to_string(level))
        caches[DomainId{*id}].insert(cpu);
    }
  return caches;
}

unsigned level_of(Resource resource) {
  const std::string_view name = to_string(resource);
  return name.starts_with("L2") ? 2 : 3;
}

uint32_t number(const resctrl::Filesystem& filesystem, const std::string& file, int base = 10) {
  const std::string text = checked(filesystem.read("info/" + file));
  const auto value = parse_unsigned<uint32_t>(trim(text), base);
  if (!value) throw std::runtime_error(fmt::format("info/{} is no number: {}", file, text));
  return *value;
}

// The bytes that the root's mask comes to: `size` has the rows of `schemata`, in decimal.
uint64_t bytes_of(const std::string& sizes, Resource resource, DomainId id) {
  for (const std::string_view line : split(sizes, '\n')) {
    const size_t colon = line.find(':');
    if (trim(line.substr(0, colon)) != to_string(resource)) continue;
    for (const std::string_view part : split(line.substr(colon + 1), ';'))
      if (part.starts_with(to_string(id) + "="))
        return parse_unsigned<uint64_t>(part.substr(part.find('=') + 1)).value_or(0);
  }
  return 0;
}

Control read_control(const resctrl::Filesystem& filesystem, Resource resource,
                     const DomainValues& values, const CpuSet& cpus) {
  const std::string directory = std::string(to_string(resource)) + "/";
  const auto caches = caches_of(cpus, level_of(resource));
  const std::string sizes = checked(filesystem.read("size"));
  Control control;
  control.num_closids = number(filesystem, directory + "num_closids");
  for (const auto& [id, value] : values) control.domains[id].cpus = caches.at(id);
  if (!is_cache(resource)) {
    control.bandwidth_gran = number(filesystem, directory + "bandwidth_gran");
    control.min_bandwidth = number(filesystem, directory + "min_bandwidth");
    control.delay_linear = number(filesystem, directory + "delay_linear") == 1;
    if (values.begin()->second > 100)
      control.unit = control.delay_linear ? Unit::mbps : Unit::eighths;
    return control;
  }
  control.cbm_mask.bits = number(filesystem, directory + "cbm_mask", 16);
  control.min_cbm_bits = number(filesystem, directory + "min_cbm_bits");
  control.shareable_bits.bits = number(filesystem, directory + "shareable_bits", 16);
  control.sparse_masks = number(filesystem, directory + "sparse_masks") == 1;
  for (auto& [id, domain] : control.domains)
    domain.way_bytes = bytes_of(sizes, resource, id) / control.cbm_mask.count();
  return control;
}

unsigned processor_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  unsigned model = 0;
  while (std::getline(file, line))
    if (std::sscanf(line.c_str(), "model : %u", &model) == 1) break;
  return model;
}

// Processors whose hardware prefetchers the kernel can turn off.
bool supports_pseudo_locking() {
  const unsigned model = processor_model();
  return model == 79 || model == 85 || model == 92 || model == 122;
}

// For Haswell servers, which it knows by their model, the kernel does not set the width of masks.
bool has_value_width() { return processor_model() != 63; }

void read_other_info(const resctrl::Filesystem& filesystem, Machine& machine) {
  const auto known = [&](const std::string& file) {
    return Resctrl(machine).read("info/" + file).has_value();
  };
  for (const auto& directory : checked(filesystem.list("info"))) {
    if (!directory.is_directory) continue;
    for (const auto& entry : checked(filesystem.list("info/" + directory.name))) {
      const std::string file = directory.name + "/" + entry.name;
      if (!known(file)) machine.more_info[file] = checked(filesystem.read("info/" + file));
    }
  }
}

}  // namespace

Machine read_machine(const resctrl::Filesystem& filesystem) {
  Machine machine;
  const auto version = kernel_version();
  machine.release.pads_values =
      (version.major < 6 || (version.major == 6 && version.minor <= last_padding_minor)) &&
      has_value_width();
  machine.release.rounds_rates =
      version.major < 6 || (version.major == 6 && version.minor < first_exact_minor);
  machine.release.has_mba_mbps_event = filesystem.read("mba_MBps_event").has_value();
  machine.cpus = parse_cpu_list(trim(checked(filesystem.read("cpus_list")))).value();
  const std::string schemata = checked(filesystem.read("schemata"));
  machine.name_width = static_cast<unsigned>(schemata.find(':'));
  for (const auto& [resource, values] : checked(parse_schemata(schemata)))
    machine.controls[resource] = read_control(filesystem, resource, values, machine.cpus);
  if (filesystem.list("mon_groups")) {
    machine.num_rmids = number(filesystem, "L3_MON/num_rmids");
    machine.mon_domains = caches_of(machine.cpus, 3);
    const std::string features = checked(filesystem.read("info/L3_MON/mon_features"));
    for (const std::string_view feature : split(trim(features), '\n'))
      machine.mon_features.emplace_back(feature);
  }
  machine.pseudo_locking = supports_pseudo_locking();
  read_other_info(filesystem, machine);
  return machine;
}

bool model_knows_status_texts() {
  const auto version = kernel_version();
  return version.major == 6 && version.minor == 12;
}

}  // namespace rdtd::fake
