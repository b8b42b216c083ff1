#include "rdtd/policy/amount.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "amount_meant.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

using Parsed = std::expected<Amount, AmountError>;
using Unit = std::pair<std::string_view, uint64_t>;

constexpr std::array<Unit, 3> binary_units = {
    {{"KiB", 1ULL << 10}, {"MiB", 1ULL << 20}, {"GiB", 1ULL << 30}}};
constexpr std::array<Unit, 3> decimal_units = {
    {{"KB", 1000}, {"MB", 1000'000}, {"GB", 1000'000'000}}};

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0))
    return std::nullopt;
  return value;
}

// A number and a unit behind it: "6 MiB" or "6MiB". Nothing if the text does not end in one of the
// units.
template <size_t N>
std::optional<uint64_t> parse_quantity(std::string_view text, const std::array<Unit, N>& units) {
  for (const auto& [unit, factor] : units) {
    if (!text.ends_with(unit)) continue;
    const auto number = parse_number(trim(text.substr(0, text.size() - unit.size())));
    if (!number || *number * static_cast<double>(factor) > 1e18) return std::nullopt;
    return static_cast<uint64_t>(std::llround(*number * static_cast<double>(factor)));
  }
  return std::nullopt;
}

std::unexpected<AmountError> refused(std::string message, std::string hint = {}) {
  return std::unexpected(AmountError{std::move(message), std::move(hint)});
}

Parsed parse_percent(std::string_view text) {
  const auto number = parse_number(trim(text.substr(0, text.size() - 1)));
  if (!number) return refused(fmt::format("'{}' is not a percentage", text));
  if (*number > 100) return refused(fmt::format("'{}' is more than 100%", text));
  if (*number <= 0) return refused(fmt::format("'{}' is not above 0%", text));
  return Amount{Percent{*number}, std::string(text)};
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

Parsed amount(std::string_view text, decltype(Amount::value) value) {
  return Amount{value, std::string(text)};
}

}  // namespace

Parsed parse_cache_amount(std::string_view text) {
  text = trim(text);
  const auto no_cache = [&] {
    return refused(fmt::format("'{}' is no cache at all: the minimum is 1 way", text));
  };
  if (text == "all") return amount(text, All{});
  if (text == "remainder") return amount(text, Remainder{});
  if (text.ends_with('%')) return parse_percent(text);
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
                   "write \"ways 4-7\"");
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
  if (const auto table = domain_table_meant(text, true))
    return refused(fmt::format("'{}' is not a cache amount", text), "write " + *table);
  const auto meant = cache_amount_meant(text);
  return refused(fmt::format("'{}' is not a cache amount", text),
                 meant ? fmt::format("write \"{}\"", *meant)
                       : "write \"40%\", \"4 ways\", \"ways 4-7\", \"6 MiB\", \"0xf0\" or \"all\"");
}

Parsed parse_bandwidth_amount(std::string_view text) {
  text = trim(text);
  if (text == "unlimited") return amount(text, Unlimited{});
  if (text.ends_with('%')) return parse_percent(text);
  if (text.ends_with("/s")) {
    const std::string_view quantity = trim(text.substr(0, text.size() - 2));
    auto rate = parse_quantity(quantity, binary_units);
    if (!rate) rate = parse_quantity(quantity, decimal_units);
    if (rate && *rate > 0) return amount(text, Rate{*rate});
  }
  if (const auto table = domain_table_meant(text, false))
    return refused(fmt::format("'{}' is not a bandwidth", text), "write " + *table);
  const auto meant = bandwidth_amount_meant(text);
  return refused(fmt::format("'{}' is not a bandwidth", text),
                 meant ? fmt::format("write \"{}\"", *meant)
                       : "write \"50%\", \"8 GB/s\", \"800 MiB/s\" or \"unlimited\"");
}

}  // namespace rdtd
