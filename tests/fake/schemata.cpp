// The files schemata, size and bit_usage, and the rules for masks and bandwidths.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <utility>

#include "fake/kernel_text.hpp"
#include "fake/resctrl.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd::fake {

namespace {

constexpr uint64_t largest_allocation = 4 << 20;  // KMALLOC_MAX_SIZE

// In the order in which the kernel prints the rows.
std::vector<Resource> rows_of(const Machine& machine) {
  std::vector<Resource> rows;
  for (const auto& [resource, control] : machine.controls) rows.insert(rows.begin(), resource);
  return rows;
}

unsigned length_of(Cbm mask) { return mask.empty() ? 0 : mask.highest() + 1; }

size_t value_width(const Machine& machine) {
  size_t width = 0;
  for (const auto& [resource, control] : machine.controls) {
    const size_t digits = resource.is_bitmap()            ? (length_of(control.cbm_mask) + 3) / 4
                          : control.unit == Unit::eighths ? 4
                                                          : 3;
    width = std::max(width, digits);
  }
  return width;
}

}  // namespace

std::optional<Resource> peer(Resource resource) {
  for (const auto& [one, other] : {std::pair(Resource::L3CODE, Resource::L3DATA),
                                   std::pair(Resource::L2CODE, Resource::L2DATA)}) {
    if (resource == one) return other;
    if (resource == other) return one;
  }
  return std::nullopt;
}

CpuSet Resctrl::online_cpus(Resource resource, DomainId id) const {
  CpuSet cpus = machine.controls.at(resource).domains.at(id).cpus;
  std::erase_if(cpus, [&](unsigned cpu) { return !online.contains(cpu); });
  return cpus;
}

uint32_t Resctrl::unrestricted(const Resource& resource) const {
  const Control& control = machine.controls.at(resource);
  return parse_resource(resource.name()) ? control.unlimited() : control.initial;
}

bool Resctrl::is_online(const Resource& resource, DomainId id) const {
  return machine.controls.at(resource).domains.at(id).without_cpus ||
         !online_cpus(resource, id).empty();
}

Cbm Resctrl::locked_ways(Resource resource, DomainId id) const {
  for (const Group& group : groups)
    if (group.region.domain == id && group.region.resource == resource) return group.region.cbm;
  return {};
}

bool Resctrl::locked_in_hierarchy(Resource resource, DomainId id) const {
  const CpuSet cpus = online_cpus(resource, id);
  return std::ranges::any_of(groups, [&](const Group& group) {
    if (!group.region.domain) return false;
    const CpuSet others = online_cpus(group.region.resource, *group.region.domain);
    return std::ranges::any_of(cpus, [&](unsigned cpu) { return others.contains(cpu); });
  });
}

bool Resctrl::overlaps(Resource resource, DomainId id, uint32_t mask, unsigned closid,
                       bool only_exclusive) const {
  const Cbm ways{mask};
  if (!only_exclusive && ways.overlaps(machine.controls.at(resource).shareable_bits)) return true;
  for (const auto& other_resource : {std::optional(resource), peer(resource)}) {
    if (!other_resource) continue;
    const std::vector<uint32_t>& masks = values.at(*other_resource).at(id);
    for (unsigned other = 0; other < num_closids(); other++) {
      if (other == closid || free_closids.contains(other)) continue;
      const auto mode = mode_of(other);
      if (mode == Mode::pseudo_locksetup || (only_exclusive && mode != Mode::exclusive)) continue;
      if (ways.overlaps(Cbm{masks[other]})) return true;
    }
  }
  return false;
}

// New groups get the shareable and the unused ways.
Cbm Resctrl::initial_mask(Resource resource, DomainId id, unsigned closid) const {
  const Control& control = machine.controls.at(resource);
  Cbm mask = control.shareable_bits;
  Cbm used = control.shareable_bits;
  for (unsigned other = 0; other < num_closids(); other++) {
    const auto mode = mode_of(other);
    if (other == closid || free_closids.contains(other) || mode == Mode::pseudo_locksetup) continue;
    Cbm theirs{values.at(resource).at(id)[other]};
    if (const auto twin = peer(resource)) theirs = theirs | Cbm{values.at(*twin).at(id)[other]};
    used = used | theirs;
    if (mode == Mode::shareable) mask = mask | theirs;
  }
  used = used | locked_ways(resource, id);
  mask = mask | control.cbm_mask.without(used);
  return first_run(mask);  // also where masks may have gaps (cbm_ensure_valid)
}

