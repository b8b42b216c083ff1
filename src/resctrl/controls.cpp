#include "controls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rdtd/base/text.hpp"
#include "rdtd/model/cbm.hpp"

namespace rdtd::resctrl {

void ControlReader::note(const Error& error) {
  if (!error_ && !is_absent(error)) error_ = error;
}

std::string ControlReader::text(const std::string& file) {
  const auto text = filesystem_.read(file);
  if (!text) note(text.error());
  return text ? std::string(trim(*text)) : std::string();
}

std::optional<uint32_t> ControlReader::number(const std::string& file, int base) {
  const std::string value = text(file);
  return parse_unsigned<uint32_t>(
      base == 16 && value.starts_with("0x") ? std::string_view(value).substr(2) : value, base);
}

std::vector<Filesystem::Entry> ControlReader::entries(const std::string& directory) {
  auto listed = filesystem_.list(directory);
  if (!listed) note(listed.error());
  return std::move(listed).value_or(std::vector<Filesystem::Entry>{});
}

// The kernel's documentation and its patches give the directory one of two names.
std::string ControlReader::generic_directory(std::string_view name) {
  if (!generic_) {
    generic_.emplace();
    for (const Filesystem::Entry& resource : entries("info"))
      for (const char* directory : {"resource_schemata", "schemata"}) {
        if (!resource.is_directory) continue;
        const std::string path = fmt::format("info/{}/{}", resource.name, directory);
        for (const Filesystem::Entry& control : entries(path))
          generic_->emplace(control.name, fmt::format("{}/{}/", path, control.name));
      }
  }
  const auto found = generic_->find(name);
  return found == generic_->end() ? std::string() : found->second;
}

std::optional<Resource> ControlReader::row(std::string_view name) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  if (name.empty() || name.size() > Resource::longest_name ||
      name.find_first_not_of(allowed) != std::string_view::npos)
    return std::nullopt;
  const std::string generic = generic_directory(name);
  const bool bitmap = generic.empty() ? !text(fmt::format("info/{}/cbm_mask", name)).empty()
                                      : text(generic + "type").starts_with("bitmap");
  return Resource(name, bitmap);
}

Control ControlReader::read(const Resource& row) {
  const std::string generic = generic_directory(row.name());
  const std::string plain = fmt::format("info/{}/", row.name());
  Control out = generic.empty() ? read_plain(row, plain) : read_generic(row, generic);
  out.num_closids = number(plain + "num_closids");
  if (!out.num_closids) out.num_closids = number(fmt::format("info/{}/num_closids", out.resource));
  return out;
}

Control ControlReader::read_generic(const Resource& row, const std::string& directory) {
  Control out;
  const int base = row.is_bitmap() ? 16 : 10;
  out.minimum = number(directory + "min", base);
  out.maximum = number(directory + "max", base);
  out.scale = std::max(1U, number(directory + "scale").value_or(1));
  out.resolution = std::max(1U, number(directory + "resolution").value_or(1));
  out.unit = text(directory + "unit");
  out.scope = text(directory + "scope");
  out.resource = split(directory, '/')[1];
  out.sparse = text(directory + "type").contains("sparse");
  out.min_bits = number(directory + "min_bits").value_or(0);
  return out;
}

// As MB and L3 have them: bandwidth_gran is there for percentages, and for AMD's rates, which are
// not linear by that file and whose unit it does not say. Those of a whole node count GB/s.
Control ControlReader::read_plain(const Resource& row, const std::string& directory) {
  Control out;
  if (row.is_bitmap()) {
    out.maximum = number(directory + "cbm_mask", 16);
    out.sparse = number(directory + "sparse_masks") == 1;
    out.min_bits = number(directory + "min_cbm_bits").value_or(0);
    return out;
  }
  const auto granularity = number(directory + "bandwidth_gran");
  if (!granularity) return out;
  out.granularity = std::max(1U, *granularity);
  out.minimum = number(directory + "min_bandwidth");
  // openEuler describes its priorities and its switch of the hard limit like this too.
  const bool is_amount = !row.name().ends_with("PRI") && !row.name().ends_with("HDL");
  if (is_amount && number(directory + "delay_linear") != 0) {
    out.unit = "percent";
  } else if (const bool slow = row.name() == "GSMBA"; slow || row.name() == "GMB") {
    out.unit = "GBps";
    out.resource = to_string(slow ? Resource::SMBA : Resource::MB);
  }
  return out;
}

}  // namespace rdtd::resctrl
