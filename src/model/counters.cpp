#include "rdtd/model/counters.hpp"

#include <array>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr std::array<std::string_view, 3> words = {"Unavailable", "Unassigned", "Error"};

}  // namespace

std::string_view to_string(NoCount reason) { return words.at(static_cast<size_t>(reason)); }

std::optional<CounterValue> parse_counter(std::string_view text) {
  text = trim(text);
  for (size_t i = 0; i < words.size(); i++)
    if (text == words.at(i)) return static_cast<NoCount>(i);
  if (const auto number = parse_unsigned<uint64_t>(text)) return *number;
  if (const auto number = parse_decimal(text)) return *number;
  return std::nullopt;
}

CounterKind kind_of_counter(std::string_view name) {
  using enum CounterKind::Unit;
  if (name == "llc_occupancy") return {bytes, false};
  if (name.ends_with("_bytes")) return {bytes};
  if (name == "core_energy") return {joules};
  if (name == "activity") return {farads};
  return {events};
}

}  // namespace rdtd
