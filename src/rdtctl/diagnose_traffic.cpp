// The findings of doctor about the counters of memory traffic.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose_parts.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

using enum Finding::Kind;

std::vector<std::string> partly_counted(std::string_view config) {
  // Not all processors have all kinds.
  constexpr uint32_t reads = 0x3;  // of local memory, and of that of other nodes
  std::vector<std::string> out;
  for (const std::string_view entry : split(trim(config), ';')) {
    const size_t value = entry.find("=0x");
    if (value == std::string_view::npos) continue;
    const auto kinds = parse_unsigned<uint32_t>(entry.substr(value + 3), 16);
    if (kinds && (*kinds & reads) != reads) out.emplace_back(entry);
  }
  return out;
}

std::vector<std::string> filtered_reads(std::string_view filter) {
  std::vector<std::string> out;
  const auto kinds = split(trim(filter), ',');
  for (const std::string_view reads : {"local_reads", "remote_reads"})
    if (std::ranges::none_of(kinds, [&](std::string_view kind) { return trim(kind) == reads; }))
      out.emplace_back(reads);
  return out;
}

void check_counted_traffic(const MachineFacts& facts, std::vector<Finding>& out) {
  if (!facts.filtered_reads.empty())
    out.push_back(
        {warning,
         fmt::format("mbm_total_bytes does not count all reads: somebody has taken {} out of its "
                     "event_filter",
                     join(facts.filtered_reads, " and ")),
         fmt::format("write them, after what is there and with a comma between, to "
                     "{}/info/L3_MON/event_configs/mbm_total_bytes/event_filter: top, blame and "
                     "the guard expect that it counts all traffic",
                     facts.mount_point)});
  if (facts.partly_counted.empty()) return;
  std::vector<std::string> whole;
  for (const std::string& entry : facts.partly_counted)
    whole.push_back(entry.substr(0, entry.find('=')) + "=0x7f");
  out.push_back(
      {warning,
       fmt::format(
           "mbm_total_bytes does not count all reads of L3 domain{} {}: somebody has written "
           "to mbm_total_bytes_config",
           facts.partly_counted.size() == 1 ? "" : "s", join(facts.partly_counted, ", ")),
       fmt::format(
           "echo '{}' >{}/info/L3_MON/mbm_total_bytes_config, or what the kernel says is its "
           "maximum, makes it count all traffic, as top, blame and the guard expect",
           join(whole, ";"), facts.mount_point)});
}

}  // namespace rdtd
