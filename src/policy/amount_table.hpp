// AmountReader: the value of a resource's key, an amount or a table from domain to amount.
#pragma once

#include <cstdint>
#include <set>

#include "file_reader.hpp"
#include "id_list.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// One for a whole policy, since it bounds the number of domain ids in all tables together: a short
// text may list many.
class AmountReader {
 public:
  [[nodiscard]] AmountTable read(const FileReader& in, Resource resource, const toml::key& key,
                                 const toml::node& node);

 private:
  AmountTable read_domains(const FileReader& in, Resource resource, const toml::key& key,
                           const toml::table& table);
  std::optional<std::set<DomainId>> read_domain(const FileReader& in, const toml::key& domain,
                                                const toml::key& key, std::set<DomainId>& named);

  uint64_t ids_left_ = 1 << 18;
};

}  // namespace rdtd
