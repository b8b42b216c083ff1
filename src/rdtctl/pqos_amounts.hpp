// The amounts of a class of service, as pqos(8) sets them: one after the other, the last one
// counts.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "rdtd/model/cpu_list.hpp"

namespace rdtd::pqos {

class Amounts {
 public:
  // For these domains; for all if there are none. `half`: "code", "data", or "" for all of a cache.
  // Returns the amounts of other lines that it replaces: "l3 = \"0xf\"".
  std::set<std::string> set(const std::string& key, const std::string& half, const CpuSet& domains,
                            const std::string& amount, unsigned line);

  // Whether one cannot be a percentage, so that the machine counts rates.
  [[nodiscard]] bool has_rates() const;
  // Percentages of `mb` become rates.
  void make_rates();
  // The lines of a group. `may_be_rates`: a percentage is followed by what it is on AMD.
  [[nodiscard]] std::string text(bool may_be_rates) const;

 private:
  struct Amount {
    std::string text;
    unsigned line = 1;
  };
  struct ByDomains {
    std::optional<Amount> others;  // of all domains that `named` does not have
    std::map<unsigned, Amount> named;
  };
  using Replaced = std::set<std::string>;
  static void set_own(ByDomains& of, const std::string& key, const CpuSet& domains,
                      const Amount& amount, Replaced& replaced);

  std::map<std::string, ByDomains> by_key_;
};

}  // namespace rdtd::pqos