// A domain without space refuses the group before the others of its resource are written.
int Resctrl::initialize_cache(Resource resource, unsigned closid) {
  const Control& control = machine.controls.at(resource);
  std::map<DomainId, uint32_t> wanted;
  for (const auto& [id, domain] : control.domains) {
    if (!is_online(resource, id)) continue;
    const Cbm mask = initial_mask(resource, id, closid);
    wanted[id] = mask.bits;
    if (mask.count() >= control.min_cbm_bits) continue;
    status.print(fmt::format("No space on {}:{}\n", to_string(resource), to_string(id)));
    return ENOSPC;
  }
  for (const auto& [id, value] : wanted) values[resource][id][closid] = value;
  return 0;
}

int Resctrl::initialize_allocations(unsigned closid) {
  for (const Resource& resource : rows_of(machine)) {
    const auto found = machine.controls.find(resource);
    if (is_cache(resource)) {
      if (const int code = initialize_cache(resource, closid); code != 0) return code;
      continue;
    }
    for (const auto& [id, domain] : found->second.domains)
      if (is_online(resource, id)) values[resource][id][closid] = unrestricted(resource);
  }
  return 0;
}

int Resctrl::write_schemata(Group& group, std::string_view text) {
  if (!text.ends_with('\n')) return EINVAL;
  text.remove_suffix(1);
  status.clear();
  if (group.mode == Mode::pseudo_locked) {
    status.put("Resource group is pseudo-locked\n");
    return EINVAL;
  }
  Staged staged;
  for (const std::string_view line : split(text, '\n'))
    if (const int code = parse_row(group, line, staged); code != 0) return code;
  for (const auto& [place, value] : staged) values[place.first][place.second][group.closid] = value;
  return group.mode == Mode::pseudo_locksetup ? lock_region(group) : 0;
}

int Resctrl::parse_row(Group& group, std::string_view line, Staged& staged) {
  const size_t colon = line.find(':');
  const std::string_view name = strim(line.substr(0, colon));
  if (colon == std::string_view::npos) {
    status.put("Missing ':'\n");
    return EINVAL;
  }
  const std::string_view domains = line.substr(colon + 1);
  if (domains.empty()) {
    status.print(fmt::format("Missing '{}' value\n", name));
    return EINVAL;
  }
  const auto control = std::ranges::find_if(
      machine.controls, [&](const auto& entry) { return entry.first.name() == name; });
  if (control == machine.controls.end()) {
    status.print(fmt::format("Unknown or unsupported resource name '{}'\n", name));
    return EINVAL;
  }
  if (group.mode == Mode::pseudo_locksetup && !is_cache(control->first)) {
    status.put("Cannot pseudo-lock MBA resource\n");
    return EINVAL;
  }
  return parse_domains(group, control->first, domains, staged);
}

int Resctrl::parse_domains(Group& group, Resource resource, std::string_view text, Staged& staged) {
  while (!text.empty()) {
    const size_t semicolon = text.find(';');
    const std::string_view part = text.substr(0, semicolon);
    text = semicolon == std::string_view::npos ? "" : text.substr(semicolon + 1);
    const size_t equals = part.find('=');
    const auto number = parse_number(part.substr(0, equals), 10);
    if (equals == std::string_view::npos || !number) {
      status.put("Missing '=' or non-numeric domain\n");
      return EINVAL;
    }
    const DomainId id{static_cast<uint32_t>(*number)};
    // The kernel has no text for an unknown domain.
    if (*number > UINT32_MAX || !machine.controls.at(resource).domains.contains(id) ||
        !is_online(resource, id))
      return EINVAL;
    const std::string_view value = strim(part.substr(equals + 1));
    if (staged.contains({resource, id})) {
      status.print(fmt::format("Duplicate domain {}\n", to_string(id)));
      return EINVAL;
    }
    if (!(is_cache(resource) ? parse_mask(group, resource, id, value, staged)
                             : parse_bandwidth(group, resource, id, value, staged)))
      return EINVAL;
    if (group.mode != Mode::pseudo_locksetup) continue;
    // The first domain is the one to lock; the kernel ignores the rest of the line.
    group.region = {resource, id, Cbm{staged.at({resource, id})}};
    return 0;
  }
  return 0;
}

