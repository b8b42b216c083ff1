#include "time_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ctime>
#include <optional>
#include <system_error>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd {

namespace {

constexpr uint64_t one_second = 1'000'000;

// `winter` and `summer`: local, by the name of one of them.
enum class Zone { local, winter, summer, utc };

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::tm fields_of(uint64_t usec, Zone zone) {
  const auto time = static_cast<std::time_t>(usec / one_second);
  std::tm out{};
  (void)(zone == Zone::utc ? ::gmtime_r(&time, &out) : ::localtime_r(&time, &out));
  return out;
}

uint64_t usec_of(std::tm fields, Zone zone) {
  fields.tm_isdst = zone == Zone::winter ? 0 : zone == Zone::summer ? 1 : -1;
  const std::time_t time = zone == Zone::utc ? ::timegm(&fields) : std::mktime(&fields);
  return time < 0 ? 0 : static_cast<uint64_t>(time) * one_second;
}

// Midnight, so many days from the day of `now`.
uint64_t midnight(uint64_t now_usec, int days, Zone zone) {
  std::tm fields = fields_of(now_usec, zone);
  fields.tm_hour = fields.tm_min = fields.tm_sec = 0;
  fields.tm_mday += days;
  return usec_of(fields, zone);
}

// The 30th of February would be a day of March.
bool is_date(const std::tm& fields) {
  std::tm day{};
  day.tm_year = fields.tm_year;
  day.tm_mon = fields.tm_mon;
  day.tm_mday = fields.tm_mday;
  const int given = day.tm_mday;
  (void)::timegm(&day);
  return day.tm_mday == given;
}

// A time of the calendar, without its zone; what it does not name is as in `day`. With a day of the
// week in front, as systemctl(1) prints it.
std::optional<uint64_t> calendar_time(const std::string& text, const std::tm& day, Zone zone) {
  std::tm ignored{};
  const char* rest = ::strptime(text.c_str(), "%a ", &ignored);
  if (rest == nullptr) rest = text.c_str();
  for (const char* format : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S",
                             "%Y-%m-%dT%H:%M", "%H:%M:%S", "%H:%M"}) {
    std::tm fields = day;
    const char* end = ::strptime(rest, format, &fields);
    if (end == nullptr || *end != '\0') continue;
    return is_date(fields) ? std::optional(usec_of(fields, zone)) : std::nullopt;
  }
  return std::nullopt;
}

// Takes "08:30:59.25" and "@5.25" apart: cuts the fraction of a second off, and returns it.
uint64_t take_fraction(std::string& text) {
  const size_t point = text.rfind('.');
  if (point == std::string::npos) return 0;
  const bool in_day = point >= 6 && text[point - 3] == ':' && text[point - 6] == ':';
  if (!in_day && !text.starts_with('@')) return 0;
  size_t end = point + 1;
  uint64_t usec = 0;
  for (uint64_t unit = one_second / 10; end < text.size() && is_digit(text[end]); ++end, unit /= 10)
    usec += unit * static_cast<uint64_t>(text[end] - '0');
  if (end == point + 1) return 0;
  text.erase(point, end - point);
  return usec;
}

// Cuts the name of a zone off the end. Only that of this machine, as systemctl(1) prints it, is
// known by name.
Zone take_zone(std::string& text) {
  ::tzset();
  for (const auto& [suffix, zone] : {std::pair(std::string(" UTC"), Zone::utc),
                                     {"Z", Zone::utc},
                                     {fmt::format(" {}", ::tzname[0]), Zone::winter},
                                     {fmt::format(" {}", ::tzname[1]), Zone::summer}})
    if (text.ends_with(suffix)) {
      text.resize(text.size() - suffix.size());
      return zone;
    }
  return Zone::local;
}

// "2026-11-26T08:30:00+01:00", as `date -Is` prints it.
std::optional<uint64_t> time_with_offset(const std::string& text) {
  std::tm fields{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S%z", &fields);
  if (end == nullptr || *end != '\0' || !is_date(fields)) return std::nullopt;
  const long east = fields.tm_gmtoff;  // which timegm(3) overwrites
  const auto utc = static_cast<int64_t>(usec_of(fields, Zone::utc) / one_second);
  return static_cast<uint64_t>(std::max<int64_t>(0, utc - east)) * one_second;
}

// The "1h" of "-1h", "+1h" and "1h ago".
std::string_view span_of(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+'))
    text.remove_prefix(1);
  else if (text.ends_with(" ago"))
    text.remove_suffix(4);
  return text;
}

// Spans of the calendar that a policy does not have: "3 months", as long as systemd.time(7) says.
std::optional<uint64_t> long_span(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) digits++;
  const auto number = parse_unsigned<uint32_t>(text.substr(0, digits));
  if (!number || *number > 1000) return std::nullopt;
  constexpr uint64_t day = 86'400 * one_second, month = day * 3044 / 100, year = day * 36525 / 100;
  const std::string_view unit = trim(text.substr(digits));
  for (const std::string_view name : {"M", "month", "months"})
    if (unit == name) return *number * month;
  for (const std::string_view name : {"y", "year", "years"})
    if (unit == name) return *number * year;
  return std::nullopt;
}

