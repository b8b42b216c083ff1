#include "pqos_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "rdtd/base/text.hpp"

namespace rdtd::pqos {

namespace {

std::optional<unsigned> parse_id(std::string_view text) {
  const auto number = parse_number(trim(text));
  if (!number || *number > std::numeric_limits<unsigned>::max()) return std::nullopt;
  return static_cast<unsigned>(*number);
}

}  // namespace

std::optional<Entry> parse_entry(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  Entry out;
  out.classes = text.substr(colon + 1);
  std::string_view what = text.substr(0, colon);
  if (const size_t at = what.find('@'); at != std::string_view::npos) {
    out.domains = trim(what.substr(at + 1));
    what = what.substr(0, at);
  }
  out.what = lower(trim(what));
  return out;
}

std::optional<Class> parse_class(std::string_view text) {
  const size_t sign = text.find('=');
  if (sign == std::string_view::npos) return std::nullopt;
  Class out;
  out.value = trim(text.substr(sign + 1));
  std::string number = lower(trim(text.substr(0, sign)));
  if (number.ends_with('c') || number.ends_with('d')) {
    out.half = number.ends_with('c') ? "code" : "data";
    number.pop_back();
  }
  const auto parsed = parse_id(number);
  if (!parsed) return std::nullopt;
  out.number = *parsed;
  return out;
}

std::optional<uint64_t> parse_number(std::string_view text) {
  const std::string number = lower(text);
  if (!number.starts_with("0x")) return parse_unsigned<uint64_t>(number);
  return parse_unsigned<uint64_t>(std::string_view(number).substr(2), 16);
}

std::string rate_of(uint64_t eighths) {
  return fmt::format("{} GB/s", static_cast<double>(eighths) / 8);
}

std::string amount_of(const std::string& what, uint64_t value) {
  constexpr uint64_t most_percent = 100;
  if (what == "llc" || what == "l3" || what == "l2") return fmt::format("0x{:x}", value);
  // It is written as it is, and the kernel's MBps are MiB/s.
  if (what == "mba_max") return fmt::format("{} MiB/s", value);
  if (what == "smba" || value > most_percent) return rate_of(value);
  return fmt::format("{}%", value);
}

std::optional<std::string> canonical_list(std::string_view list) {
  std::vector<std::string> out;
  for (const std::string_view part : split(list, ',')) {
    if (trim(part).empty()) continue;
    const size_t dash = part.find('-');
    const auto first = parse_id(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_id(part.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    out.push_back(dash == std::string_view::npos
                      ? fmt::format("{}", *first)
                      : fmt::format("{}-{}", std::min(*first, *last), std::max(*first, *last)));
  }
  return join(out, ",");
}

const std::map<std::string, std::string>& keys_of_amounts() {
  static const std::map<std::string, std::string> keys = {{"llc", "l3"},     {"l3", "l3"},
                                                          {"l2", "l2"},      {"mba", "mb"},
                                                          {"mba_max", "mb"}, {"smba", "smba"}};
  return keys;
}

bool is_entry(std::string_view word, bool defines) {
  static const std::set<std::string, std::less<>> assigned = {"core", "llc", "cos",    "clos",
                                                              "pid",  "dev", "channel"};
  const auto entry = parse_entry(word);
  if (!entry) return false;
  if (!(defines ? keys_of_amounts().contains(entry->what) : assigned.contains(entry->what)))
    return false;
  return parse_class(std::string_view(entry->classes).substr(0, entry->classes.find(',')))
      .has_value();
}

}  // namespace rdtd::pqos
