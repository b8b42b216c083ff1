#include "rdtd/model/cpu_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <vector>

#include "rdtd/base/text.hpp"

namespace rdtd {

std::optional<CpuSet> parse_cpu_list(std::string_view text, size_t most) {
  const size_t most_listed = 4 * most;
  CpuSet cpus;
  size_t listed = 0;
  text = trim(text);
  if (text.empty()) return cpus;
  for (const std::string_view part : split(text, ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_unsigned<uint16_t>(trim(part.substr(0, dash)));
    const auto last = dash == std::string_view::npos
                          ? first
                          : parse_unsigned<uint16_t>(trim(part.substr(dash + 1)));
    if (!first || !last || *last < *first) return std::nullopt;
    // A list that names each CPU again and again is none.
    const size_t count = *last - *first + size_t{1};
    listed += count;
    if (count > most || listed > most_listed) return std::nullopt;
    for (unsigned cpu = *first; cpu <= *last; cpu++) cpus.insert(cpus.end(), cpu);
  }
  if (cpus.size() > most) return std::nullopt;
  return cpus;
}

std::optional<CpuSet> parse_cpu_list_with_exceptions(std::string_view text, size_t most) {
  constexpr size_t most_parts = 1024;
  const auto parts = split(text, ',');
  if (parts.size() > most_parts) return std::nullopt;
  std::string listed;
  std::vector<unsigned> excepted;
  for (std::string_view part : parts) {
    part = trim(part);
    if (!part.starts_with('^')) {
      listed += (listed.empty() ? "" : ",") + std::string(part);
    } else if (const auto cpu = parse_unsigned<uint16_t>(part.substr(1))) {
      excepted.push_back(*cpu);
    } else {
      return std::nullopt;
    }
  }
  auto out = parse_cpu_list(listed, most);
  if (out)
    for (const unsigned cpu : excepted) out->erase(cpu);
  return out;
}

std::string format_cpu_list(const CpuSet& cpus) {
  std::string out;
  for (auto it = cpus.begin(); it != cpus.end();) {
    const unsigned first = *it;
    unsigned last = first;
    while (++it != cpus.end() && *it == last + 1) last = *it;
    if (!out.empty()) out += ',';
    out += std::to_string(first);
    if (last != first) out += '-' + std::to_string(last);
  }
  return out;
}

std::string format_cpu_mask(const CpuSet& cpus) {
  constexpr unsigned bits = 32;
  std::vector<uint32_t> chunks(cpus.empty() ? 1 : *cpus.rbegin() / bits + 1);
  for (const unsigned cpu : cpus) chunks[cpu / bits] |= uint32_t{1} << cpu % bits;
  std::string out = fmt::format("{:x}", chunks.back());
  for (const uint32_t word : chunks | std::views::reverse | std::views::drop(1))
    out += fmt::format(",{:08x}", word);
  return out;
}

std::string cpus_text(const CpuSet& cpus) { return cpus.empty() ? "none" : format_cpu_list(cpus); }

CpuSet common(const CpuSet& a, const CpuSet& b) {
  CpuSet out;
  std::ranges::set_intersection(a, b, std::inserter(out, out.end()));
  return out;
}

CpuSet without(const CpuSet& a, const CpuSet& b) {
  CpuSet out;
  std::ranges::set_difference(a, b, std::inserter(out, out.end()));
  return out;
}

}  // namespace rdtd
