#include "observer_table.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd {

namespace {

constexpr std::chrono::microseconds shortest{200'000}, longest{60'000'000};
constexpr uint64_t least_record = 1 << 20, most_record = uint64_t{1} << 40;

// "64 MiB", "1GiB", "0"
std::optional<uint64_t> bytes_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, uint64_t>, 3> units = {
      {{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}};
  if (text == "0") return 0;
  for (const auto& [unit, bytes] : units)
    if (text.ends_with(unit)) {
      const auto count = parse_unsigned<uint32_t>(trim(text.substr(0, text.size() - unit.size())));
      return count ? std::optional(*count * bytes) : std::nullopt;
    }
  return std::nullopt;
}

}  // namespace

void ObserverReader::read(const FileReader& in, const toml::key& key, const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return in.wrong_type(key, node, "a table", "write [observer]");
  const auto once = [&](auto read_value) -> FileReader::Handler {
    return [&, read_value](const toml::key& k, const toml::node& n) {
      const auto [earlier, is_new] = set_.emplace(k.str(), in.at(k));
      if (!is_new)
        return in.error(in.at(k), fmt::format("'{}' in [observer] is set twice: here and in {}",
                                              k.str(), earlier->second.text()));
      (this->*read_value)(in, k, n);
    };
  };
  in.read_table(*table, "[observer]",
                {{"interval", once(&ObserverReader::read_interval)},
                 {"record", once(&ObserverReader::read_record)}});
}

void ObserverReader::read_interval(const FileReader& in, const toml::key& key,
                                   const toml::node& node) {
  if (node.is_number()) return in.wrong_type(key, node, "a string", "write \"1s\"");
  const auto text = in.string(key, node);
  if (!text) return;
  const auto span = parse_duration(text->value);
  if (!span) return in.error(text->where, span.error());
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
    return in.error(text->where, fmt::format("'{}' is not a size", text->value),
                    "write \"64 MiB\", or \"0\" to record nothing");
  if (*bytes != 0 && (*bytes < least_record || *bytes > most_record))
    return in.error(
        text->where,
        fmt::format("'record' must be from 1 MiB to 1024 GiB, or \"0\", not '{}'", text->value));
  settings_.record_bytes = *bytes;
}

}  // namespace rdtd
