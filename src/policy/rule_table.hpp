// [[rule]]: one table as a value.
#pragma once

#include "file_reader.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// Each is a condition of its own, and a short text can name very many.
constexpr size_t most_vcpus_of_policy = size_t{1} << 16;

// Whether there is the group that it names is not checked. `vcpus_left`: of the policy's virtual
// CPUs; those of this rule are taken from it.
[[nodiscard]] Rule read_rule(const FileReader& in, const toml::table& table, size_t& vcpus_left);

}  // namespace rdtd
