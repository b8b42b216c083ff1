#include "rdtd/model/cbm.hpp"

#include <fmt/format.h>

#include "rdtd/base/text.hpp"

namespace rdtd {

std::string to_string(Cbm cbm) { return fmt::format("{:x}", cbm.bits); }

std::optional<Cbm> parse_cbm(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  const auto bits = parse_unsigned<uint32_t>(text, 16);
  if (!bits) return std::nullopt;
  return Cbm{*bits};
}

Cbm first_run(Cbm cbm) {
  if (cbm.empty()) return {};
  const unsigned first = cbm.lowest();
  return Cbm::range(first, static_cast<unsigned>(std::countr_one(cbm.bits >> first)));
}

Cbm longest_run(Cbm cbm) {
  Cbm longest;
  for (; !cbm.empty(); cbm = cbm.without(first_run(cbm)))
    if (const Cbm run = first_run(cbm); run.count() > longest.count()) longest = run;
  return longest;
}

std::optional<Cbm> lowest_run(Cbm free, unsigned count, Cbm required) {
  for (unsigned first = 0; uint64_t{first} + count <= 32; first++) {
    const Cbm run = Cbm::range(first, count);
    if (free.contains(run) && run.contains(required)) return run;
  }
  return std::nullopt;
}

Cbm lowest_ways(Cbm cbm, unsigned count) {
  Cbm out;
  for (; count > 0; count--) {
    const Cbm way = Cbm::range(cbm.lowest(), 1);
    out = out | way;
    cbm = cbm.without(way);
  }
  return out;
}

std::string way_list(Cbm cbm) {
  std::string out;
  for (; !cbm.empty(); cbm = cbm.without(first_run(cbm))) {
    const Cbm run = first_run(cbm);
    if (!out.empty()) out += ',';
    out += std::to_string(run.lowest());
    if (run.count() > 1) out += fmt::format("-{}", run.highest());
  }
  return out;
}

}  // namespace rdtd
