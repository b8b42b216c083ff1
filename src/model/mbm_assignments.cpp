#include "rdtd/model/mbm_assignments.hpp"

#include <fmt/format.h>

#include <functional>
#include <vector>

#include "rdtd/base/text.hpp"
#include "rdtd/model/schemata.hpp"

namespace rdtd {

namespace {

// "0=6;1=6".
void for_each_domain(std::string_view text,
                     const std::function<void(DomainId, std::string_view)>& visit) {
  for (const std::string_view part : split(text, ';')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    if (const auto id = parse_unsigned<uint32_t>(trim(part.substr(0, equals))))
      visit(DomainId{*id}, trim(part.substr(equals + 1)));
  }
}

std::string_view state_text(bool assigned) { return assigned ? "e" : "_"; }

}  // namespace

MbmAssignments parse_mbm_assignments(std::string_view text) {
  MbmAssignments out;
  for (const std::string_view line : split(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    auto& domains = out[std::string(trim(line.substr(0, colon)))];
    for_each_domain(line.substr(colon + 1), [&](DomainId domain, std::string_view state) {
      domains[domain] = state != state_text(false);
    });
  }
  return out;
}

std::string format_mbm_assignment(std::string_view event, const std::map<DomainId, bool>& domains) {
  std::vector<std::string> parts;
  for (const auto& [domain, assigned] : domains)
    parts.push_back(fmt::format("{}={}", to_string(domain), state_text(assigned)));
  return fmt::format("{}:{}", event, join(parts, ";"));
}

std::string mbm_assignments_line(const MbmAssignments& assignments) {
  std::vector<std::string> parts;
  for (const auto& [event, domains] : assignments) {
    std::map<DomainId, std::string> states;
    for (const auto& [domain, assigned] : domains) states.emplace(domain, state_text(assigned));
    parts.push_back(fmt::format("{}:{}", event, join(merged_domains(states), ";")));
  }
  return join(parts, " ");
}

std::map<DomainId, unsigned> parse_mbm_counters(std::string_view text) {
  std::map<DomainId, unsigned> out;
  for_each_domain(text, [&](DomainId domain, std::string_view number) {
    if (const auto count = parse_unsigned<unsigned>(number)) out[domain] = *count;
  });
  return out;
}

}  // namespace rdtd
