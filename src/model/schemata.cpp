#include "rdtd/model/schemata.hpp"

#include <fmt/format.h>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

std::unexpected<Error> bad(std::string_view line) {
  return std::unexpected(Error{"read schemata line", fmt::format("'{}'", line), 0, {}});
}

}  // namespace

Result<Schemata> parse_schemata(std::string_view text) {
  Schemata schemata;
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return bad(line);
    const auto resource = parse_resource(trim(line.substr(0, colon)));
    if (!resource) continue;
    DomainValues& values = schemata[*resource];
    for (const std::string_view part : split(line.substr(colon + 1), ';')) {
      const size_t equals = part.find('=');
      if (equals == std::string_view::npos) return bad(line);
      const auto id = parse_unsigned<uint32_t>(trim(part.substr(0, equals)));
      const auto value =
          parse_unsigned<uint32_t>(trim(part.substr(equals + 1)), is_cache(*resource) ? 16 : 10);
      if (!id || !value) return bad(line);
      values[DomainId{*id}] = *value;
    }
  }
  return schemata;
}

std::string format_values(Resource resource, const DomainValues& values) {
  std::string out;
  for (const auto& [id, value] : values) {
    if (!out.empty()) out += ';';
    out += is_cache(resource) ? fmt::format("{}={:x}", to_string(id), value)
                              : fmt::format("{}={}", to_string(id), value);
  }
  return out;
}

std::string format_schemata(const Schemata& schemata) {
  std::string out;
  for (const auto& [resource, values] : schemata)
    out += fmt::format("{}:{}\n", to_string(resource), format_values(resource, values));
  return out;
}

std::string schemata_line(const Schemata& schemata) {
  std::vector<std::string> parts;
  for (const auto& [resource, values] : schemata)
    parts.push_back(fmt::format("{}:{}", to_string(resource), format_values(resource, values)));
  return join(parts, " ");
}

}  // namespace rdtd