// "-1h", "1h ago", "1h", "+5min". A number without a unit is no time.
std::optional<uint64_t> relative_time(std::string_view text, uint64_t now_usec) {
  const bool ahead = text.starts_with('+');
  const std::string_view span = span_of(text);
  auto usec = long_span(span).value_or(0);
  if (usec == 0) {
    if (span == text && !is_span(text)) return std::nullopt;
    const auto length = parse_duration(span);
    if (!length) return std::nullopt;
    usec = static_cast<uint64_t>(length->count());
  }
  return ahead ? now_usec + usec : now_usec - std::min(now_usec, usec);
}

}  // namespace

bool is_span(std::string_view text) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  return std::ranges::any_of(text, is_letter) && parse_duration(text);
}

std::expected<uint64_t, std::string> parse_time(std::string_view given, uint64_t now_usec) {
  std::string text(trim(given));
  if (std::ranges::all_of(text, [](unsigned char c) { return std::isalpha(c) != 0; }))
    text = lower(text);
  if (text == "now") return now_usec;
  for (const auto& [word, days] : {std::pair("yesterday", -1), {"today", 0}, {"tomorrow", 1}})
    if (text == word) return midnight(now_usec, days, Zone::local);
  std::string calendar = text;
  const uint64_t fraction = take_fraction(calendar);
  if (text.starts_with('@'))
    if (const auto seconds = parse_unsigned<uint32_t>(std::string_view(calendar).substr(1)))
      return *seconds * one_second + fraction;
  if (const auto usec = relative_time(text, now_usec)) return *usec;
  if (const auto usec = time_with_offset(calendar)) return *usec + fraction;
  const Zone zone = take_zone(calendar);
  const std::tm day = fields_of(midnight(now_usec, 0, zone), zone);
  if (const auto usec = calendar_time(calendar, day, zone)) return *usec + fraction;
  const auto number = parse_unsigned<uint32_t>(text);
  if (const auto length = parse_duration(span_of(text));
      !number && !length && is_too_long(length.error()))
    return std::unexpected(length.error() + "; write a date");
  // "20261120"
  if (std::tm fields{}; number && text.size() == 8)
    if (const char* end = ::strptime(text.c_str(), "%Y%m%d", &fields);
        end != nullptr && *end == '\0' && is_date(fields) && text.starts_with("20"))
      return std::unexpected(fmt::format("'{0}' is not a time; did you mean \"{1}-{2}-{3}\"?",
                                         given, text.substr(0, 4), text.substr(4, 2),
                                         text.substr(6)));
  if (text.starts_with('/') || text.ends_with(".rec"))
    return std::unexpected(
        fmt::format("'{}' is not a time; a recording is named without an option", given));
  constexpr uint32_t year_of_seconds = 365 * 86'400;  // longer than anybody looks back
  return std::unexpected(fmt::format(
      "'{}' is not a time; write \"2026-11-26 08:30\", \"08:30\", \"-1h\" or \"yesterday\"{}",
      given,
      !number                     ? ""
      : *number > year_of_seconds ? fmt::format("; did you mean \"@{}\"?", text)
                                  : fmt::format("; did you mean \"{}s\"?", text)));
}

std::string time_text(uint64_t usec) {
  if (usec == 0) return "never";
  const std::tm local = fields_of(usec, Zone::local);
  std::array<char, 64> out{};
  (void)std::strftime(out.data(), out.size(), "%F %T", &local);
  return out.data();
}

std::string in_seconds(const std::string& word) {
  constexpr std::array<std::pair<std::string_view, double>, 8> units = {{{"s", 1},
                                                                         {"sec", 1},
                                                                         {"ms", 0.001},
                                                                         {"m", 60},
                                                                         {"min", 60},
                                                                         {"h", 3600},
                                                                         {"hours", 3600},
                                                                         {"seconds", 1}}};
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{}) return word;
  const std::string_view unit(end, static_cast<size_t>(word.data() + word.size() - end));
  for (const auto& [name, seconds] : units)
    if (unit == name) return fmt::format("{:g}", number * seconds);
  return word;
}

std::string span_text(uint64_t usec) {
  const uint64_t seconds = usec / one_second;
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

}  // namespace rdtd
