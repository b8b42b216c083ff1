#include "unit_in_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "amount_hints.hpp"
#include "amount_meant.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/amount.hpp"

namespace rdtd {

namespace {

struct Word {
  std::string_view words;  // with spaces between them
  std::string_view meaning;
};

constexpr auto resources = std::to_array<Word>({
    {"l3 llc cache l3cache cachel3", "l3"},
    {"l2 l2cache cachel2", "l2"},
    {"mb mba membw membandwidth memorybandwidth bandwidth bw throttling", "mb"},
});

// The unit that stands behind the number.
constexpr auto units_of_amounts = std::to_array<Word>({
    {"percent pct percentage", "%"},
    {"bytes", " B"},
    {"kb kib", " KiB"},
    {"mb mib", " MiB"},
    {"mbps", " MB/s"},
    {"gbps", " GB/s"},
});

// Words that say nothing more than the value does.
bool is_of_any_unit(std::string_view word) {
  return word.empty() ||
         is_one_of(word, {"quota", "reserve", "reserved", "alloc", "allocation", "cap", "throttle",
                          "rate", "size", "limit", "max", "maximum", "mask", "cbm", "bitmask",
                          "ways", "schema", "value", "amount"});
}

std::string_view meaning_in(std::span<const Word> rows, std::string_view word) {
  for (const Word& row : rows)
    for (const std::string_view one : split(row.words, ' '))
      if (one == word) return row.meaning;
  return {};
}

struct Parts {
  std::string_view resource;  // "l3", "l2", "mb"
  std::string_view unit;      // "" of any
};

// "l3" and "%" of "l3percent"; nothing of other words.
std::optional<Parts> parts_of_key(std::string_view word, bool is_unit) {
  for (size_t at = 2; at <= word.size(); at++) {
    const std::string_view resource = meaning_in(resources, word.substr(0, at));
    const std::string_view rest = word.substr(at);
    if (resource.empty()) continue;
    const std::string_view unit = meaning_in(units_of_amounts, rest);
    if (is_unit && !unit.empty()) return Parts{resource, unit};
    if (!is_unit && is_of_any_unit(rest)) return Parts{resource, {}};
  }
  return std::nullopt;
}

// The amount that the value stands for in this unit; "" if it is none.
std::string amount_in(std::string_view unit, const UnknownKey& unknown, bool is_cache) {
  const auto parses = [&](std::string_view text) {
    return is_cache ? parse_cache_amount(text).has_value()
                    : parse_bandwidth_amount(text).has_value();
  };
  std::string text = unknown.number.empty() ? std::string(unknown.text) : unknown.number;
  if (is_digits(text)) text += unit;
  if (parses(text)) return text;
  const auto meant = is_cache ? cache_amount_meant(text) : bandwidth_amount_meant(text);
  return meant.value_or("");
}

}  // namespace

// l3 = { "0" = "4 ways" } of l3_0 and l3_domain0.
static std::string hint_for_domain_in_key(const UnknownKey& unknown, std::string_view word,
                                          std::span<const std::string> keys) {
  const size_t end = word.find_last_not_of("0123456789") + 1;
  const std::string_view domain = word.substr(end);
  std::string_view resource = word.substr(0, end);
  for (const std::string_view noun : {"domain", "socket", "node", "numa", "cache", "id"})
    if (resource.ends_with(noun) && resource.size() > noun.size())
      resource.remove_suffix(noun.size());
  // The digit of "l3" is at its end too.
  const bool is_l = domain.size() > 1 && word.starts_with("l") && end == 1;
  const std::string_view key = meaning_in(resources, is_l ? word.substr(0, 2) : resource);
  const std::string number(is_l ? domain.substr(1) : domain);
  if (key.empty() || number.empty() || std::ranges::find(keys, key) == keys.end()) return {};
  const std::string amount = amount_in({}, unknown, key != "mb");
  return fmt::format("write {} = {{ \"{}\" = \"{}\" }}{}", key, number,
                     !amount.empty() ? amount
                     : key == "mb"   ? "50%"
                                     : "4 ways",
                     unknown.is_one_of_several ? ", one table for all domains" : "");
}

std::string hint_for_unit_in_key(const UnknownKey& unknown, std::string_view word,
                                 std::span<const std::string> keys, bool is_unit) {
  if (std::string hint = is_unit ? "" : hint_for_domain_in_key(unknown, word, keys); !hint.empty())
    return hint;
  const auto parts = parts_of_key(word, is_unit);
  if (!parts || std::ranges::find(keys, parts->resource) == keys.end()) return {};
  const auto number =
      parse_unsigned<uint64_t>(unknown.number.empty() ? unknown.text : unknown.number);
  const bool is_other = parts->resource == "mb" && parts->unit.empty() &&
                        is_other_percentage(word, number.value_or(UINT64_MAX));
  const std::string amount =
      is_other ? "" : amount_in(parts->unit, unknown, parts->resource != "mb");
  if (!amount.empty()) return fmt::format("write {} = \"{}\"", parts->resource, amount);
  return is_unit ? "" : did_you_mean(parts->resource);
}

}  // namespace rdtd
