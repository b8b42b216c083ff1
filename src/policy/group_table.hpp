// [group.NAME] and [partition.NAME]: one table as a value. How definitions of several files combine
// is the caller's business.
#pragma once

#include "amount_table.hpp"
#include "file_reader.hpp"
#include "group_cpus.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

struct GroupTable {
  Group group;  // with the places of CPUs, not yet their numbers
  GroupCpus cpus;
  Location exclusive_where;
};

struct PartitionTable {
  Partition partition;
  bool replaces = false;
};

// Whether [group.NAME] can have this key; if not, nor can [partition.NAME].
[[nodiscard]] bool is_group_key(const FileReader& in, std::string_view name);

// `in_lease`: it may amend a group of the files.
[[nodiscard]] GroupTable read_group(const FileReader& in, const toml::key& key,
                                    const toml::table& table, AmountReader& amounts, bool in_lease);
[[nodiscard]] PartitionTable read_partition(const FileReader& in, const toml::key& key,
                                            const toml::table& table, AmountReader& amounts);

}  // namespace rdtd
