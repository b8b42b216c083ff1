// [pseudo_lock.NAME]: one table as a value.
#pragma once

#include "amount_table.hpp"
#include "file_reader.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

struct LockTable {
  PseudoLock lock;
  bool complete = false;  // it has the line for one domain of one cache
  bool replaces = false;  // override = true
};

[[nodiscard]] LockTable read_lock(const FileReader& in, const toml::key& key,
                                  const toml::table& table, AmountReader& amounts);

}  // namespace rdtd
