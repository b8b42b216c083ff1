#include "id_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

std::expected<uint32_t, std::string> parse_id(std::string_view text, uint32_t highest) {
  text = trim(text);
  if (text.empty()) return std::unexpected("a number is missing");
  if (text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::unexpected(fmt::format("'{}' is not a number", text));
  const auto id = parse_unsigned<uint32_t>(text);
  if (!id || *id > highest)
    return std::unexpected(fmt::format("the highest number is {}", highest));
  return *id;
}

}  // namespace

std::expected<IdList, std::string> parse_id_list(std::string_view text, uint32_t highest) {
  if (trim(text).empty()) return std::unexpected("it is empty");
  std::vector<IdRange> ranges;
  for (const std::string_view part : split(text, ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_id(part.substr(0, dash), highest);
    if (!first) return std::unexpected(first.error());
    const auto last =
        dash == std::string_view::npos ? first : parse_id(part.substr(dash + 1), highest);
    if (!last) return std::unexpected(last.error());
    if (*last < *first)
      return std::unexpected(fmt::format("the range '{}' ends before it begins", trim(part)));
    ranges.push_back({*first, *last});
  }
  return merge_ids(std::move(ranges));
}

std::optional<std::string> id_list_meant(std::string_view text, uint32_t highest) {
  constexpr size_t longest_list = 64;
  if (text.size() > longest_list) return std::nullopt;
  std::string list(trim(text));
  // Behind a range it is a stride.
  if (list.find_first_of("-.:") == std::string::npos) std::ranges::replace(list, '/', ',');
  for (const auto& [sign, meant] : {std::pair{"..", "-"},
                                    {" to ", "-"},
                                    {"\u2013", "-"},
                                    {" - ", "-"},
                                    {":", "-"},
                                    {" and ", ","},
                                    {"; ", ","},
                                    {";", ","},
                                    {", ", ","},
                                    {" ", ","}})
    for (size_t at = list.find(sign); at != std::string::npos; at = list.find(sign))
      list.replace(at, std::string_view(sign).size(), meant);
  if (list == text || !parse_id_list(list, highest)) return std::nullopt;
  return list;
}

IdList merge_ids(std::vector<IdRange> ranges) {
  std::ranges::sort(ranges, {}, &IdRange::first);
  IdList merged;
  for (const IdRange range : ranges)
    if (merged.empty() || range.first > uint64_t{merged.back().last} + 1)
      merged.push_back(range);
    else
      merged.back().last = std::max(merged.back().last, range.last);
  return merged;
}

std::optional<IdRange> first_missing(const IdList& ids, const IdList& among) {
  auto part = among.begin();
  for (const IdRange range : ids) {
    while (part != among.end() && part->last < range.first) ++part;
    if (part == among.end() || part->first > range.first)
      return IdRange{range.first,
                     part == among.end() ? range.last : std::min(range.last, part->first - 1)};
    if (part->last >= range.last) continue;
    const auto next = std::next(part);
    return IdRange{part->last + 1,
                   next == among.end() ? range.last : std::min(range.last, next->first - 1)};
  }
  return std::nullopt;
}

uint64_t count_ids(const IdList& ids) {
  uint64_t count = 0;
  for (const IdRange range : ids) count += uint64_t{range.last} - range.first + 1;
  return count;
}

std::string to_string(IdRange range) {
  return range.first == range.last ? std::to_string(range.first)
                                   : fmt::format("{}-{}", range.first, range.last);
}

}  // namespace rdtd
