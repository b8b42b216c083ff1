// The groups' use of cache, bandwidth and everything else that the kernel counts, from two readings
// of its counters.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rdtd/model/counters.hpp"
#include "rdtd/resctrl/tree.hpp"

namespace rdtd {

struct Reading {
  std::chrono::steady_clock::time_point at;
  std::vector<DomainCounters> counters;
};

[[nodiscard]] Result<Reading> read_usage(const Tree& tree);

// Of one counter: now, or per second if it is cumulative.
struct Used {
  std::optional<double> amount;   // absent: not known
  std::optional<NoCount> reason;  // the kernel's, if it said so; of several domains, the first one
  bool missing = false;           // of some domain there is no amount
};

// Of one group, on one domain or on all of them.
struct Usage {
  std::string group;      // label; "GROUP/MON_GROUP" for a monitoring group
  std::string directory;  // of its files, below the root of resctrl
  std::optional<std::pair<std::string, DomainId>> domain;  // with its resource; absent: all
  std::map<std::string, Used> counters;

  [[nodiscard]] Used of(std::string_view counter) const;
};

enum class Domains { summed, apart };

// Rates from `before`, where the group was there already. Rows in the order of the later reading.
// Summed over domains, what some of them do not tell is missing in the sum.
[[nodiscard]] std::vector<Usage> usage_between(const Reading& before, const Reading& now,
                                               Domains domains);

// An amount of bytes as an integer. The sum of several may be more than one holds.
[[nodiscard]] uint64_t whole(double amount);
// "0" for a domain of L3, "sub_L3 1", "all".
[[nodiscard]] std::string domain_text(const Usage& usage);
// "4.5 MiB", "12.5 MiB/s", "30.2 W", the kernel's word for why there is no number, or "-". With a
// "+" behind it, it is the sum of some domains only.
[[nodiscard]] std::string used_text(std::string_view counter, const Used& used);

}  // namespace rdtd
