#include "rdtd/model/cbm.hpp"

#include "rdtd/base/text.hpp"
#include "rdtd/model/cpu_list.hpp"

#include <fmt/format.h>

namespace rdtd {

std::string to_string(Cbm cbm) { return fmt::format("{:x}", cbm.bits); }

std::optional<Cbm> parse_cbm(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  const auto bits = parse_unsigned<uint32_t>(text, 16);
  if (!bits) return std::nullopt;
  return Cbm{*bits};
}

Cbm longest_run(Cbm cbm) {
  Cbm longest;
  while (!cbm.empty()) {
    const unsigned first = cbm.lowest();
    const Cbm run = Cbm::range(first, static_cast<unsigned>(std::countr_one(cbm.bits >> first)));
    if (run.count() > longest.count()) longest = run;
    cbm = cbm.without(run);
  }
  return longest;
}

std::string way_list(Cbm cbm) {
  CpuSet ways;
  for (unsigned way = 0; way < 32; way++)
    if ((cbm.bits >> way & 1) != 0) ways.insert(way);
  return format_cpu_list(ways);
}

}  // namespace rdtd
