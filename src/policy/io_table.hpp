// [io]: the table as a value.
#pragma once

#include "amount_table.hpp"
#include "file_reader.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

struct IoTable {
  Group io;
  bool complete = false;  // it has an amount
  bool replaces = false;  // override = true
};

[[nodiscard]] IoTable read_io(const FileReader& in, const toml::key& key, const toml::table& table,
                              AmountReader& amounts);

}  // namespace rdtd
