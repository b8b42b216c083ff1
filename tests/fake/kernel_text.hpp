// How the kernel reads numbers and CPU lists, and writes CPU masks.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "rdtd/model/cpu_list.hpp"

namespace rdtd::fake {

// strim(): without white space at both ends.
[[nodiscard]] std::string_view strim(std::string_view text);
// kstrtoull(): one '+', "0x" with base 16, one line break at the end. Base 0 takes 10, 0x10, 010.
[[nodiscard]] std::optional<uint64_t> parse_number(std::string_view text, int base);
// kstrtoint() with base 0.
[[nodiscard]] std::optional<int> parse_int(std::string_view text);
// cpulist_parse() and cpumask_parse() for CPUs 0 ... count - 1. The error is errno.
[[nodiscard]] std::expected<CpuSet, int> parse_cpulist(std::string_view text, unsigned count);
[[nodiscard]] std::expected<CpuSet, int> parse_cpumask(std::string_view text, unsigned count);
// "%*pb": "0003", "ffffffff,00000000".
[[nodiscard]] std::string format_cpumask(const CpuSet& cpus, unsigned count);

}  // namespace rdtd::fake
