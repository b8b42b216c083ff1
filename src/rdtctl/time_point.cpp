#include "time_point.hpp"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <optional>

#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd {

namespace {

constexpr uint64_t second = 1'000'000;

std::tm local_time(uint64_t usec) {
  const auto time = static_cast<std::time_t>(usec / second);
  std::tm out{};
  (void)::localtime_r(&time, &out);
  return out;
}

uint64_t usec_of(std::tm local) {
  local.tm_isdst = -1;
  const std::time_t time = std::mktime(&local);
  return time < 0 ? 0 : static_cast<uint64_t>(time) * second;
}

// Midnight, so many days from the day of `now`.
uint64_t midnight(uint64_t now_usec, int days) {
  std::tm local = local_time(now_usec);
  local.tm_hour = local.tm_min = local.tm_sec = 0;
  local.tm_mday += days;
  return usec_of(local);
}

// The whole text by a format of strptime(3), what it does not name as in `base`.
std::optional<uint64_t> by_format(const std::string& text, const char* format, std::tm base) {
  const char* end = ::strptime(text.c_str(), format, &base);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return usec_of(base);
}

}  // namespace

std::expected<uint64_t, std::string> parse_time(std::string_view given, uint64_t now_usec) {
  const std::string text(trim(given));
  if (text == "now") return now_usec;
  if (text == "today") return midnight(now_usec, 0);
  if (text == "yesterday") return midnight(now_usec, -1);
  if (text.starts_with('@'))
    if (const auto seconds = parse_unsigned<uint32_t>(std::string_view(text).substr(1)))
      return *seconds * second;
  std::string_view span = text;
  const bool back = span.starts_with('-') || span.ends_with(" ago");
  if (span.starts_with('-'))
    span.remove_prefix(1);
  else if (back)
    span.remove_suffix(4);
  if (back)
    if (const auto length = parse_duration(span))
      return now_usec - std::min(now_usec, static_cast<uint64_t>(length->count()));
  const std::tm day = local_time(midnight(now_usec, 0));
  for (const char* format : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S",
                             "%H:%M:%S", "%H:%M"})
    if (const auto usec = by_format(text, format, day)) return *usec;
  return std::unexpected(fmt::format(
      "'{}' is no time; write \"2026-11-26 08:30\", \"08:30\", \"-1h\" or \"yesterday\"", given));
}

std::string time_text(uint64_t usec) {
  if (usec == 0) return "never";
  const std::tm local = local_time(usec);
  std::array<char, 64> out{};
  (void)std::strftime(out.data(), out.size(), "%F %T", &local);
  return out.data();
}

std::string span_text(uint64_t usec) {
  const uint64_t seconds = usec / second;
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

}  // namespace rdtd
