#include "rdtd/observe/schemata_text.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rdtd/base/text.hpp"

namespace rdtd::observe {

SchemataText::SchemataText(std::string text) : text_(std::move(text)) {
  for (const std::string_view row : split(text_, ' ')) {
    const size_t colon = row.find(':');
    if (colon == std::string_view::npos) continue;
    for (const std::string_view entry : split(row.substr(colon + 1), ';'))
      append(row.substr(0, colon), entry);
  }
  std::ranges::stable_sort(entries_, {}, [this](const Entry& entry) {
    return std::pair(text_of(entry.row), entry.first);
  });
  // The kernel names no domain twice. A file may: then the first one counts.
  std::vector<Entry> kept;
  for (const Entry& entry : entries_)
    if (kept.empty() || text_of(kept.back().row) != text_of(entry.row) ||
        kept.back().last < entry.first)
      kept.push_back(entry);
  kept.shrink_to_fit();
  entries_ = std::move(kept);
}

SchemataText::Part SchemataText::part_of(std::string_view text) const {
  return {static_cast<uint32_t>(text.data() - text_.data()), static_cast<uint32_t>(text.size())};
}

// "0-3,8=ff"
void SchemataText::append(std::string_view row, std::string_view entry) {
  const size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return;
  for (const std::string_view range : split(entry.substr(0, equals), ',')) {
    const size_t dash = range.find('-');
    const auto first = parse_unsigned<uint32_t>(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_unsigned<uint32_t>(range.substr(dash + 1));
    if (first && last && *first <= *last)
      entries_.push_back({part_of(row), part_of(entry.substr(equals + 1)), *first, *last});
  }
}

std::string_view SchemataText::value(std::string_view resource, DomainId domain) const {
  const auto id = static_cast<uint32_t>(domain);
  const auto after = std::ranges::upper_bound(
      entries_, std::pair(resource, id), {},
      [this](const Entry& entry) { return std::pair(text_of(entry.row), entry.first); });
  if (after == entries_.begin()) return "";
  const Entry& entry = *std::prev(after);
  return text_of(entry.row) == resource && id <= entry.last ? text_of(entry.value) : "";
}

std::set<DomainId> SchemataText::domains(std::string_view row) const {
  constexpr size_t most = 256;
  std::set<DomainId> out;
  for (const Entry& entry : std::ranges::equal_range(
           entries_, row, {}, [this](const Entry& one) { return text_of(one.row); }))
    for (uint64_t id = entry.first; id <= entry.last && out.size() < most; ++id)
      out.insert(out.end(), DomainId{static_cast<uint32_t>(id)});
  return out;
}

std::optional<uint64_t> SchemataText::ways(const std::string& resource, DomainId domain) const {
  std::optional<uint64_t> out;
  for (const char* suffix : {"", "CODE", "DATA"})
    if (const auto mask = parse_unsigned<uint64_t>(value(resource + suffix, domain), 16))
      out = out.value_or(0) | *mask;
  return out;
}

}  // namespace rdtd::observe
