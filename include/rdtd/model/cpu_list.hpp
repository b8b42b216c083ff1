// CpuSet: CPU numbers, written as the kernel's lists: "0-3,8"
// (Documentation/admin-guide/kernel-parameters.rst, cpu lists), and as its masks.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace rdtd {

using CpuSet = std::set<unsigned>;

// Numbers to 65535.
constexpr size_t cpu_numbers = size_t{1} << 16;

// Numbers and ranges with commas between them; the empty text is the empty set. Nothing for more
// than `most` CPUs, which costs no time then: a short text can name very many.
[[nodiscard]] std::optional<CpuSet> parse_cpu_list(std::string_view text,
                                                   size_t most = cpu_numbers);
// The same with exceptions, which count too, as libvirt has them: "0-3,^2" is 0-1,3.
[[nodiscard]] std::optional<CpuSet> parse_cpu_list_with_exceptions(std::string_view text,
                                                                   size_t most = cpu_numbers);
[[nodiscard]] std::string format_cpu_list(const CpuSet& cpus);
// Hexadecimal words of 32 CPUs, the highest first: "1,0000000f".
[[nodiscard]] std::string format_cpu_mask(const CpuSet& cpus);
// Those that are in both, and those of `a` that are not in `b`.
[[nodiscard]] CpuSet common(const CpuSet& a, const CpuSet& b);
[[nodiscard]] CpuSet without(const CpuSet& a, const CpuSet& b);
// For people: "none" if it is empty.
[[nodiscard]] std::string cpus_text(const CpuSet& cpus);

}  // namespace rdtd
