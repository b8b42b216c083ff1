// AmountReader: the value of a resource's key, an amount or a table from domain to amount.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "file_reader.hpp"
#include "id_list.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// The alternative for a group or partition that cannot have "remainder".
inline constexpr std::string_view instead_of_remainder = "write \"all\" for all available ways";

// One for a whole policy, since it bounds the number of domain ids in all tables together: a short
// text may list many.
class AmountReader {
 public:
  // The holder of the amounts: only the default group can have "remainder", only groups have
  // ranges.
  enum class Holder { default_group, group, other };
  // Of which resource; nothing for a control.
  using Of = std::optional<Resource>;
  [[nodiscard]] AmountTable read(const FileReader& in, Holder holder, const Of& resource,
                                 const toml::key& key, const toml::node& node);
  // The tables of control = { NAME = amount }.
  [[nodiscard]] ControlTables read_controls(const FileReader& in, const toml::key& key,
                                            const toml::node& node);

 private:
  AmountTable read_domains(const FileReader& in, Holder holder, const Of& resource,
                           const toml::key& key, const toml::table& table);
  // A key that lists domains, in the table of `key`.
  struct DomainKey {
    const toml::key& domain;
    const toml::key& key;
    Holder holder;
    const Of& resource;
    const toml::table& table;
  };
  std::optional<std::set<DomainId>> read_domain(const FileReader& in, const DomainKey& what,
                                                std::set<DomainId>& named);

  uint64_t ids_left_ = 1 << 18;
};

}  // namespace rdtd