namespace {

// MPAM of openEuler's kernels: bit after bit, each as a whole percentage.
uint32_t cut_of(unsigned bits, uint32_t percent) {
  uint32_t out = 0;
  for (unsigned bit = 1; bit <= bits; bit++)
    if (const uint32_t part = 100U >> bit; part > 0 && percent - out >= part) out += part;
  return out;
}

// MPAM: the fraction whose upper end is nearest, as the percentage that is nearest to that end.
uint32_t kept_of(const Control& control, uint32_t percent) {
  if (control.fraction_bits == 0) return percent;
  if (control.cuts_percentages) return cut_of(control.fraction_bits, percent);
  const double parts = 1U << control.fraction_bits;
  const double nearest = std::clamp(std::floor(percent / 100.0 * parts + 0.5), 1.0, parts);
  return static_cast<uint32_t>(std::floor(nearest / parts * 100 + 0.5));
}

}  // namespace

bool Resctrl::parse_bandwidth(const Group& group, Resource resource, DomainId id,
                              std::string_view text, Staged& staged) {
  const Control& control = machine.controls.at(resource);
  if (!control.delay_linear && control.unit != Unit::eighths) {
    status.put("No support for non-linear MB domains\n");
    return false;
  }
  if (resource.is_bitmap()) {
    const auto mask = valid_mask(control, text);
    if (mask) staged[{resource, id}] = *mask;
    return mask.has_value();
  }
  const auto number = parse_number(text, 10);
  if (!number || *number > UINT32_MAX) {
    status.print(fmt::format("Invalid MB value {}\n", text));
    return false;
  }
  const auto value = static_cast<uint32_t>(*number);
  if (control.unit == Unit::mbps) {
    const uint64_t step = machine.release.rounds_rates ? control.bandwidth_gran : 1;
    // At once, whatever the other lines say.
    values[resource][id][group.closid] = static_cast<uint32_t>((value + step - 1) / step * step);
    return true;
  }
  const uint32_t most = parse_resource(resource.name()) ? control.unlimited() : control.most;
  if (value < control.min_bandwidth || value > most) {
    status.print(
        fmt::format("MB value {} out of range [{},{}]\n", value, control.min_bandwidth, most));
    return false;
  }
  const unsigned step = control.bandwidth_gran;
  staged[{resource, id}] = kept_of(control, (value + step - 1) / step * step);
  return true;
}

std::optional<uint32_t> Resctrl::valid_mask(const Control& control, std::string_view text) {
  const auto number = parse_number(text, 16);
  if (!number) {
    status.print(fmt::format("Non-hex character in the mask {}\n", text));
    return std::nullopt;
  }
  if ((control.min_cbm_bits > 0 && *number == 0) || *number > control.cbm_mask.bits) {
    status.put("Mask out of range\n");
    return std::nullopt;
  }
  const Cbm mask{static_cast<uint32_t>(*number)};
  if (!control.sparse_masks && first_run(mask) != mask) {
    status.print(fmt::format("The mask {:x} has non-consecutive 1-bits\n", mask.bits));
    return std::nullopt;
  }
  if (first_run(mask).count() < control.min_cbm_bits) {
    status.print(fmt::format("Need at least {} bits in the mask\n", control.min_cbm_bits));
    return std::nullopt;
  }
  return mask.bits;
}

bool Resctrl::parse_mask(const Group& group, Resource resource, DomainId id, std::string_view text,
                         Staged& staged) {
  const bool locking = group.mode == Mode::pseudo_locksetup;
  if (locking && locked_in_hierarchy(resource, id)) {
    status.put("Pseudo-locked region in hierarchy\n");
    return false;
  }
  const auto mask = valid_mask(machine.controls.at(resource), text);
  if (!mask) return false;
  if (!locking && locked_ways(resource, id).overlaps(Cbm{*mask})) {
    status.put("CBM overlaps with pseudo-locked region\n");
    return false;
  }
  if (overlaps(resource, id, *mask, group.closid, true)) {
    status.put("Overlaps with exclusive group\n");
    return false;
  }
  if (group.mode != Mode::shareable && overlaps(resource, id, *mask, group.closid, false)) {
    status.put("Overlaps with other group\n");
    return false;
  }
  staged[{resource, id}] = *mask;
  return true;
}

int Resctrl::lock_region(Group& group) {
  const Region& region = group.region;
  const uint64_t way_bytes =
      machine.controls.at(region.resource).domains.at(*region.domain).way_bytes;
  if (way_bytes * region.cbm.count() > largest_allocation) {
    status.put("Requested region exceeds maximum size\n");
    group.region = {};
    return E2BIG;
  }
  group.mode = Mode::pseudo_locked;
  free_closids.insert(group.closid);
  return 0;
}

