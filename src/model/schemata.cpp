#include "rdtd/model/schemata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rdtd/base/text.hpp"
#include "rdtd/model/cbm.hpp"
#include "rdtd/model/cpu_list.hpp"

namespace rdtd {

namespace {

std::unexpected<Error> bad(std::string_view line) {
  return std::unexpected(Error{"read schemata line", fmt::format("'{}'", line), 0, {}});
}

std::string value_text(const Resource& resource, uint32_t value) {
  return resource.is_bitmap() ? fmt::format("{:x}", value) : std::to_string(value);
}

std::optional<Resource> find_resource(std::string_view name, const std::set<Resource>& others) {
  if (const auto resource = parse_resource(name)) return resource;
  const auto other = std::ranges::find(others, name, &Resource::name);
  return other == others.end() ? std::nullopt : std::optional(*other);
}

std::optional<DomainValues> parse_values(const Resource& resource, std::string_view text) {
  DomainValues out;
  // So the kernel writes a resource of which no CPU has a domain.
  if (trim(text).empty()) return out;
  for (const std::string_view part : split(text, ';')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto id = parse_unsigned<uint32_t>(trim(part.substr(0, equals)));
    const std::string_view number = trim(part.substr(equals + 1));
    if (!id) return std::nullopt;
    if (!resource.is_bitmap()) {
      const auto value = parse_unsigned<uint32_t>(number);
      if (!value) return std::nullopt;
      out[DomainId{*id}] = *value;
    } else if (const auto mask = parse_cbm(number)) {  // of openEuler 5.10 "0x7fff"
      out[DomainId{*id}] = mask->bits;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace

Result<Schemata> parse_schemata(std::string_view text, const std::set<Resource>& others) {
  Schemata schemata;
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return bad(line);
    const auto resource = find_resource(trim(line.substr(0, colon)), others);
    if (!resource) continue;
    const auto values = parse_values(*resource, line.substr(colon + 1));
    if (!values && !others.contains(*resource)) return bad(line);
    if (values)
      for (const auto& [id, value] : *values) schemata[*resource][id] = value;
  }
  return schemata;
}

std::vector<std::string_view> row_names(std::string_view text) {
  std::vector<std::string_view> out;
  for (const std::string_view line : split(text, '\n'))
    if (!trim(line).empty()) out.push_back(trim(line.substr(0, line.find(':'))));
  return out;
}

std::string format_values(Resource resource, const DomainValues& values) {
  std::string out;
  for (const auto& [id, value] : values) {
    if (!out.empty()) out += ';';
    out += fmt::format("{}={}", to_string(id), value_text(resource, value));
  }
  return out;
}

std::vector<std::string> merged_domains(const std::map<DomainId, std::string>& values) {
  std::map<std::string, std::set<unsigned>> domains;
  for (const auto& [id, value] : values) domains[value].insert(static_cast<unsigned>(id));
  // The entry with the lowest domain comes first.
  std::map<unsigned, std::string> entries;
  for (const auto& [value, ids] : domains)
    entries[*ids.begin()] = fmt::format("{}={}", format_cpu_list(ids), value);
  std::vector<std::string> out;
  for (auto& [first, entry] : entries) out.push_back(std::move(entry));
  return out;
}

std::string format_values_merged(Resource resource, const DomainValues& values) {
  std::map<DomainId, std::string> texts;
  for (const auto& [id, value] : values) texts[id] = value_text(resource, value);
  return join(merged_domains(texts), ";");
}

std::string format_schemata(const Schemata& schemata) {
  std::string out;
  for (const auto& [resource, values] : schemata)
    out += fmt::format("{}:{}\n", to_string(resource), format_values(resource, values));
  return out;
}

std::vector<Schemata> split_schemata(const Schemata& schemata, size_t longest) {
  std::vector<Schemata> out;
  size_t size = 0;  // of the last part
  for (const auto& [resource, values] : schemata) {
    const size_t name = to_string(resource).size() + 1;
    for (const auto& [id, value] : values) {
      const size_t entry = format_values(resource, {{id, value}}).size() + 1;
      if (out.empty() || size + name + entry > longest) {
        out.emplace_back();
        size = 0;
      }
      DomainValues& row = out.back()[resource];
      size += entry + (row.empty() ? name : 0);
      row[id] = value;
    }
  }
  return out;
}

std::string schemata_line(const Schemata& schemata) {
  std::vector<std::string> parts;
  for (const auto& [resource, values] : schemata)
    parts.push_back(
        fmt::format("{}:{}", to_string(resource), format_values_merged(resource, values)));
  return join(parts, " ");
}

}  // namespace rdtd
