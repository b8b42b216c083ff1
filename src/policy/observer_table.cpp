#include "observer_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd {

namespace {

constexpr std::chrono::microseconds shortest{200'000}, longest{60'000'000};
constexpr uint64_t least_record = 1 << 20, most_record = uint64_t{1} << 40;

// "64 MiB", "1.5GiB", "0"
std::optional<uint64_t> bytes_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, uint64_t>, 3> units = {
      {{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}};
  if (text == "0") return 0;
  for (const auto& [unit, bytes] : units)
    if (text.ends_with(unit)) {
      const auto count = parse_decimal(trim(text.substr(0, text.size() - unit.size())));
      if (!count) return std::nullopt;
      // More than the most is refused, however much more it is.
      const double all = *count * static_cast<double>(bytes);
      return static_cast<uint64_t>(std::llround(std::min(all, 2.0 * most_record)));
    }
  return std::nullopt;
}

// "100 MiB" for "100 MB", "100m" and "104857600".
std::string size_meant(std::string_view text) {
  constexpr const char* any = "64 MiB";
  constexpr uint64_t most_count = uint64_t{1} << 50;
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = parse_unsigned<uint64_t>(text.substr(0, digits));
  std::string unit = lower(trim(text.substr(digits)));
  if (!count || *count > most_count) return any;
  for (const std::string_view end : {"bytes", "byte", "ib", "b", "i"})
    if (unit.ends_with(end)) {
      unit.resize(unit.size() - end.size());
      break;
    }
  std::string meant;
  if (unit.empty()) meant = fmt::format("{} MiB", *count >> 20);
  if (unit == "k") meant = fmt::format("{} KiB", *count);
  if (unit == "m") meant = fmt::format("{} MiB", *count);
  if (unit == "g") meant = fmt::format("{} GiB", *count);
  if (unit == "t") meant = fmt::format("{} GiB", *count * 1024);
  const auto bytes = bytes_of(meant);
  return bytes && *bytes >= least_record && *bytes <= most_record ? meant : any;
}

}  // namespace

std::string_view to_string(GuardMode mode) {
  constexpr std::array<std::string_view, 3> names = {"off", "shadow", "on"};
  return names.at(static_cast<size_t>(mode));
}

void ObserverReader::read(const FileReader& in, const toml::key& key, const toml::node& node) {
  observer_table_.read(
      in, key, node,
      {{"interval", [&](const auto& k, const auto& n) { read_interval(in, k, n); }},
       {"record", [&](const auto& k, const auto& n) { read_record(in, k, n); }}});
}

void ObserverReader::read_guard(const FileReader& in, const toml::key& key,
                                const toml::node& node) {
  const auto read_mode = [&](const auto& k, const auto& n) {
    if (n.is_boolean())
      return in.wrong_type(k, n, "a string",
                           n.template value_or<bool>(false) ? "write \"on\"" : "write \"off\"");
    const auto mode = guard_table_.choice<GuardMode>(
        in, k, n, {{"off", GuardMode::off}, {"shadow", GuardMode::shadow}, {"on", GuardMode::on}},
        {{"live enforce enforcing active enabled enable auto yes true", "on"},
         {"dry-run dryrun observe log warn report simulate audit", "shadow"},
         {"disabled disable none no false never", "off"}});
    if (!mode) return;
    guard_.mode = *mode;
    guard_.where = in.at(n);
  };
  guard_table_.read(in, key, node,
                    {{"mode", read_mode},
                     {"traffic", [&](const auto& k, const auto& n) { read_traffic(in, k, n); }}});
}

void ObserverReader::read_interval(const FileReader& in, const toml::key& key,
                                   const toml::node& node) {
  const auto written = [](std::string_view text) {
    return fmt::format("write \"{}\"", duration_meant(text, shortest, longest).value_or("1s"));
  };
  if (const auto number = node.value<double>(); number && node.is_number())
    return in.wrong_type(key, node, "a string", written(fmt::format("{}", *number)));
  const auto text = in.string(key, node);
  if (!text) return;
  const auto span = parse_duration(text->value);
  if (!span)
    return in.error(text->where, fmt::format("'{}' is not a time span", text->value),
                    written(text->value));
  if (*span < shortest || *span > longest)
    return in.error(text->where,
                    fmt::format("'interval' must be from 200ms to 60s, not '{}'", text->value));
  settings_.interval = *span;
}

void ObserverReader::read_record(const FileReader& in, const toml::key& key,
                                 const toml::node& node) {
  if (node.is_number() || node.is_boolean())
    return in.wrong_type(key, node, "a string", "write \"64 MiB\", or \"0\" to record nothing");
  const auto text = in.string(key, node);
  if (!text) return;
  const auto bytes = bytes_of(trim(text->value));
  if (!bytes)
    return in.error(
        text->where, fmt::format("'{}' is not a size", text->value),
        fmt::format("write \"{}\", or \"0\" to record nothing", size_meant(trim(text->value))));
  if (*bytes != 0 && (*bytes < least_record || *bytes > most_record))
    return in.error(
        text->where,
        fmt::format("'record' must be from 1 MiB to 1024 GiB, or \"0\", not '{}'", text->value));
  settings_.record_bytes = *bytes;
}

// A tenth below it, the guard gives back: so it cannot be lower than that.
void ObserverReader::read_traffic(const FileReader& in, const toml::key& key,
                                  const toml::node& node) {
  constexpr const char* hint = "write \"80%\": of the most traffic that a domain can carry";
  if (node.is_number()) return in.wrong_type(key, node, "a string", hint);
  const auto text = in.string(key, node);
  if (!text) return;
  const auto amount = parse_bandwidth_amount(text->value);
  const Percent* percent = amount ? std::get_if<Percent>(&amount->value) : nullptr;
  if (percent == nullptr || amount->least || percent->value < 20)
    return in.error(text->where,
                    fmt::format("'traffic' must be from 20% to 100%, not '{}'", text->value), hint);
  guard_.traffic = percent->value / 100;
}

}  // namespace rdtd