Answer<std::string> Resctrl::schemata_text(const Group& group) {
  if (group.mode == Mode::pseudo_locked) {
    if (!group.region.domain) {
      status.clear();
      status.put("Cache domain offline\n");
      return std::unexpected(Refusal{ENODEV});
    }
    return fmt::format("{}:{}={}\n", to_string(group.region.resource),
                       to_string(*group.region.domain), to_string(group.region.cbm));
  }
  std::string out;
  for (const Resource& resource : rows_of(machine)) {
    if (group.mode == Mode::pseudo_locksetup) {
      out += fmt::format("{}:uninitialized\n", to_string(resource));
      continue;
    }
    out += fmt::format("{:>{}}:{}\n", to_string(resource), machine.name_width,
                       domain_values(resource, group.closid));
  }
  return out;
}

// By the limit of the node of this domain, which has the same number.
uint32_t Resctrl::bound_of(const Resource& resource, DomainId id, unsigned closid) {
  constexpr uint32_t eighths = 8;
  for (const auto& [row, control] : machine.controls)
    if (control.bounds == resource.name()) return values[row][id][closid] * eighths;
  return UINT32_MAX;
}

std::string Resctrl::domain_values(Resource resource, unsigned closid) {
  const size_t width = machine.release.pads_values ? value_width(machine) : 0;
  std::string out;
  for (const auto& [id, domain] : machine.controls.at(resource).domains) {
    if (!is_online(resource, id)) continue;
    const uint32_t value = std::min(values[resource][id][closid], bound_of(resource, id, closid));
    out += fmt::format("{}{}=", out.empty() ? "" : ";", to_string(id));
    out += resource.is_bitmap() ? fmt::format("{:0{}x}", value, width)
                                : fmt::format("{:{}}", value, width);
  }
  return out;
}

Answer<std::string> Resctrl::size_text(const Group& group) {
  std::string out;
  if (group.mode == Mode::pseudo_locked) {
    const Region& region = group.region;
    if (!region.domain) {
      status.clear();
      status.put("Cache domain offline\n");
      return std::unexpected(Refusal{ENODEV});
    }
    const Domain& domain = machine.controls.at(region.resource).domains.at(*region.domain);
    return fmt::format("{:>{}}:{}={}\n", to_string(region.resource), machine.name_width,
                       to_string(*region.domain), domain.way_bytes * region.cbm.count());
  }
  for (const Resource& resource : rows_of(machine)) {
    out += fmt::format("{:>{}}:", to_string(resource), machine.name_width);
    bool first = true;
    for (const auto& [id, domain] : machine.controls.at(resource).domains) {
      if (!is_online(resource, id)) continue;
      const uint32_t value = values[resource][id][group.closid];
      uint64_t size = is_cache(resource) ? domain.way_bytes * Cbm{value}.count() : value;
      if (group.mode == Mode::pseudo_locksetup) size = 0;
      out += fmt::format("{}{}={}", std::exchange(first, false) ? "" : ";", to_string(id), size);
    }
    out += "\n";
  }
  return out;
}

std::string Resctrl::bit_usage_text(Resource resource) const {
  const Control& control = machine.controls.at(resource);
  std::string out;
  for (const auto& [id, domain] : control.domains) {
    if (!is_online(resource, id)) continue;
    uint32_t devices = control.shareable_bits.bits;
    uint32_t shared = 0;
    uint32_t exclusive = 0;
    if (io_enabled && does_io(resource)) devices |= values.at(resource).at(id)[io_closid(resource)];
    for (unsigned closid = 0; closid < num_closids(); closid++) {
      if (free_closids.contains(closid)) continue;
      const uint32_t mask = values.at(resource).at(id)[closid];
      if (mode_of(closid) == Mode::shareable) shared |= mask;
      if (mode_of(closid) == Mode::exclusive) exclusive |= mask;
    }
    out += fmt::format("{}{}=", out.empty() ? "" : ";", to_string(id));
    for (unsigned way = length_of(control.cbm_mask); way > 0; way--) {
      const uint32_t bit = 1U << (way - 1);
      const bool hardware = (devices & bit) != 0;
      const bool software = (shared & bit) != 0;
      if (hardware || software)
        out += hardware && software ? 'X' : hardware ? 'H' : 'S';
      else if ((exclusive & bit) != 0)
        out += 'E';
      else
        out += (locked_ways(resource, id).bits & bit) != 0 ? 'P' : '0';
    }
  }
  return out;
}

}  // namespace rdtd::fake
