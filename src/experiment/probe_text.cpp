#include "rdtd/base/text.hpp"
#include "rdtd/experiment/probe.hpp"

namespace rdtd::experiment {

namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};

// A number and one of the units, if it is within the bounds.
std::optional<uint64_t> scaled(std::string_view text, std::initializer_list<Unit> units,
                               uint64_t least, uint64_t most) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    const auto number = parse_unsigned<uint32_t>(text.substr(0, text.size() - unit.name.size()));
    if (!number) continue;
    const uint64_t value = *number * unit.factor;
    return value >= least && value <= most ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Probe> parse_probe(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  Probe probe;
  if (name != "latency" && name != "timer") return std::nullopt;
  probe.kind = name == "latency" ? Probe::Kind::latency : Probe::Kind::timer;
  if (colon == std::string_view::npos) return probe;
  const std::string_view amount = text.substr(colon + 1);
  const bool latency = probe.kind == Probe::Kind::latency;
  const auto value =
      latency ? scaled(amount, {{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}}, 4 << 10, 4UL << 30)
              : scaled(amount, {{"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}, 50'000,
                       1'000'000'000);
  if (!value) return std::nullopt;
  (latency ? probe.size : probe.period) = *value;
  return probe;
}

std::optional<unsigned> parse_noise(std::string_view text) {
  if (text == "stream") return 1;
  if (!text.starts_with("stream:")) return std::nullopt;
  const auto number = parse_unsigned<unsigned>(text.substr(text.find(':') + 1));
  return number && *number >= 1 && *number <= 64 ? number : std::nullopt;
}

}  // namespace rdtd::experiment
