#include "rate_meant.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "rdtd/base/text.hpp"

namespace rdtd {

// `schemata` has such numbers: MiB/s with the mount option mba_MBps, 1/8 GB/s on AMD's processors.
std::optional<std::string> rate_without_unit_meant(std::string_view text) {
  constexpr uint32_t whole = 100;
  const auto number = parse_unsigned<uint32_t>(text);
  if (!number || *number <= whole) return std::nullopt;
  return fmt::format("add a unit: \"{} MiB/s\", or of AMD's schemata \"{:.4g} GB/s\"", *number,
                     *number / 8.0);
}

static constexpr std::string_view decimal_digits = "0123456789";

// That of "0,500 GB/s" and "1,500 GB/s": no memory has thousands of GB/s.
static bool is_decimal_comma(std::string_view text, size_t at) {
  constexpr size_t digits_behind = 3;
  const std::string_view unit = trim(text.substr(at + 1 + digits_behind));
  return text[at] == ',' && text.find_first_not_of(decimal_digits) == at &&
         (text.starts_with("0,") || unit.starts_with('g') || unit.starts_with('t'));
}

std::string plain_rate(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> words = {{
      {" per second", "/s"},
      {"/second", "/s"},
      {" / ", "/"},
      {" each", ""},
      {"gigabytes", "gb"},
      {"megabytes", "mb"},
      {"gbytes", "gb"},
  }};
  std::string out(text);
  for (const auto& [word, meant] : words)
    if (const size_t at = out.find(word); at != std::string::npos)
      out.replace(at, word.size(), meant);
  // Thousands: three digits behind the sign.
  for (size_t at = 1; at + 3 < out.size(); at++) {
    if (!std::string_view(",_' ").contains(out[at]) || !decimal_digits.contains(out[at - 1]) ||
        out.find_first_not_of(decimal_digits, at + 1) != at + 4)
      continue;
    if (is_decimal_comma(out, at)) {
      const size_t last = out.find_last_not_of('0', at + 3);
      out.replace(at, 4, last == at ? "" : "." + out.substr(at + 1, last - at));
    } else {
      out.erase(at, 1);
    }
  }
  return out;
}

std::string rate_of_amd(int64_t eighths) {
  return fmt::format("on AMD's processors, {} is \"{:.4g} GB/s\"", eighths,
                     static_cast<double>(eighths) / 8);
}

std::string rates_of_amd(std::string_view values) {
  const size_t sign = values.find('=');
  const auto number =
      sign == std::string_view::npos
          ? std::nullopt
          : parse_unsigned<uint32_t>(trim(values.substr(sign + 1, values.find(';') - sign - 1)));
  return number ? "; " + rate_of_amd(*number) : "";
}

}  // namespace rdtd
