#include "rdtd/policy/amount.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "amount_meant.hpp"
#include "rate_meant.hpp"
#include "characters.hpp"
#include "rdtd/base/text.hpp"
#include "ways_meant.hpp"

namespace rdtd {

namespace {

using Parsed = std::expected<Amount, AmountError>;
using Unit = std::pair<std::string_view, uint64_t>;

constexpr std::array<Unit, 3> binary_units = {
    {{"KiB", 1ULL << 10}, {"MiB", 1ULL << 20}, {"GiB", 1ULL << 30}}};
constexpr std::array<Unit, 3> decimal_units = {
    {{"KB", 1000}, {"MB", 1000'000}, {"GB", 1000'000'000}}};

// A number and a unit behind it: "6 MiB" or "6MiB". Nothing if the text does not end in one of the
// units.
template <size_t N>
std::optional<uint64_t> parse_quantity(std::string_view text, const std::array<Unit, N>& units) {
  for (const auto& [unit, factor] : units) {
    if (!text.ends_with(unit)) continue;
    const auto number = parse_decimal(trim(text.substr(0, text.size() - unit.size())));
    if (!number || *number * static_cast<double>(factor) > 1e18) return std::nullopt;
    return static_cast<uint64_t>(std::llround(*number * static_cast<double>(factor)));
  }
  return std::nullopt;
}

std::unexpected<AmountError> refused(std::string message, std::string hint = {}) {
  return std::unexpected(AmountError{std::move(message), std::move(hint)});
}

Parsed parse_percent(std::string_view text) {
  const auto number = parse_decimal(trim(text.substr(0, text.size() - 1)));
  if (!number)
    return refused(fmt::format("'{}' is not a percentage", text),
                   text.starts_with('-') ? fmt::format("write \"{}\"", trim(text.substr(1))) : "");
  if (*number > 100) return refused(fmt::format("'{}' is more than 100%", text), "write \"100%\"");
  if (*number <= 0) return refused(fmt::format("'{}' is not above 0%", text), "write \"1%\"");
  return Amount{Percent{*number}, std::string(text)};
}

// On the screen it looks like a correct amount.
Parsed with_no_break_space(std::string_view text, size_t at) {
  return refused(fmt::format("'{}' has {}", text, character_text(text.substr(at))),
                 "write an ordinary space");
}

// "4-7" or "4": the way numbers of "ways 4-7".
std::optional<Cbm> parse_way_range(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = parse_unsigned<unsigned>(trim(text.substr(0, dash)));
  const auto last = dash == std::string_view::npos
                        ? first
                        : parse_unsigned<unsigned>(trim(text.substr(dash + 1)));
  if (!first || !last || *last < *first || *last > 31) return std::nullopt;
  return Cbm::range(*first, *last - *first + 1);
}

Parsed amount(std::string_view text, Amount::Value value) {
  return Amount{value, std::string(text)};
}

// How much it is, if it can be compared with amounts of the same kind.
std::optional<double> size_of(const Amount::Value& value) {
  if (const auto* percent = std::get_if<Percent>(&value)) return percent->value;
  if (const auto* ways = std::get_if<WayCount>(&value)) return ways->count;
  if (const auto* bytes = std::get_if<Bytes>(&value)) return static_cast<double>(bytes->count);
  if (const auto* rate = std::get_if<Rate>(&value))
    return static_cast<double>(rate->bytes_per_second);
  return std::nullopt;
}

bool is_everything(const Amount::Value& value) {
  return std::holds_alternative<All>(value) || std::holds_alternative<Unlimited>(value);
}

constexpr std::string_view range_sign = "..";

// "1..6 ways" of "6..1 ways".
std::string turned_round(std::string_view first, std::string_view second) {
  const size_t end = std::min(second.find_first_not_of("0123456789."), second.size());
  const bool one_unit = parse_decimal(first).has_value();
  return fmt::format("{}..{}{}", one_unit ? second.substr(0, end) : second, first,
                     one_unit ? second.substr(end) : "");
}

// "1..6 ways": an amount without a unit has that of the other one.
Parsed parse_range(std::string_view text, Parsed (*parse)(std::string_view),
                   std::string_view example) {
  const size_t sign = text.find(range_sign);
  std::string_view first = trim(text.substr(0, sign));
  const std::string_view second = trim(text.substr(sign + range_sign.size()));
  std::string hint = fmt::format("write \"{}\"", example);
  if (second.find(range_sign) != std::string_view::npos)
    return refused(fmt::format("'{}' is not a range: it has more than two ends", text), hint);
  if (second.starts_with('.')) {
    const auto last = second.substr(std::min(second.find_first_not_of('.'), second.size()));
    return refused(
        fmt::format("'{}' is not a range: it has a dot too many", text),
        first.empty() || last.empty() ? hint : fmt::format("write \"{}..{}\"", first, last));
  }
  // "2..4" and "2 ways..4"
  if (!second.empty() && second.find_first_not_of("0123456789.") == std::string_view::npos) {
    const size_t digits = std::min(first.find_first_not_of("0123456789."), first.size());
    const std::string_view default_unit = parse == parse_cache_amount ? " ways" : "%";
    const std::string meant =
        fmt::format("{}..{}{}", first.substr(0, digits), second,
                    digits == first.size() ? default_unit : first.substr(digits));
    if (meant != text && parse_range(meant, parse, example))
      hint = fmt::format("write \"{}\"", meant);
  }
  const bool is_cache = parse == parse_cache_amount;
  // The number 0 is that of a way: no share and no bandwidth is none.
  constexpr size_t most_digits = 2;  // of the number of a way
  const bool is_number =
      !second.empty() && second.find_first_not_of("0123456789") == std::string_view::npos;
  if (is_cache && first == "0" && is_number) {
    if (second.size() <= most_digits && parse_unsigned<unsigned>(second).value_or(32) < 32)
      hint = fmt::format("write \"{}\"", named_ways_meant(text));
  } else if (const std::string_view from =
                 parse_decimal(first.substr(0, first.find_first_not_of("0123456789."))) == 0.0
                     ? ""
                     : first;
             from.empty() != second.empty()) {
    if (const auto meant =
            from.empty() ? range_below(second, is_cache) : amount_of_ends(from, "", is_cache))
      hint = fmt::format("write \"{}\"", *meant);
  }
  std::string completed(first);
  const size_t unit = std::min(second.find_first_not_of("0123456789."), second.size());
  if (parse_decimal(first) && unit == 0 && !second.empty())
    return refused(fmt::format("'{}' is not a range: '{}' has no unit", text, first), hint);
  if (parse_decimal(first)) completed += second.substr(unit);
  auto least = parse(completed), most = parse(second);
  for (const Parsed* end : {&least, &most})
    if (!*end)
      return refused(fmt::format("'{}' is not a range: {}", text, end->error().message), hint);
  const auto from = size_of(least->value), to = size_of(most->value);
  const bool same_kind = least->value.index() == most->value.index();
  if (!from || !(is_everything(most->value) || (to && same_kind)))
    return refused(fmt::format("'{}' is not a range: its ends are not two sizes of one kind", text),
                   fmt::format("write both in one unit, as in \"{}\"", example));
  if (to && *from > *to)
    return refused(fmt::format("'{}' is not a range: its first end is the larger one", text),
                   fmt::format("write \"{}\"", turned_round(first, second)));
  return Amount{most->value, std::string(text), least->value};
}

constexpr std::string_view no_variables = "a policy has no variables: write the amount itself";

// Of a shell, or of a template.
bool has_variable(std::string_view text) {
  return text.contains("${") || text.contains("{{") || text.starts_with('$');
}

}  // namespace

std::optional<AmountRange> bandwidth_range(const Amount& amount) {
  if (!amount.least) return std::nullopt;
  const bool percent = std::holds_alternative<Percent>(*amount.least);
  const auto least = size_of(*amount.least);
  const auto most = std::holds_alternative<Unlimited>(amount.value) && percent
                        ? std::optional(100.0)
                        : size_of(amount.value);
  if (!least || !most || *least >= *most) return std::nullopt;
  return AmountRange{*least, *most, percent};
}

bool is_within(const Amount& amount, const AmountRange& range) {
  constexpr double rounding = 0.001;
  const bool same_kind = range.percent ? std::holds_alternative<Percent>(amount.value)
                                       : std::holds_alternative<Rate>(amount.value);
  const auto size = size_of(amount.value);
  return same_kind && !amount.least && size && *size >= range.least * (1 - rounding) &&
         *size <= range.most * (1 + rounding);
}

// The answer to a text that is no amount of a cache, with what was probably meant.
static Parsed no_cache_amount(std::string_view text) {
  if (is_amount_of_other(text, true))
    return refused(fmt::format("'{}' is not a cache amount", text),
                   fmt::format("it is a bandwidth: write mb = \"{}\"", text));
  if (const auto table = domain_table_meant(text, true))
    return refused(fmt::format("'{}' is not a cache amount", text), "write " + *table);
  if (has_variable(text))
    return refused(fmt::format("'{}' is not a cache amount", text), std::string(no_variables));
  const auto meant = cache_amount_meant(text);
  if (const auto named = numbered_ways_meant(text); meant && named)
    return refused(
        fmt::format("'{}' is not a cache amount", text),
        fmt::format("write \"{}\" for exactly these ways, or \"{}\" for a number between", *named,
                    *meant));
  if (const auto whole = whole_ways_meant(text))
    return refused(fmt::format("'{}' is not a cache amount", text),
                   text.find_first_of(".,eE-") == std::string_view::npos
                       ? "a cache has at most 32 ways"
                       : fmt::format("a number of ways is whole: write \"{}\"", *whole));
  return refused(fmt::format("'{}' is not a cache amount", text),
                 meant ? fmt::format("write \"{}\"", *meant)
                       : "write \"40%\", \"4 ways\", \"ways 4-7\", \"6 MiB\", \"0xf0\" or \"all\"");
}

Parsed parse_cache_amount(std::string_view text) {
  text = trim(text);
  if (const size_t at = find_no_break_space(text); at != std::string_view::npos)
    return with_no_break_space(text, at);
  if (auto hint = instead_of_exclusive(text))
    return refused(fmt::format("'{}' is not a cache amount", text), *std::move(hint));
  if (text.find(range_sign) != std::string_view::npos && !text.starts_with("ways "))
    return parse_range(text, parse_cache_amount, "1..6 ways");
  const auto no_cache = [&] {
    return refused(fmt::format("'{}' is no cache at all: the minimum is 1 way", text),
                   "write \"1 way\"");
  };
  if (text == "none" || text == "nothing" || text == "zero" || text == "0") return no_cache();
  if (text == "all") return amount(text, All{});
  if (text == "remainder") return amount(text, Remainder{});
  if (text.ends_with('%')) {
    auto percent = parse_percent(text);
    if (percent) return percent;
    const auto meant = cache_amount_meant(text);
    if (const auto part = part_meant(text))
      percent.error().hint =
          fmt::format("write \"{}\" for as much of the cache{}", *part,
                      meant ? fmt::format(", or \"{}\" for a number between", *meant) : "");
    else if (meant)
      percent.error().hint = fmt::format("write \"{}\"", *meant);
    return percent;
  }
  if (text.starts_with("0x")) {
    const auto cbm = parse_cbm(text);
    if (!cbm) return refused(fmt::format("'{}' is not a mask of at most 32 bits", text));
    if (cbm->empty()) return refused(fmt::format("'{}' is a mask without any way", text));
    return amount(text, *cbm);
  }
  if (text.starts_with("ways ")) {
    const auto range = parse_way_range(text.substr(5));
    if (range) return amount(text, *range);
    return refused(fmt::format("'{}' is not a range of the ways 0 to 31", text),
                   fmt::format("write \"{}\"", named_ways_meant(text.substr(5))));
  }
  for (const std::string_view unit : {"ways", "way"}) {
    if (!text.ends_with(unit)) continue;
    const auto count = parse_unsigned<unsigned>(trim(text.substr(0, text.size() - unit.size())));
    if (!count) break;
    if (*count == 0) return no_cache();
    return amount(text, WayCount{*count});
  }
  if (const auto bytes = parse_quantity(text, binary_units)) {
    if (*bytes == 0) return no_cache();
    return amount(text, Bytes{*bytes});
  }
  return no_cache_amount(text);
}

Parsed parse_control_amount(std::string_view text) {
  text = trim(text);
  if (const size_t at = find_no_break_space(text); at != std::string_view::npos)
    return with_no_break_space(text, at);
  if (const auto number = parse_unsigned<uint32_t>(text)) return amount(text, Number{*number});
  // A share of nothing is one, unlike in a cache.
  if (text.ends_with('%') && parse_decimal(trim(text.substr(0, text.size() - 1))) == 0.0)
    return amount(text, Percent{0});
  if (text.starts_with("0x")) return parse_cache_amount(text);
  if (auto bandwidth = parse_bandwidth_amount(text)) return bandwidth;
  if (text.ends_with('%')) return parse_percent(text);
  return refused(fmt::format("'{}' is not an amount of a control", text),
                 "write 1, \"50%\", \"8 GB/s\", \"0xf0\" or \"unlimited\"");
}

Parsed parse_bandwidth_amount(std::string_view text) {
  text = trim(text);
  if (const size_t at = find_no_break_space(text); at != std::string_view::npos)
    return with_no_break_space(text, at);
  if (text.find(range_sign) != std::string_view::npos)
    return parse_range(text, parse_bandwidth_amount, "10%..100%");
  if (text == "unlimited") return amount(text, Unlimited{});
  if (text.ends_with('%')) {
    auto percent = parse_percent(text);
    if (percent) return percent;
    if (const auto forms = two_forms_meant(text))
      percent.error().hint = "write " + *forms;
    else if (const auto meant = bandwidth_amount_meant(text))
      percent.error().hint = fmt::format("write \"{}\"", *meant);
    return percent;
  }
  // "MBps" is how goresctrl writes it.
  if (text.ends_with("/s") || text.ends_with("Bps")) {
    const std::string_view quantity = trim(text.substr(0, text.size() - 2));
    auto rate = parse_quantity(quantity, binary_units);
    if (!rate) rate = parse_quantity(quantity, decimal_units);
    if (rate && *rate > 0) return amount(text, Rate{*rate});
    if (rate) return refused(fmt::format("'{}' is no bandwidth at all", text), "write \"1 MB/s\"");
  }
  if (const auto table = domain_table_meant(text, false))
    return refused(fmt::format("'{}' is not a bandwidth", text),
                   "write " + *table + rates_of_amd(text));
  if (has_variable(text))
    return refused(fmt::format("'{}' is not a bandwidth", text), std::string(no_variables));
  if (const auto forms = two_forms_meant(text))
    return refused(fmt::format("'{}' is not a bandwidth", text), "write " + *forms);
  if (is_amount_of_other(text, false))
    return refused(fmt::format("'{}' is not a bandwidth", text),
                   fmt::format("it is a part of a cache: write l3 = \"{}\"", text));
  if (auto hint = rate_without_unit_meant(text))
    return refused(fmt::format("'{}' is not a bandwidth", text), *std::move(hint));
  const auto meant = bandwidth_amount_meant(text);
  const auto number = parse_unsigned<uint32_t>(text);
  const bool is_share = meant && meant->ends_with('%') && !meant->contains("..") &&
                        !lower(text).contains("pe") && !lower(text).contains("pct");
  return refused(fmt::format("'{}' is not a bandwidth", text),
                 meant ? fmt::format("write \"{}\"{}", *meant,
                                     is_share && number ? "; " + rate_of_amd(*number)
                                     : is_share         ? std::string(rate_in_place_of_share)
                                                        : "")
                       : "write \"50%\", \"8 GB/s\", \"800 MiB/s\" or \"unlimited\"");
}

}  // namespace rdtd
